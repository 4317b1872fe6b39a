"""Import a name from where the derived platform has it, under the name and with the keywords that it has there.

    -from vllm.forward_context import BatchDescriptor, set_forward_context
    +from vllm.forward_context import BatchDescriptor
    +from vllm_ascend.ascend_forward_context import set_ascend_forward_context
     ...
    -with set_forward_context(attn, config, cudagraph_runtime_mode=mode):
    +with set_ascend_forward_context(attn, config, aclgraph_runtime_mode=mode):

Leaves alone: a name defined here or imported from elsewhere (``current_omni_platform.set_forward_context``), strings
(``hasattr(module, "…")``) and comments, the keyword on every other call, other names of the same module, and positional
arguments.
Why: what the platform has in the place of vLLM's sets and reads fields of its own, and rejects vLLM's keyword; an
``isinstance`` against vLLM's class would silently be false. The profile gives the reason for each name.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.job import Doubt, Job, NodeEdit
from runner_sync.transforms.keywords import rename_keywords
from runner_sync.transforms.renames import rename_imported


def rewrite(job: Job) -> Iterator[NodeEdit | Doubt]:
    """Yield edits of imports, uses and keywords for all rows of the profile except those that `class_names` applies."""
    shared = job.profile.shared_names
    rows = [row for row in job.profile.names if row not in shared]
    yield from rename_imported(job, rows)
    yield from rename_keywords(job, rows)
