"""What a call leaves out and gets another default for, where the overridden method passes it now (RS326)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, world

RUNNER = """\
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def pad(self, tokens, {takes}):
        return tokens
    def execute(self, rows):
        self.pad(rows{passes})
"""
OWN = "def execute(self, rows):\n    self.pad(rows)\n    self.more()\ndef more(self): ..."
OLD = ("limit=None, *, compiled=True", "")
NOW = ("limit=None, *, compiled=False", ", compiled=True")


def told(now: tuple[str, str] = NOW, was: tuple[str, str] = OLD, own: str = OWN) -> list[str]:
    new, old = (world(npu=npu(own), ascend=RUNNER.format(takes=takes, passes=passes)) for takes, passes in (now, was))
    return [finding.symbol for finding in find(new, old) if finding.code == "RS326"]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(NOW, ["pad(compiled)"], id="a keyword"),
        pytest.param(("limit=8, *, compiled=True", ", None"), ["pad(limit)"], id="a positional parameter"),
        pytest.param(("limit=None, *, compiled=False", ", compiled=self.on"), ["pad(compiled)"], id="another value"),
        pytest.param(("limit=None, *, compiled=False", ""), [], id="upstream takes the new default, too"),
        pytest.param(("limit=None, *, compiled=False", ", compiled=False"), [], id="upstream passes the new default"),
        pytest.param(("limit=None, *, compiled=True", ", compiled=True"), [], id="the same default"),
        pytest.param(("limit=None, *, compiled", ", compiled=True"), [], id="required now"),
        pytest.param(("limit=None", ""), [], id="gone"),
    ],
)
def test_another_default(now: tuple[str, str], expected: list[str]) -> None:
    assert told(now) == expected


@pytest.mark.parametrize(
    "own",
    [
        pytest.param("def execute(self, rows):\n    self.pad(rows, compiled=True)", id="passed here"),
        pytest.param("def execute(self, rows, **options):\n    self.pad(rows, **options)", id="it may be among others"),
        pytest.param("def run(self, rows):\n    self.pad(rows)", id="nothing is hidden"),
        pytest.param(
            "def execute(self, rows):\n    try:\n        self.pad(rows)\n    except TypeError:\n        pass",
            id="a failure is expected",
        ),
    ],
)
def test_a_call_that_needs_nothing(own: str) -> None:
    assert told(own=own) == []


def test_what_upstream_passed_before_says_nothing_new() -> None:
    assert told(was=("limit=None, *, compiled=True", ", compiled=True")) == []


def test_without_the_old_trees_nobody_knows() -> None:
    trees = world(npu=npu(OWN), ascend=RUNNER.format(takes=NOW[0], passes=NOW[1]))
    assert [finding for finding in find(trees) if finding.code == "RS326"] == []
