"""An upgrade says when omni's shared code is written for another vLLM than the runners are to run on."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import ASCEND, ASCEND_NEW, Trees, commit, lay_out, stay_at_home

from runner_sync import sync


@pytest.mark.parametrize(
    ("version", "is_ascend_new", "is_told"),
    [
        pytest.param("0.19.0", True, True, id="an earlier one"),
        pytest.param("0.20.1", True, False, id="the same but for the patch"),
        pytest.param("0.19.0", False, False, id="nothing is upgraded"),
    ],
)
def test_the_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_ascend_new: bool, is_told: bool
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {"PKG-INFO": f"Metadata-Version: 2.1\nName: vllm-omni\nVersion: {version}\n"})
    commit(trees.omni)
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: ASCEND_NEW[ASCEND]} if is_ascend_new else {})
    commit(trees.ascend_old)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    assert bool(planned.changes) == is_ascend_new
    told = [note for note in planned.report.notes if note.startswith("this vllm-omni is for vLLM")]
    assert bool(told) == is_told
    assert all("for vLLM 0.19.0, and these runners run on 0.20.0" in note for note in told)
