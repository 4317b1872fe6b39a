"""What vllm-ascend imports otherwise than before, in omni's copy and its imports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, ASCEND_OLD, Trees, check_upgrade, commit, dedent, lay_out
from sync_samples import stay_at_home as without_network

METHOD = """
    def _encode(self, total):
        rows = step(total, LIMIT)
        self._update_states(rows)
        self._finish(rows, LIMIT)
        return self.model(rows)
"""
NAMED = "from vllm_ascend.tools import LIMIT, step\n"
THROUGH = "import vllm_ascend.tools as tools\n"
OWN = "        self.kept = step(rows, 1)\n        return"
AR_TEXT = """\
{}
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):{}"""


def through_module(method: str) -> str:
    return method.replace("step(", "tools.step(").replace("LIMIT", "tools.LIMIT")


def drop(method: str) -> str:
    """The method without a statement that omni took out."""
    return re.sub(r" +self\._finish.*\n", "", method)


@pytest.mark.parametrize(
    ("before", "now"), [(NAMED, THROUGH), (THROUGH, NAMED)], ids=["through its module now", "by its name now"]
)
def test_a_copy_and_its_imports_take_upstreams_form(
    before: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_network(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    old, new = ((NAMED, METHOD) if form == NAMED else (THROUGH, through_module(METHOD)) for form in (before, now))
    own = OWN if now == THROUGH else OWN.replace("step", "tools.step")
    lay_out(trees.omni, {AR: AR_TEXT.format(old[0], drop(old[1]).replace("        return", own))})
    commit(trees.omni)
    ascend = dedent(ASCEND_OLD[ASCEND])
    tools = "LIMIT = 4\n\n\ndef step(rows, limit):\n    return rows[:limit]\n"
    lay_out(trees.ascend_old, {ASCEND: old[0] + ascend + old[1], "vllm_ascend/tools.py": tools})
    commit(trees.ascend_old)
    changed = new[1].replace("self.model(rows)", "self.model(rows, total)")
    lay_out(trees.ascend_old, {ASCEND: new[0] + ascend + changed})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, ascend_base="HEAD~1"))
    after = next(change.after or "" for change in result.changes if change.path == AR)
    expected = drop(changed).replace("        return", OWN.replace("step", "tools.step") if now == THROUGH else OWN)
    assert after == AR_TEXT.format(new[0], expected)
    assert [item.reason for item in result.report.reviews if item.path == AR] == []
