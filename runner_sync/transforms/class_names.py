"""Name the NPU twin where a GPU runner or worker is named, and take from it what the GPU twin shares.

    -from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner
    +from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner
    -from vllm_omni.worker.gpu_ar_model_runner import ExecuteModelState
    +from vllm_omni.platforms.npu.worker.npu_ar_model_runner import ExecuteModelState
     ...
    -class GPUARModelRunner(OmniGPUModelRunner):
    +class NPUARModelRunner(OmniNPUModelRunner):

Leaves alone: vLLM's ``GPUModelRunner`` and ``AsyncGPUModelRunnerOutput`` (NPU code uses the latter as it is), a class
of the same name in a module that is no twin, docstrings.
Why: the ported statement must reach the NPU class; the GPU one would run CUDA code under an NPU name.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.naming import module_name
from runner_sync.profile import NameRewrite, Profile
from runner_sync.transforms.job import Doubt, Job, NodeEdit
from runner_sync.transforms.keywords import rename_keywords
from runner_sync.transforms.renames import rename_imported


def iter_twin_rows(profile: Profile, *, module: str) -> Iterator[NameRewrite]:
    """Yield one row for each path of each twin, newest first; without a known ``module`` also for local classes."""
    pairs = dict(profile.classes)
    for runner in profile.modules:
        gpu = runner.gpu
        if gpu is None or pairs.get(gpu.name) != runner.name:
            continue
        for path in runner.paths:
            yield from (NameRewrite(gpu.name, module_name(old), runner.name, module_name(path)) for old in gpu.places)
            if not module:
                yield NameRewrite(gpu.name, "", runner.name, module_name(path))


def rewrite(job: Job) -> Iterator[NodeEdit | Doubt]:
    """Yield edits of imports, base classes, annotations, calls and their keywords, and the definitions themselves."""
    rows = (*iter_twin_rows(job.profile, module=job.code.module), *job.profile.shared_names)
    yield from rename_imported(job, rows, definitions=True)
    yield from rename_keywords(job, rows, definitions=True)
