"""GPU code that the NPU runners inherit: an upgrade leaves it, and says where it does not fit the target trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_AR, GPU_BASE, Trees, stay_at_home
from verify_samples import NPU, npu, world

from runner_sync import sync
from runner_sync.verify import breakage

GPU = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"
READS = "    def prepare_rows(self):\n        return self.seq_lens.np, self.gone\n"

INHERITED = {
    "a method that the NPU class inherits": (READS, "pass", ["gone", "seq_lens"]),
    "a method that the NPU class hides": (READS, "def prepare_rows(self):\n    return 1", []),
    "and calls": (READS, "def prepare_rows(self):\n    return super().prepare_rows()", ["gone", "seq_lens"]),
    "an attribute that only the NPU class sets": (
        READS,
        "def start(self, rows):\n    self.gone = 1\n    self.seq_lens = rows",
        [],
    ),
    "asked for first": (
        "    def prepare_rows(self):\n        return self.gone if hasattr(self, 'gone') else None\n",
        "pass",
        [],
    ),
    "what the target has": ("    def prepare_rows(self):\n        return self.seq_lens[:1], self.sp\n", "pass", []),
    "a class that no NPU class has in its MRO": (
        "    pass\nclass GPUARModelRunner(OmniGPUModelRunner):\n" + READS,
        "pass",
        [],
    ),
}


@pytest.mark.parametrize("name", INHERITED)
def test_what_runs_on_npu_is_asked_for_its_attributes(name: str) -> None:
    gpu, body, expected = INHERITED[name]
    trees = world(npu=npu(body), gpu=GPU + gpu)
    assert sorted({finding.symbol for finding in breakage.find_inherited(trees, [NPU])}) == expected
    assert breakage.find(trees, None, [NPU]) == []


def test_an_upgrade_says_what_it_does_not_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    options = trees.upgrade(trees.ascend_new)
    assert not [note for note in sync.upgrade(options).report.notes if "inherit GPU code" in note]
    trees.edit(GPU_BASE, "self.talker_total = total", "self.talker_total = total + self.gone + self.gone")
    trees.edit(GPU_AR, "self.model.prefer_model_sampler", "self.never_on_npu")
    report = sync.upgrade(options).report
    (told,) = [note for note in report.notes if "inherit GPU code" in note]
    assert told.endswith(
        f" target trees: {GPU_BASE} OmniGPUModelRunner._forward (gone). Bring the GPU runners to this vLLM first."
    )
    assert "gone" not in {finding.symbol for finding in report.findings}
