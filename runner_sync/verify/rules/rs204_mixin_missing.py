"""RS204 mixin-missing: the GPU runner has an omni mixin among its bases that the NPU runner's MRO lacks.

What: a base class of the GPU twin that omni defines, that is not in the MRO of the NPU class, and that has no NPU twin.

Example:

    from vllm_omni.worker.omni_connector_model_runner_mixin import OmniConnectorModelRunnerMixin

    class GPUARModelRunner(OmniGPUModelRunner, OmniConnectorModelRunnerMixin): ...
    class NPUARModelRunner(OmniNPUModelRunner): ...

Why: from omni 0.20.0 to 0.25.0rc1 the NPU runners lacked `OmniConnectorModelRunnerMixin`. Stages exchange their chunks
through it; without it a pipeline of stages hangs without any error.

Fix: add the mixin behind the NPU base, and call what its `__init__` counterpart needs (`init_omni_connectors`).

Leaves alone: bases of vLLM and vllm-ascend, classes with an NPU twin, mixins that any class of the NPU MRO brings.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.listing import at_most
from runner_sync.model import Severity
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, find_mentions, find_whole_pairs
from runner_sync.verify.runners.reading import Hit, Reading

CODE = "RS204"
NAME = "mixin-missing"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per mixin, at the NPU class."""
    twins = {gpu for gpu, _ in subject.profile.classes}
    for pair in find_whole_pairs(subject):
        for base in pair.gpu.bases:
            names = _resolve_names(subject, pair.gpu.reading, base)
            known = [name in twins or _has_in_mro(subject, pair, name) for name in names]
            if not any(known) and _is_from_omni(subject, pair, base):
                yield _make_hit(pair, names[0], _find_users(pair))


def _has_in_mro(subject: Subject, pair: Pair, name: str) -> bool:
    """Whether the MRO of the NPU class has a class of that name, whatever its modules call it."""
    classes = pair.npu_mro.classes
    bases = ((c.reading, base) for c in classes for base in c.bases)
    return any(c.name == name for c in classes) or any(name in _resolve_names(subject, *one) for one in bases)


def _resolve_names(subject: Subject, reading: Reading, base: str) -> list[str]:
    """Return the name by which a base is defined, or the names by which it may be imported.

    ``OmniConn`` of ``from a import Conn as OmniConn`` resolves to ``Conn``.
    """
    found = subject.library.find_class(reading, base)
    if found is not None:
        return [found.name]
    origins = [origin.name for origin in reading.imports.get(base, ()) if origin.name]
    return origins or [base.rpartition(".")[2]]


def _is_from_omni(subject: Subject, pair: Pair, base: str) -> bool:
    reading = pair.gpu.reading
    origins = reading.imports.get(base.split(".")[0], [])
    package = subject.profile.package
    return base in reading.classes or any(origin.module.split(".")[0] == package for origin in origins)


def _find_users(pair: Pair) -> list[str]:
    """Return the GPU methods that use what a missing mixin brings."""
    last = [functions[-1] for functions in pair.gpu.methods.values()]
    return [function.name for function in last if not pair.missing_members.isdisjoint(find_mentions([function]))]


def _make_hit(pair: Pair, name: str, users: list[str]) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    used = f", which {at_most(3, [f'`{one}`' for one in users])} use{'s' * (len(users) == 1)}" if users else ""
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.node,
        symbol=name,
        message=f"`{gpu.name}` mixes in `{name}`{used}, but the MRO of `{npu.name}` has none; what it provides is "
        "silently missing on NPU.",
        fix=f"`runner-sync upgrade --only '{npu.name}*'` mixes it in and ports what `{gpu.name}` does with it.",
        also=((gpu.reading.path, gpu.node.lineno, gpu.node.body[0].lineno - 1),),
    )
