"""An upgrade of an NPU runner with one method, a copy of vllm-ascend's, beside a GPU twin and vLLM."""

from __future__ import annotations

from sync_samples import AR, ASCEND, GPU_AR, VLLM

from runner_sync.profile import NPU
from runner_sync.upgrade.job import GpuTwin, Hierarchy, ModuleJob, ModuleResult, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

MODULE = next(module for module in NPU.modules if module.name == "NPUARModelRunner")


def port_step(
    npu: str, ascend: str | tuple[str, str], *, vllm: tuple[str, str], twin: tuple[str, str], hierarchy: Hierarchy
) -> ModuleResult:
    """The upgrade of a runner with one method; ``vllm``, ``twin`` and a pair ``ascend`` have it before and now."""
    then, now = (ModuleRevision(str(k), f"class GPUModelRunner:\n{text}", VLLM) for k, text in enumerate(vllm, 1))
    old, new = (ModuleRevision(str(k), f"class GPUARModelRunner:\n{text}", GPU_AR) for k, text in enumerate(twin, 1))
    texts = (ascend,) if isinstance(ascend, str) else ascend
    upstream = [ModuleRevision(str(k), f"class NPUModelRunner:\n{text}", ASCEND) for k, text in enumerate(texts, 1)]
    job = ModuleJob(
        NPU,
        MODULE,
        AR,
        f"class NPUARModelRunner:\n{npu}",
        Upstream(new=upstream[-1], is_followed=True, bases=tuple(upstream[:1])),
        GpuTwin(new=new, bases=(GpuBase(old, lambda: then),), load_vllm=lambda: now),
        hierarchy=hierarchy,
    )
    return upgrade_module(job)
