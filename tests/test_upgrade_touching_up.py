"""A method of omni's own that shares some statements with its namesake: what is shown of what changed in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, ASCEND_NEW, Trees, check_upgrade, commit, lay_out, stay_at_home

from runner_sync.model import ReviewItem

SHARED = "logits, hidden = self._forward(total)"
OWN = f"""\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def execute_model(self, scheduler_output):
        total = self.stage.rows(scheduler_output)
        self.stage.begin(total)
        # What the model says.
        {SHARED}
        payload = self.stage.payload(hidden)
        for row in payload:
            self.stage.send(row)
        self.stage.end(logits)
        self.note(payload)
        return self.stage.output(payload)
"""


def touched(folder: Path, monkeypatch: pytest.MonkeyPatch, own: str) -> tuple[str, list[ReviewItem]]:
    """The module when vllm-ascend's ``_forward`` has come to return three values, and the questions about it."""
    stay_at_home(monkeypatch, folder)
    trees = Trees(folder)
    lay_out(trees.omni, {AR: own})
    commit(trees.omni)
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, ASCEND_NEW)
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    text = next((change.after or "" for change in result.changes if change.path == AR), own)
    return text, [item for item in result.report.reviews if item.unit == "NPUARModelRunner.execute_model"]


def test_only_the_statement_that_was_brought_up_to_date_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, (item,) = touched(tmp_path, monkeypatch, OWN)
    new = SHARED.replace("hidden", "hidden, aux")
    assert (item.base, item.omni, item.upstream, item.chosen) == (SHARED, SHARED, new, new)
    assert text.split("\n")[item.line - 1].strip() == new
    assert item.end_line == item.line


def test_a_method_that_shares_nothing_that_changed_is_no_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = OWN.replace(SHARED, "logits, hidden = self.stage.run(total)")
    assert touched(tmp_path, monkeypatch, own) == (own, [])
