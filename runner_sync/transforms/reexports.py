"""Import what vLLM's GPU runner only passes on from where it is defined.

    -from vllm.v1.worker.gpu_model_runner import EMPTY_MODEL_RUNNER_OUTPUT, AsyncGPUModelRunnerOutput
    +from vllm.v1.worker.gpu_model_runner import AsyncGPUModelRunnerOutput
    +from vllm.v1.outputs import EMPTY_MODEL_RUNNER_OUTPUT

Leaves alone: what vLLM's runner defines itself (``AsyncGPUModelRunnerOutput``, ``PerLayerAttnMetadata``), uses.
Why: NPU runners import these from their own modules in every release; two spellings of one import would be two imports.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported

NAMES = ("IntermediateTensors", "EMPTY_MODEL_RUNNER_OUTPUT")


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits of the imports."""
    return rename_imported(job, job.profile.rows(NAMES))
