"""RS501 hoist: the same method stands in the GPU and in the NPU runner, and nothing in it is about the device.

What: a method or function of the GPU twin and its namesake on NPU that are equal once GPU names are translated, use no
device, and whose globals mean the same in both modules.

Example: `_request_final_stage_id` stands word by word in `GPUARModelRunner` and in `NPUARModelRunner`.

Why: each release changes one of the two; 35 of the 156 recorded breakages began as equal methods.

Fix: move it to the shared base (`OmniGPUModelRunner`) or a mixin that both mix in; a function is imported.

Leaves alone: methods of fewer than three statements, `__init__`, methods that name a device or a graph wrapper, methods
whose globals are translated differently or that read `__class__`, `__name__` or `__file__`, a sampler hook that skips
the platform's own sampling (RS206), and near-duplicates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.profile import Profile
from runner_sync.syntax import Function, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.duplication import has_same_globals, is_equal_translated
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import is_device_bound, translate_to_npu
from runner_sync.verify.runners.reading import Reading

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
            yield _make_hit(npu, function, gpu, gpu.functions[name], f"Import `{name}` instead of repeating it.")
    for gpu_class, npu_class in subject.twins:
        for name, functions in npu_class.methods.items():
            twin = gpu_class.methods.get(name, [None])[-1]
            if twin is not None and name != "__init__" and _is_shared(subject, functions[-1], gpu, twin):
                fix = f"runner-sync hoist {npu_class.name}.{name}"
                yield _make_hit(npu, functions[-1], gpu, twin, fix)


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


def _make_hit(npu: Reading, function: Function, gpu: Reading, twin: Function, fix: str) -> Hit:
    return npu.hit(
        (CODE, SEVERITY),
        function,
        symbol=function.name,
        message=f"`{npu.unit_at(function.lineno)}` equals `{gpu.unit_at(twin.lineno)}` ({gpu.path}:{twin.lineno}) and "
        "has nothing to do with the device.",
        fix=fix,
        also=(gpu.span_of(twin), npu.span_of(function)),
    )
