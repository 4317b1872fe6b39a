"""The built-in profile of omni's GPU runners, which are copied from vLLM's own.

Goes out: one ``Profile``. May touch: nothing.
Names were read from the releases vllm-omni 0.11.0rc1 … 0.32.0rc1 and vLLM 0.11.0 … 0.33.0.
"""

from __future__ import annotations

from runner_sync.profile.paths import OMNI_FOLDERS, VLLM_RUNNER, VLLM_WORKER
from runner_sync.profile.platform import Anchor, Profile, RunnerModule

_RUNNER = Anchor("vllm", VLLM_RUNNER, "GPUModelRunner", VLLM_RUNNER)
_WORKER = Anchor("vllm", VLLM_WORKER, "Worker", VLLM_WORKER, "Worker")


def _module(stem: str, name: str, upstream: Anchor) -> RunnerModule:
    return RunnerModule((f"vllm_omni/worker/{stem}.py",), name, (upstream,))


GPU = Profile(
    name="vllm-omni-gpu",
    package="vllm_omni",
    platform="GPU",
    lock_file="runner-sync-gpu.lock",
    modules=(
        _module("gpu_model_runner", "OmniGPUModelRunner", _RUNNER),
        _module("gpu_ar_model_runner", "GPUARModelRunner", _RUNNER),
        _module("gpu_generation_model_runner", "GPUGenerationModelRunner", _RUNNER),
        _module("gpu_ar_worker", "GPUARWorker", _WORKER),
        _module("gpu_generation_worker", "GPUGenerationWorker", _WORKER),
        _module("base", "OmniGPUWorkerBase", _WORKER),
    ),
    names=(),
    keywords=(),
    attributes=(),
    classes=(),
    device=("cuda", "cuda"),
    handovers=("ExecuteModelState",),
    surroundings=(*OMNI_FOLDERS, "vllm/v1"),
)
