"""RS304 names what upstream has in the place of a member that it dropped, where its own statements show that."""

from __future__ import annotations

import pytest
from verify_samples import ascend, find, npu, world

OLD = """\
def __init__(self, config):
    self.use_cp = config.size > 1
def run(self, rows):
    if self.use_cp and rows:
        rows = self.split(rows, self.use_cp)
    return rows
"""
READ = npu("def m(self, rows):\n    return rows if self.use_cp else None\n")


def advice(new: str) -> str:
    """The fix of the one finding about ``use_cp`` in a runner that reads it still."""
    found = find(world(npu=READ, ascend=ascend(new)), world(npu=READ, ascend=ascend(OLD)))
    (one,) = (finding for finding in found if finding.symbol == "use_cp")
    return one.fix


def test_a_member_that_got_another_name() -> None:
    fix = advice(OLD.replace("use_cp", "use_dcp"))
    assert fix.startswith("Write `use_dcp`, which vllm_ascend/runner.py:")
    assert "has in its place in 3 lines; else follow" in fix


def test_other_members_that_got_other_names_in_the_same_lines() -> None:
    renamed = OLD.replace("use_cp", "use_dcp").replace("config.size", "config.dcp_size").replace("split", "split_rows")
    assert advice(renamed).startswith("Write `use_dcp`, ")


NONE = {
    "it went": OLD.replace("    self.use_cp = config.size > 1\n", "    pass\n").replace("self.use_cp and ", "")
    .replace(", self.use_cp", ""),
    "another member in a statement of its own": "def __init__(self, config):\n    self.use_dcp = config.size > 1\n"
    "def run(self, rows):\n    return self.gathered(rows, by=self.use_dcp)\n",
    "two names in its place": OLD.replace("self.use_cp =", "self.use_dcp =").replace("if self.use_cp", "if self.use_p")
    .replace(", self.use_cp", ", self.use_tp"),
    "a name that nobody defines": OLD.replace("    self.use_cp = config.size > 1\n", "    pass\n")
    .replace("use_cp", "use_dcp"),
    "a name that was there before": OLD.replace("use_cp", "run"),
}  # fmt: skip


@pytest.mark.parametrize("name", NONE)
def test_a_member_without_a_successor(name: str) -> None:
    assert advice(NONE[name]).startswith("Follow what the target uses in place of `use_cp`")
