"""A block of vllm-ascend's that somebody took out of the copy: the GPU runner does not bring it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import (
    ASCEND,
    ASCEND_NEW,
    ASCEND_OLD,
    BASE,
    GPU_BASE,
    OMNI_TREE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    stay_at_home,
)

BLOCK = """\
        if scheduler_output.speculates:
            rows = scheduler_output.rows.copy()
            scheduler_output = scheduler_output.with_rows(rows=rows)
"""
START = "            self._update_states(scheduler_output)\n"
REASON = "left out: the method that this is a copy of has this block, and the NPU side took it out"


def with_block(text: str, block: str = BLOCK, start: str = START) -> str:
    return dedent(text).replace(dedent_once(start), f"{block}{dedent_once(start)}")


def dedent_once(line: str) -> str:
    return line.removeprefix("    ")


def port(folder: Path, monkeypatch: pytest.MonkeyPatch, *, ascend: str, npu: str, gpu: str) -> tuple[str, list[str]]:
    """The NPU base module after an upgrade in which its GPU twin gains ``gpu``, and the questions.

    The copy of ``execute_model`` has the block ``npu``, and vllm-ascend's method has ``ascend``, also at the lock.
    """
    stay_at_home(monkeypatch, folder)
    trees = Trees(folder)
    execute = dedent(OMNI_TREE[BASE]).partition("    def execute_model")[2].replace("OmniNPU", "OmniGPU")
    twin = f"{dedent(OMNI_TREE[GPU_BASE])}\n    def execute_model{execute}"
    lay_out(trees.omni, {BASE: with_block(OMNI_TREE[BASE], npu), GPU_BASE: twin})
    commit(trees.omni)
    lay_out(trees.ascend_old, {ASCEND: with_block(ASCEND_OLD[ASCEND], ascend)})
    commit(trees.ascend_old)
    trees.write_lock()
    commit(trees.omni, "Lock")
    more = f"{gpu}        scheduler_output.log()\n"
    lay_out(trees.omni, {GPU_BASE: with_block(twin, more)})
    commit(trees.omni)
    lay_out(trees.ascend_old, {ASCEND: with_block(ASCEND_NEW[ASCEND], ascend)})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, verify=False))
    text = next(change.after or "" for change in result.changes if change.path == BASE)
    return text, [item.reason for item in result.report.reviews]


@pytest.mark.parametrize(
    ("ascend", "npu", "gpu", "comes"),
    [
        pytest.param(BLOCK, "", BLOCK, False, id="it was taken out"),
        pytest.param("", "", BLOCK, True, id="vllm-ascend never had it"),
        pytest.param(BLOCK, "", BLOCK.replace("rows=rows", "rows=rows, more=1"), True, id="it does more"),
        pytest.param(BLOCK, "        rows = scheduler_output.rows.copy()\n", BLOCK, True, id="NPU has a part of it"),
    ],
)
def test_a_block_that_was_taken_out_of_the_copy_stays_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ascend: str, npu: str, gpu: str, *, comes: bool
) -> None:
    text, questions = port(tmp_path, monkeypatch, ascend=ascend, npu=npu, gpu=gpu)
    assert ("if scheduler_output.speculates:" in text, REASON in questions) == (comes, not comes)
    assert "scheduler_output.log()" in text
