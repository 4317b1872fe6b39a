"""Lets copies of methods that vllm-ascend removed follow the GPU twin, because both platforms then run vLLM's version.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts of such copies with the twin's text merged in
and a question each. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync import merge
from runner_sync.confidence import CONTESTED
from runner_sync.model import Triple
from runner_sync.texts.member_text import is_same
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide, mentions_device
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review


def follow_twin(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Merge the GPU twin into copies of methods that vllm-ascend removed, unless the twin has device code."""
    return [_follow(draft, job, side) if draft.chosen else draft for draft in drafts]


def _follow(draft: Draft, job: ModuleJob, side: GpuSide) -> Draft:
    """Merge the twin's text into a copy of a removed method; returns any other draft unchanged."""
    if draft.kind != "copy" or draft.upstream is not None or draft.base is None or draft.removed:
        return draft
    twin, inherited = side.new.get(draft.name), job.hierarchy.of(draft.owner).vllm
    base = find_base_text(draft, job)
    if twin is None or base is None or draft.member not in inherited:
        return draft
    if not is_same(twin, side.as_written[draft.name][1]) or mentions_device(twin, job.profile):
        return draft
    result = merge.merge(Triple(base, draft.text, twin), policy=merge.settle_for(merge.FOLLOW, "omni"))
    if not result.parses:
        return draft
    if result.text != draft.text:
        removed = f"{job.upstream_title} removed its own version of this method"
        reason = f"{removed}, so the copy follows the GPU runner's version now"
        shown = Shown(base=base, omni=draft.before, upstream=twin, chosen=result.text)
        item = make_review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, from_gpu=True)
        draft = replace(draft, reviews=(item,)).with_stage(result.text, "gpu")
    return replace(draft, kind="own")
