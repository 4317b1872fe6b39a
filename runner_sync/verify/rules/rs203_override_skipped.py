"""RS203 override-skipped: a GPU runner overrides a method, and the NPU runner runs the parent's instead.

What: a method of the GPU twin that overrides vLLM's or omni's shared method, and that the NPU class neither defines nor
inherits: its MRO (`NPUARModelRunner → OmniNPUModelRunner → OmniGPUModelRunner → NPUModelRunner`) never passes through
`GPUARModelRunner`.

Example: `GPUARModelRunner._sample` asks a `prefer_model_sampler` model for its own sampler. `NPUARModelRunner` had no
`_sample`, so vllm-ascend's ran.

Why: nothing crashes. In omni 0.20.0 and 0.21.0rc1 such models sampled freely on NPU, and a stage that waited for a
forced tag never got it. 14 of the 156 recorded breakages are a GPU method that NPU lacks.

Fix: `runner-sync upgrade --only CLASS.METHOD` ports the override, or says what prevents that; or move it to the shared
base. Where NPU lacks it on purpose, write `# runner-sync: ignore[RS203:METHOD] reason` above the class; without
`:METHOD` the comment covers every method, also future ones.

Leaves alone: methods that override no omni method and do not call `super()` (they replace vLLM's for the GPU, and
vllm-ascend has its own), methods that an NPU class or a shared mixin in the MRO defines, NPU classes with an omni base
that cannot be followed, overrides that cannot run on the NPU (streams, pinned host memory, Triton) or all of whose code
stands in a context that cannot (`with self.pool():` of the CUDA allocator). An override of the
NPU base replaces one of the GPU subclass as long as it mentions every method that the GPU override calls; an override
that equals what NPU runs skips nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.statements.parents import parents_called
from runner_sync.syntax import Function, is_string, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.duplication import are_equal
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, find_whole_pairs, is_device_bound
from runner_sync.verify.runners.reading import ClassText, dotted

CODE = "RS203"
NAME = "override-skipped"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per method, at the NPU class."""
    for pair in find_whole_pairs(subject):
        for name, functions in pair.gpu.methods.items():
            replacement = _describe_replacement(subject, pair, name, functions[-1])
            if replacement and not _needs_gpu(subject, pair, functions[-1]):
                fix = _describe_remedy(subject, pair, name)
                yield _make_hit(pair, name, functions[-1], replacement, fix=fix)


def _needs_gpu(subject: Subject, pair: Pair, function: Function) -> bool:
    """Whether an override is device-bound, or all of its code stands in a context that a device-bound helper makes."""
    if is_device_bound(pair.gpu.reading.text_of(function), subject.profile):
        return True
    match [one for one in function.body if not is_string(one)]:
        case [ast.With(items=[ast.withitem(context_expr=ast.Call(func=made))])]:
            return dotted(made).removeprefix("self.") in pair.bound_names
    return False


def _describe_replacement(subject: Subject, pair: Pair, name: str, function: Function) -> str:
    """Describe what NPU runs instead of the GPU override; empty when NPU runs that or its own, or needs none."""
    found = pair.npu_mro.find(name)
    if found is pair.gpu or found is pair.npu or pair.npu_mro.assigns(name):
        return ""
    calls_super = f".{name}(" in pair.gpu.reading.text_of(function) and bool(parents_called(function, name))
    if found is None:
        if not calls_super:
            return ""
        last = _find_absent_parent(pair, name)
        if last is not None:
            return f"runs none of omni's: `{last.name}` is not in its MRO either"
        return f"runs the inherited `{name}`{_name_upstream(subject, name)}"
    if found in pair.gpu_mro.classes and are_equal(pair.gpu.reading, function, found.reading, found.methods[name][-1]):
        return ""
    if found in pair.gpu_mro.classes or (calls_super and _is_mere_twin(subject, pair, found, function)):
        return f"runs `{found.name}.{name}`"
    return ""


def _name_upstream(subject: Subject, name: str) -> str:
    """Name the upstream whose ``name`` an NPU class inherits; empty without the module of vllm-ascend.

    vllm-ascend inherits from vLLM what its module does not define.
    """
    if subject.upstream is None:
        return ""
    known = subject.upstream.classes.values()
    return " of vLLM" if known and not any(name in c.methods for c in known) else " of vllm-ascend"


def _find_absent_parent(pair: Pair, name: str) -> ClassText | None:
    """Return the omni class at which the override's ``super()`` chain ends, if the NPU class has no omni ``name``.

    ``None`` as well when the chain goes on to vLLM: NPU gets that method from vllm-ascend or vLLM.
    """
    last = pair.gpu_mro.find(name, after=pair.gpu) if pair.npu_mro.find(name) is None else None
    while last is not None and parents_called(last.methods[name][-1], name):
        last = pair.gpu_mro.find(name, after=last)
    return last


def _is_mere_twin(subject: Subject, pair: Pair, found: ClassText, function: Function) -> bool:
    """Whether ``found`` is the NPU twin of a parent of the GPU class and lacks what the override adds.

    It lacks that when NPU code does not mention every method of ``self`` that the override calls.
    """
    twins = {npu: gpu for gpu, npu in subject.profile.classes}
    if twins.get(found.name) not in {c.name for c in pair.gpu_mro.classes if c is not pair.gpu}:
        return False
    calls = [dotted(node.func).split(".") for node in walk(function) if isinstance(node, ast.Call)]
    called = [parts[1] for parts in calls if parts[0] == "self" and len(parts) == 2]
    return any(name not in pair.npu_mentions for name in called)


def _describe_remedy(subject: Subject, pair: Pair, name: str) -> str:
    """Give the command that ports the override and, first, its absent parent where NPU has a class for it.

    The ignore comment is offered as well, because a difference on purpose needs no port.
    """
    parent = _find_absent_parent(pair, name)
    twin = dict(subject.profile.classes).get(parent.name) if parent is not None else None
    names = [f"{twin}.{name}"] if twin is not None else []
    command = f"runner-sync upgrade {' '.join(f'--only {one}' for one in [*names, f'{pair.npu.name}.{name}'])}"
    before = ""
    if parent is not None and twin is None:
        place = f"{parent.reading.path}:{parent.methods[name][-1].lineno}"
        before = f"Give an NPU base a `{name}` such as `{parent.name}` has ({place}); then "
    return (
        f"{before}`{command}` ports it, or says what keeps it out; where NPU does without it on purpose, "
        f"`# runner-sync: ignore[{CODE}:{name}] reason` above the class."
    )


def _make_hit(pair: Pair, name: str, function: Function, replacement: str, *, fix: str) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.node,
        symbol=name,
        message=f"`{gpu.name}.{name}` ({gpu.reading.path}:{function.lineno}) overrides what runs on GPU, but "
        f"`{npu.name}` {replacement}.",
        fix=fix,
        also=(gpu.reading.span_of(function),),
    )
