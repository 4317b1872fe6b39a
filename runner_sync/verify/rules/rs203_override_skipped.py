"""RS203 override-skipped: a GPU runner overrides a method, and the NPU runner runs the parent's instead.

What: a method of the GPU twin that overrides vLLM's or omni's shared one, where the NPU class neither defines nor
inherits it: its MRO (`NPUARModelRunner → OmniNPUModelRunner → OmniGPUModelRunner → NPUModelRunner`) never passes
through `GPUARModelRunner`.

Example: `GPUARModelRunner._sample` asks a `prefer_model_sampler` model for its own sampler. `NPUARModelRunner` had no
`_sample`, so vllm-ascend's ran.

Why: nothing crashes. In omni 0.20.0 and 0.21.0rc1 such models sampled freely on NPU, and a stage that waited for a
forced tag never got it. 14 of the 156 recorded breakages are a GPU method that NPU lacks.

Fix: `runner-sync upgrade --only CLASS.METHOD` ports the override, or says what keeps it out; or move it to the shared
base. `# runner-sync: ignore[RS203:METHOD] reason` above the class where NPU does without it on purpose; without
`:METHOD` it goes for every method, also those to come.

Leaves alone: methods that override nothing of omni's and do not call `super()` (they replace vLLM's for the GPU, and
vllm-ascend has its own), what an NPU class or a shared mixin in the MRO defines, NPU classes with a base of omni's that
cannot be followed, overrides that cannot run on the NPU (streams, pinned host memory, Triton). An override of the NPU
base stands in for one of the GPU subclass as long as it mentions every method that the GPU one calls; an override that
equals what NPU runs skips nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import walk
from runner_sync.verify.runners.ancestry import calls_parent
from runner_sync.verify.runners.duplication import are_equal
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, is_device_bound, whole_pairs
from runner_sync.verify.runners.reading import ClassText, Function, Hit, dotted

CODE = "RS203"
NAME = "override-skipped"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per method, at the NPU class."""
    for pair in whole_pairs(subject):
        for name, functions in pair.gpu.methods.items():
            instead = _instead(subject, pair, name, functions[-1])
            if instead and not is_device_bound(pair.gpu.reading.text_of(functions[-1]), subject.profile):
                fix = _remedy(subject, pair, name)
                yield _hit(pair, name, functions[-1], instead, fix=fix)


def _instead(subject: Subject, pair: Pair, name: str, function: Function) -> str:
    """What NPU runs in place of the GPU override, ``""`` when it runs that or its own, or needs none."""
    found = pair.npu_mro.find(name)
    if found is pair.gpu or found is pair.npu or pair.npu_mro.assigns(name):
        return ""
    hands_on = f".{name}(" in pair.gpu.reading.text_of(function) and calls_parent(function, name)
    if found is None:
        if not hands_on:
            return ""
        last = _absent_parent(pair, name)
        if last is not None:
            return f"runs none of omni's: `{last.name}` is not in its MRO either"
        return f"runs the inherited `{name}`{_upstream_of(subject, name)}"
    if found in pair.gpu_mro.classes and are_equal(pair.gpu.reading, function, found.reading, found.methods[name][-1]):
        return ""
    if found in pair.gpu_mro.classes or (hands_on and _is_twin_of_parent(subject, pair, found, function)):
        return f"runs `{found.name}.{name}`"
    return ""


def _upstream_of(subject: Subject, name: str) -> str:
    """Whose ``name`` an NPU class inherits: what the module of vllm-ascend at hand does not define, it inherits too.
    Without that module nobody knows."""
    if subject.upstream is None:
        return ""
    known = subject.upstream.classes.values()
    return " of vLLM" if known and not any(name in c.methods for c in known) else " of vllm-ascend"


def _absent_parent(pair: Pair, name: str) -> ClassText | None:
    """The omni class at which what the GPU override hands on to ends, when the NPU class has no ``name`` of omni's.

    ``None`` as well when it goes on to vLLM's: that, NPU has from vllm-ascend or vLLM.
    """
    last = pair.gpu_mro.find(name, after=pair.gpu) if pair.npu_mro.find(name) is None else None
    while last is not None and calls_parent(last.methods[name][-1], name):
        last = pair.gpu_mro.find(name, after=last)
    return last


def _is_twin_of_parent(subject: Subject, pair: Pair, found: ClassText, function: Function) -> bool:
    """Whether ``found`` is only the NPU counterpart of a parent of the GPU class, and NPU code lacks what the override
    adds: it does not mention every method of ``self`` that the override calls."""
    twins = {npu: gpu for gpu, npu in subject.profile.classes}
    if twins.get(found.name) not in {c.name for c in pair.gpu_mro.classes if c is not pair.gpu}:
        return False
    calls = [dotted(node.func).split(".") for node in walk(function) if isinstance(node, ast.Call)]
    own = [parts[1] for parts in calls if parts[0] == "self" and len(parts) == 2]
    return any(name not in pair.npu_mentions for name in own)


def _remedy(subject: Subject, pair: Pair, name: str) -> str:
    """The command that ports the override, with what it hands on to first where NPU has a class for that; and what to
    write where NPU is meant to do without it, for then the command ports nothing."""
    first = _absent_parent(pair, name)
    twin = dict(subject.profile.classes).get(first.name) if first is not None else None
    names = [f"{twin}.{name}"] if twin is not None else []
    command = f"runner-sync upgrade {' '.join(f'--only {one}' for one in [*names, f'{pair.npu.name}.{name}'])}"
    before = ""
    if first is not None and twin is None:
        place = f"{first.reading.path}:{first.methods[name][-1].lineno}"
        before = f"Give an NPU base a `{name}` such as `{first.name}` has ({place}); then "
    return (
        f"{before}`{command}` ports it, or says what keeps it out; where NPU does without it on purpose, "
        f"`# runner-sync: ignore[{CODE}:{name}] reason` above the class."
    )


def _hit(pair: Pair, name: str, function: Function, instead: str, *, fix: str) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.node,
        symbol=name,
        message=f"`{gpu.name}.{name}` ({gpu.reading.path}:{function.lineno}) overrides what runs on GPU, but "
        f"`{npu.name}` {instead}.",
        fix=fix,
        also=(gpu.reading.span_of(function),),
    )
