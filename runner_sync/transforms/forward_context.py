"""Enter the Ascend forward context instead of vLLM's, with the keyword it knows.

    -from vllm.forward_context import BatchDescriptor, set_forward_context
    +from vllm.forward_context import BatchDescriptor
    +from vllm_ascend.ascend_forward_context import set_ascend_forward_context
     ...
    -with set_forward_context(attn, config, cudagraph_runtime_mode=mode):
    +with set_ascend_forward_context(attn, config, aclgraph_runtime_mode=mode):

Leaves alone: ``current_omni_platform.set_forward_context`` (the platform hook keeps vLLM's keyword), every other call
with a ``cudagraph_runtime_mode`` keyword, variables of that name, ``get_forward_context`` and ``BatchDescriptor``.
Why: vllm-ascend's kernels read NPU fields that only its own context sets, and it rejects vLLM's keyword.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.job import Doubt, Job, NodeEdit
from runner_sync.transforms.keywords import rename_keywords
from runner_sync.transforms.renames import rename_imported

NAMES = ("set_forward_context",)


def rewrite(job: Job) -> Iterator[NodeEdit | Doubt]:
    """Edits of the import, the calls and their runtime-mode keyword."""
    rows = job.profile.rows(NAMES)
    yield from rename_imported(job, rows)
    yield from rename_keywords(job, rows)
