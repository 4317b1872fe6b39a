"""Use Ascend's persistent input batch instead of vLLM's.

    -from vllm.v1.worker.gpu_input_batch import CachedRequestState, InputBatch
    +from vllm.v1.worker.gpu_input_batch import CachedRequestState
    +from vllm_ascend.worker.npu_input_batch import NPUInputBatch
     ...
    -self.input_batch = InputBatch(max_num_reqs=self.max_num_reqs)
    +self.input_batch = NPUInputBatch(max_num_reqs=self.max_num_reqs)

Leaves alone: ``CachedRequestState`` (NPU code takes vLLM's), the arguments, ``input_batch`` attributes.
Why: Ascend's batch owns NPU block tables; vLLM's would allocate CUDA ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported

NAMES = ("InputBatch",)


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits that put Ascend's input batch in place of vLLM's."""
    return rename_imported(job, job.profile.rows(NAMES))
