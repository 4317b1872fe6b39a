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

from runner_sync.model import Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.mixins import Mixin, find_missing_mixins, find_own_members
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, find_whole_pairs

CODE = "RS204"
NAME = "mixin-missing"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per mixin, at the NPU class."""
    for pair in find_whole_pairs(subject):
        for mixin in find_missing_mixins(subject, pair):
            yield _make_hit(pair, mixin.name, _find_users(pair, mixin))


def _find_users(pair: Pair, mixin: Mixin) -> list[str]:
    """Return the GPU methods that use what only a mixin brings."""
    last = [functions[-1] for functions in pair.gpu.methods.values()]
    return [function.name for function in last if not mixin.members.isdisjoint(find_own_members(function))]


def _make_hit(pair: Pair, name: str, users: list[str]) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    # All of them, because other rules say nothing of what these methods do with the mixin.
    named = ", ".join(f"`{one}`" for one in users)
    used = f", which {named} use{'s' * (len(users) == 1)}" if users else ""
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.node,
        symbol=name,
        message=f"`{gpu.name}` mixes in `{name}`{used}, but the MRO of `{npu.name}` has none; what it provides is "
        "silently missing on NPU.",
        fix=f"`runner-sync upgrade --gpu-only --only '{npu.name}*'` mixes it in and ports what `{gpu.name}` does with "
        "it.",
        also=((gpu.reading.path, gpu.node.lineno, gpu.node.body[0].lineno - 1),),
    )
