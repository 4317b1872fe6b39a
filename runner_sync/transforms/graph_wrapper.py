"""Replace vLLM's CUDA graph wrappers by the ACL graph wrappers.

    -from vllm.compilation.cuda_graph import CUDAGraphWrapper
    +from vllm_ascend.compilation.acl_graph import ACLGraphWrapper
     ...
    -if not isinstance(self.talker_mtp, CUDAGraphWrapper):
    +if not isinstance(self.talker_mtp, ACLGraphWrapper):

Leaves alone: a class of that name defined or imported elsewhere, ``hasattr(module, "CUDAGraphWrapper")`` and other
strings, ``CUDAGraphStat`` and ``CUDAGraphMode`` (NPU code keeps those), comments.
Why: only the ACL wrapper captures NPU graphs; an ``isinstance`` against the CUDA one is silently always false.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported

NAMES = ("CUDAGraphWrapper", "BreakableCUDAGraphWrapper")


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits that put the ACL graph wrappers in place of the CUDA ones."""
    return rename_imported(job, job.profile.rows(NAMES))
