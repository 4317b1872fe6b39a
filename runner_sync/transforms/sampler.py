"""Use Ascend's sampler instead of vLLM's.

    -from vllm.v1.sample.sampler import Sampler
    +from vllm_ascend.sample.sampler import AscendSampler
     ...
    -self.sampler = Sampler(logprobs_mode=self.model_config.logprobs_mode)
    +self.sampler = AscendSampler(logprobs_mode=self.model_config.logprobs_mode)

Leaves alone: ``Sampler`` of another module, ``SamplerOutput``, ``RejectionSampler``, the arguments.
Why: Ascend's sampler picks NPU kernels for top-k and top-p.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported

NAMES = ("Sampler",)


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits that put Ascend's sampler in place of vLLM's."""
    return rename_imported(job, job.profile.rows(NAMES))
