"""The built-in profiles of omni's GPU runners, which are copied from vLLM's model runner, and from its second one
("V2") since omni 0.30.

Goes out: two ``Profile``s. May touch: nothing. Names were read from the releases vllm-omni 0.11.0rc1 … 0.32.0rc1 and
vLLM 0.11.0 … 0.33.0.
"""

from __future__ import annotations

from dataclasses import replace

from runner_sync.profile.paths import OMNI_FOLDERS, VLLM_RUNNER, VLLM_RUNNER_V2, VLLM_WORKER
from runner_sync.profile.platform import Anchor, Profile, RunnerModule

_RUNNER = Anchor("vllm", VLLM_RUNNER, "GPUModelRunner", VLLM_RUNNER)
_RUNNER_V2 = Anchor("vllm", VLLM_RUNNER_V2, "GPUModelRunner", VLLM_RUNNER_V2)
_WORKER = Anchor("vllm", VLLM_WORKER, "Worker", VLLM_WORKER, "Worker")


def _make_module(path: str, name: str, upstream: Anchor) -> RunnerModule:
    return RunnerModule((f"vllm_omni/{path}.py",), name, (upstream,))


GPU = Profile(
    name="vllm-omni-gpu",
    package="vllm_omni",
    platform="GPU",
    lock_file="runner-sync-gpu.lock",
    modules=(
        _make_module("worker/gpu_model_runner", "OmniGPUModelRunner", _RUNNER),
        _make_module("worker/gpu_ar_model_runner", "GPUARModelRunner", _RUNNER),
        _make_module("worker/gpu_generation_model_runner", "GPUGenerationModelRunner", _RUNNER),
        _make_module("worker/gpu_ar_worker", "GPUARWorker", _WORKER),
        _make_module("worker/gpu_generation_worker", "GPUGenerationWorker", _WORKER),
        _make_module("worker/base", "OmniGPUWorkerBase", _WORKER),
    ),
    names=(),
    keywords=(),
    attributes=(),
    classes=(),
    device=("cuda", "cuda"),
    handovers=("ExecuteModelState",),
    surroundings=(*OMNI_FOLDERS, "vllm/v1"),
)

GPU_V2 = replace(
    GPU,
    name="vllm-omni-gpu-v2",
    platform="GPU V2",
    lock_file="runner-sync-gpu-v2.lock",
    modules=(
        _make_module("worker_v2/omni_model_runner", "OmniGPUModelRunner", _RUNNER_V2),
        _make_module("worker_v2/omni_ar_model_runner", "OmniARModelRunner", _RUNNER_V2),
        _make_module("worker_v2/omni_generation_model_runner", "OmniGenerationModelRunner", _RUNNER_V2),
    ),
    surroundings=("vllm_omni/worker_v2", "vllm/v1"),
)
