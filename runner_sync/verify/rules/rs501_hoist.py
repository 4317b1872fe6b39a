"""RS501 hoist: the same method stands in the GPU and in the NPU runner, and nothing in it is about the device.

What: a method or function of the GPU twin and its namesake on NPU that are equal once GPU names are translated, use no
device, and whose globals mean the same in both modules.

Example: `_request_final_stage_id` stands word by word in `GPUARModelRunner` and in `NPUARModelRunner`.

Why: each release changes one of the two; 35 of the 156 recorded breakages began as equal methods.

Fix: move it to the shared base (`OmniGPUModelRunner`) or a mixin that both mix in; a function is imported. Where only
the GPU class has the method from a mixin, mix that in and delete NPU's own.

Leaves alone: methods of fewer than three statements, `__init__`, methods that name a device or a graph wrapper, methods
whose globals are translated differently or that read `__class__`, `__name__` or `__file__`, a sampler hook that skips
the platform's own sampling (RS206), methods that the NPU class would inherit without its own (RS103), and
near-duplicates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.profile import Profile
from runner_sync.syntax import Function, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.ancestry import find_writer
from runner_sync.verify.runners.duplication import has_same_globals, is_equal_translated, is_inherited
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import is_device_bound, translate_to_npu
from runner_sync.verify.runners.reading import ClassText, Reading

CODE = "RS501"
NAME = "hoist"
SEVERITY: Severity = "info"

STATEMENTS = 3
"""Up to this number of statements, the ``def`` counted, sharing a method is not worth reporting."""


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per method or function."""
    npu, gpu = subject.npu, subject.gpu
    if gpu is None:
        return
    for name, function in npu.functions.items():
        if name in gpu.functions and _is_shared(subject, function, gpu, gpu.functions[name]):
            equal = f"`{name}` ({gpu.path}:{gpu.functions[name].lineno})"
            yield _make_hit(
                npu, function, gpu, gpu.functions[name], (equal, f"Import `{name}` instead of repeating it.")
            )
    for gpu_class, npu_class in subject.twins:
        for name, functions in npu_class.methods.items():
            twin = gpu_class.methods.get(name, [None])[-1]
            if twin is None or name == "__init__" or not _is_shared(subject, functions[-1], gpu, twin):
                continue
            if not is_inherited(subject.library, npu_class, functions[-1]):
                yield _make_hit(npu, functions[-1], gpu, twin, _describe(subject, gpu_class, npu_class, twin))


def _is_shared(subject: Subject, function: Function, gpu: Reading, twin: Function) -> bool:
    profile, npu = subject.profile, subject.npu
    if not is_equal_translated(npu, function, gpu, twin, profile=profile):
        return False
    if sum(isinstance(node, ast.stmt) for node in walk(function)) <= STATEMENTS:
        return False
    if _names_device(gpu.text_of(twin), profile) or _names_device(npu.text_of(function), profile):
        return False
    if _skips_platform_sampler(npu.text_of(function), profile):
        return False
    return has_same_globals(npu, function, gpu)


def _names_device(text: str, profile: Profile) -> bool:
    words = [f"torch.{device}" for device in profile.device]
    translated = translate_to_npu(text, profile)
    return translated != text or is_device_bound(text, profile) or any(word in text for word in words)


def _skips_platform_sampler(text: str, profile: Profile) -> bool:
    """Whether a model's sampler hook calls the sampler itself: RS206 asks for vllm-ascend's own sampling there."""
    hook = profile.sampler_hook
    return hook.flag in text and f"{hook.sampler}(" in text


def _describe(subject: Subject, gpu: ClassText, npu: ClassText, twin: Function) -> tuple[str, str]:
    """Return what the method equals, and the fix. A method that the GPU class only inherits is shared by its owner."""
    name, owner = twin.name, find_writer(subject.library, gpu, twin.name)
    if owner is gpu:
        return f"`{gpu.name}.{name}` ({gpu.reading.path}:{twin.lineno})", f"runner-sync hoist {npu.name}.{name}"
    found = owner.methods[name][-1]
    if owner.name in dict(subject.profile.classes):
        fix = f"Move it to a mixin of `{owner.name}` and `{npu.name}`."
    else:
        fix = f"Mix `{owner.name}` into `{npu.name}`, too, and delete `{name}` there."
    return f"`{owner.name}.{name}` ({owner.reading.path}:{found.lineno}), which `{gpu.name}` inherits,", fix


def _make_hit(npu: Reading, function: Function, gpu: Reading, twin: Function, said: tuple[str, str]) -> Hit:
    equal, fix = said
    return npu.hit(
        (CODE, SEVERITY),
        function,
        symbol=function.name,
        message=f"`{npu.unit_at(function.lineno)}` equals {equal} and has nothing to do with the device.",
        fix=fix,
        also=(gpu.span_of(twin), npu.span_of(function)),
    )
