"""Helper classes that the NPU module has under a name with the platform's word in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, dedent, port_of
from verify_samples import TextTree

from runner_sync.model import Source
from runner_sync.profile import NPU
from runner_sync.sync.trees.namesakes import add_namesakes

# What the GPU module and the NPU module define, and which NPU names are those of GPU classes.
CLASSES = {
    "the word in front": (["_CopyBatch"], ["_NPUCopyBatch"], {"_CopyBatch": "_NPUCopyBatch"}),
    "the word inside": (["_AsyncOutput"], ["_AsyncNPUOutput"], {"_AsyncOutput": "_AsyncNPUOutput"}),
    "no word": (["_CopyBatch"], ["_OtherBatch"], {}),
    "nobody else has it": ([], ["_NPUCopyBatch"], {}),
    "both modules have it": (["_CopyBatch", "_NPUCopyBatch"], ["_NPUCopyBatch"], {}),
    "NPU has it, too": (["_CopyBatch"], ["_CopyBatch", "_NPUCopyBatch"], {}),
    "the profile says what it is": (["GPUARModelRunner"], ["NPUARModelRunner"], {}),
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes_that_differ_in_the_word(name: str) -> None:
    gpu, npu, expected = CLASSES[name]
    texts = {path: "".join(f"class {c}:\n    pass\n" for c in names) for path, names in ((GPU_AR, gpu), (AR, npu))}
    fitted = add_namesakes(NPU, TextTree(Source("vllm-omni", "path", "."), texts))
    assert {row.name: row.new_name for row in fitted.names[len(NPU.names) :]} == expected
    assert fitted.npu_name("_CopyBatch.wait") == f"{expected.get('_CopyBatch', '_CopyBatch')}.wait"
    assert fitted.gpu_name(fitted.npu_name("_AsyncOutput")) == "_AsyncOutput"


GPU = """\
class _CopyBatch:
    def wait(self):
        self.event.synchronize()


class GPUARModelRunner(OmniGPUModelRunner):
    def _finish(self, logits, total):
        batch = _CopyBatch(total)
        return super()._finish(logits, total)
"""


def test_its_news_reach_the_npu_class_and_its_name_is_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npu = GPU.replace("_CopyBatch", "_NPUCopyBatch").replace("GPU", "NPU").replace("_NNPU", "_NPU")
    now = GPU.replace("self.event.synchronize()", "self.event.synchronize()\n        self.event.query()")
    now = now.replace("return super", "batch.wait()\n        spare = _CopyBatch(1)\n        return super")
    text, asked = port_of(tmp_path, monkeypatch, dedent(npu), dedent(GPU), dedent(now))
    assert "class _NPUCopyBatch:" in text
    assert "self.event.query()" in text
    assert "spare = _NPUCopyBatch(1)" in text
    assert "ported from the GPU runner" in asked
