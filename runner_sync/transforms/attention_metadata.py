"""Build Ascend's common attention metadata instead of vLLM's.

    -from vllm.v1.attention.backend import CommonAttentionMetadata
    +from vllm_ascend.attention.utils import AscendCommonAttentionMetadata
     ...
    -cm_base = CommonAttentionMetadata(query_start_loc=query_start_loc, seq_lens=seq_lens)
    +cm_base = AscendCommonAttentionMetadata(query_start_loc=query_start_loc, seq_lens=seq_lens)

Leaves alone: the arguments (Ascend's class takes more, such as ``attn_state``), ``PerLayerAttnMetadata`` and
``AttentionMetadata``, which NPU code shares with vLLM.
Why: Ascend's builders read fields that vLLM's class does not have.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported

NAMES = ("CommonAttentionMetadata",)


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits that put Ascend's metadata class in place of vLLM's."""
    return rename_imported(job, job.profile.rows(NAMES))
