"""Capture graphs inside vllm-ascend's ``graph_capture`` context.

    -from vllm.distributed.parallel_state import get_pp_group, graph_capture
    +from vllm.distributed.parallel_state import get_pp_group
    +from vllm_ascend.worker.model_runner_v1 import graph_capture

Leaves alone: the calls (the name is the same on both sides), the other names of ``parallel_state``, a
``graph_capture`` of another module.
Why: vLLM's context captures on a CUDA stream and calls into its custom all-reduce.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported

NAMES = ("graph_capture",)


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits that import the context manager from vllm-ascend."""
    return rename_imported(job, job.profile.rows(NAMES))
