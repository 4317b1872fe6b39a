"""RS203 override-skipped: a GPU runner overrides a method, and the NPU runner runs the parent's instead.

What: a method of the GPU twin that overrides vLLM's or omni's shared one, where the NPU class neither defines nor
inherits it: its MRO (`NPUARModelRunner → OmniNPUModelRunner → OmniGPUModelRunner → NPUModelRunner`) never passes
through `GPUARModelRunner`.

Example: `GPUARModelRunner._sample` asks a `prefer_model_sampler` model for its own sampler. `NPUARModelRunner` had no
`_sample`, so vllm-ascend's ran.

Why: nothing crashes. In omni 0.20.0 and 0.21.0rc1 such models sampled freely on NPU, and a stage that waited for a
forced tag never got it. 14 of the 156 recorded breakages are a GPU method that NPU lacks.

Fix: port the override (`runner-sync upgrade --only CLASS.METHOD`), or move it to the shared base.

Leaves alone: methods that override nothing (RS202 sees who calls them), what a shared mixin or an NPU class in the MRO
defines, overrides that cannot run on the NPU (streams, pinned host memory, Triton), and, without vLLM's text, methods
that do not call `super()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.verify.ancestry import calls_parent
from runner_sync.verify.job import Subject
from runner_sync.verify.parity import Pair, is_device_bound, pairs
from runner_sync.verify.reading import Function, Hit, Reading

CODE = "RS203"
NAME = "override-skipped"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per method, at the NPU class."""
    for pair in pairs(subject):
        for name, functions in pair.gpu.methods.items():
            if not _is_on_path(pair, name):
                instead = _instead(subject, pair, name, functions[-1])
                if instead and not is_device_bound(pair.gpu.reading.text_of(functions[-1]), subject.profile):
                    yield _hit(pair, name, functions[-1], instead)


def _is_on_path(pair: Pair, name: str) -> bool:
    """Whether the NPU class runs the GPU override itself or something of the NPU's own."""
    found = pair.npu_line.find(name)
    if found is None:
        return False
    return found is pair.gpu or found not in pair.gpu_line.classes


def _instead(subject: Subject, pair: Pair, name: str, function: Function) -> str:
    """What runs on NPU in its place, ``""`` when the GPU method overrides nothing."""
    shared = pair.npu_line.find(name)
    if shared is not None:
        return f"`{shared.name}.{name}`"
    for reading, project in ((subject.upstream, "vllm-ascend"), (subject.vllm, "vLLM")):
        owner = _class_with(reading, name)
        if owner:
            return f"{project}'s `{owner}.{name}`"
    return f"the inherited `{name}` of vllm-ascend" if calls_parent(function, name) else ""


def _class_with(reading: Reading | None, name: str) -> str:
    if reading is None:
        return ""
    return next((c.name for c in reading.classes.values() if name in c.methods and not name.startswith("__")), "")


def _hit(pair: Pair, name: str, function: Function, instead: str) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.node,
        symbol=name,
        message=f"`{gpu.name}.{name}` ({gpu.reading.path}:{function.lineno}) overrides what runs on GPU, but "
        f"`{npu.name}` has no `{name}`, so {instead} runs on NPU.",
        fix=f"runner-sync upgrade --only {npu.name}.{name}",
        also=(gpu.reading.span_of(function),),
    )
