"""A call that upstream newly makes in a copy is asked about where it reaches an override of omni's."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import ASCEND, ASCEND_OLD, BASE, Trees, check_upgrade, commit, lay_out, stay_at_home

FORWARD = "logits, hidden = self._forward(total)"
PLAIN = "logits, hidden = self._plain(total)"
SAMPLE = "logits, hidden = self._sample(total)"
METHOD = "        def _plain(self, total):\n            return total, total\n\n"
ASKED = "vllm-ascend now calls _forward here, and omni overrides _forward: does omni's version fit this call?"


def reasons(folder: Path, *, was: str, now: str, own: str = "", beside: str = "") -> list[str]:
    """What is asked about the copy of `execute_model`, whose forward call vllm-ascend has changed.

    omni has ``own`` for that call (by default what vllm-ascend had) and ``beside`` in front of it.
    """
    trees = Trees(folder)
    trees.edit(BASE, f"        {FORWARD}\n", f"        {beside}{own or was}\n")
    commit(trees.omni)
    text = ASCEND_OLD[ASCEND].replace("        def _sample", f"{METHOD}        def _sample", 1)
    for call in (was, now):
        lay_out(trees.ascend_old, {ASCEND: text.replace(FORWARD, call)})
        commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    return [item.reason for item in result.report.reviews if "omni overrides" in item.reason]


@pytest.mark.parametrize(
    ("was", "now", "own", "beside", "asked"),
    [
        pytest.param(PLAIN, FORWARD, "", "", [ASKED], id="a method that the GPU base overrides"),
        pytest.param(PLAIN, SAMPLE, "", "", [], id="a method that only upstream has here"),
        pytest.param(PLAIN, FORWARD, FORWARD, "", [], id="omni calls it already"),
        pytest.param(PLAIN, FORWARD, "", "self._forward(0)\n        ", [], id="omni calls it elsewhere in the copy"),
        pytest.param(FORWARD, FORWARD.replace("total)", "total + 1)"), "", "", [], id="upstream called it before"),
        pytest.param(FORWARD, PLAIN, "", "", [], id="upstream calls it no more"),
    ],
)
def test_a_call_that_reaches_an_override_of_omnis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: str, now: str, own: str, beside: str, asked: list[str]
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    assert reasons(tmp_path, was=was, now=now, own=own, beside=beside) == asked
