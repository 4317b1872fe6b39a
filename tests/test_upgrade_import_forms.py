"""What vllm-ascend imports otherwise than before, in omni's copy and its imports."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType

import pytest
from sync_samples import AR, ASCEND, ASCEND_OLD, Trees, check_upgrade, commit, dedent, lay_out
from sync_samples import stay_at_home as without_network

from runner_sync.errors import InputError
from runner_sync.upgrade.import_forms import spell_as_upstream

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


def calls_to_respell(count: int) -> int:
    """How many functions are called to respell all units of a module of ``count`` units."""
    units = [f"def encode_{k}(rows):\n    total = sum(rows)\n    return step(total, {k})\n" for k in range(count)]
    module, upstream = NAMED + "\n\n".join(units), THROUGH + through_module("\n\n".join(units))
    found = 0

    def see(_frame: FrameType, event: str, _: object) -> None:
        nonlocal found
        found += event == "call"

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        for unit in units:
            respelled = spell_as_upstream(unit, module, upstream=through_module(unit), upstream_module=upstream)
            assert "tools.step(" in respelled
    finally:
        sys.setprofile(before)
    return found


def test_a_module_is_read_once_for_all_its_units() -> None:
    """With a walk over the module for each unit, an upgrade of the real runners took more than twice the time."""
    once, twice = calls_to_respell(30), calls_to_respell(60)
    assert once > 1000
    assert twice < 2.7 * once


def test_upstream_code_that_does_not_compile_is_refused_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the compiler refuses a parameter that is there twice, not the parser."""
    without_network(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {AR: AR_TEXT.format(NAMED, METHOD.replace("        return", OWN))})
    commit(trees.omni)
    ascend = NAMED + dedent(ASCEND_OLD[ASCEND]) + METHOD
    lay_out(trees.ascend_old, {ASCEND: ascend})
    commit(trees.ascend_old)
    changed = ascend.replace("self.model(rows)", "more.end(rows)") + "\n\ndef twice(row, row):\n    pass\n"
    lay_out(trees.ascend_old, {ASCEND: "import vllm_ascend.more as more\n" + changed})
    commit(trees.ascend_old)
    with pytest.raises(InputError, match=rf"^{re.escape(ASCEND)} is no valid Python \(duplicate argument 'row'"):
        check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, ascend_base="HEAD~1"))
