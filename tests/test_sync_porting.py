"""``--only`` on members that NPU does not have: what it names, with what that calls, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, Trees, lay_out, stay_at_home

from runner_sync.sync import upgrade

GPU_TEXT = """\
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner


class GPUARModelRunner(OmniGPUModelRunner):
    def _update_states(self, scheduler_output):
        super()._update_states(scheduler_output)
        self.rows = scheduler_output.rows

    def _history(self):
        return self.input_batch.history

    def _sample(self, logits):
        if self.model.prefer_model_sampler:
            return self.model.sample(logits, self._history())
        return super()._sample(logits)
"""


def test_only_ports_the_member_with_what_it_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the GPU class the member follows another one that is to be ported and was not asked for."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {GPU_AR: GPU_TEXT})
    result = upgrade(trees.upgrade(trees.ascend_new, only=("NPUARModelRunner._sample",), verify=False))
    text = next(change.after for change in result.changes if change.path == AR) or ""
    assert "def _sample(" in text
    assert "def _history(" in text
    assert "def _update_states(" not in text
