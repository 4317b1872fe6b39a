"""Restores passages of earlier GPU revisions that an NPU unit still follows.

Comes in: a draft, its ``ModuleJob`` and the GPU revision that the whole unit was last aligned with. Goes out: the old
twin as the unit follows it. May touch: nothing.
"""

from __future__ import annotations

from itertools import takewhile

from runner_sync.lineage.stale_passages import as_followed
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.readings import find_vllm_unit, list_vllm_canons, translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import GpuBase, ModuleRevision


def restore_older_passages(
    draft: Draft, job: ModuleJob, base: GpuBase, *, old: str, now: str, is_copied: bool
) -> tuple[str, tuple[str, ...]]:
    """Return ``old``, with passages that the unit still has from earlier revisions restored, and the refs of these.

    For a locked unit, only the earlier revisions named in the lock count: the upgrade that wrote the lock settled all
    others. Restores nothing if only news since a revision are wanted.
    """
    name = draft.name
    if job.twin.news_only:
        return old, ()
    vllm = base.vllm if is_copied and _has_older_passage(draft, job, base, old=old, now=now) else None
    delivered = (
        frozenset(list_vllm_canons(job, find_vllm_unit(job, vllm, name))) if vllm is not None else frozenset[str]()
    )
    refs: list[str] = []
    for side in reversed(_list_earlier_revisions(draft, job, base)):
        text = translate_units(job, side)[name]
        followed = as_followed(old, [text], npu=draft.text, now=now, delivered=delivered)
        if followed != old:
            refs.insert(0, side.ref)
            old = followed
    return old, tuple(refs)


def _has_older_passage(draft: Draft, job: ModuleJob, base: GpuBase, *, old: str, now: str) -> bool:
    """Whether a unit has a passage of an earlier revision, even one whose change vllm-ascend may deliver."""
    earlier = [translate_units(job, side)[draft.name] for side in _list_earlier_revisions(draft, job, base)]
    return as_followed(old, earlier, npu=draft.text, now=now) != old


def _list_earlier_revisions(draft: Draft, job: ModuleJob, base: GpuBase) -> list[ModuleRevision]:
    """Return earlier revisions that the unit may have passages of, oldest first.

    These are all revisions before the base or, for a locked unit, those named in the lock. Skips revisions without the
    unit.
    """
    locked = job.twin.locked.get(draft.name)
    if locked is None:
        sides = [one.side for one in takewhile(lambda one: one.side != base.side, job.twin.bases)]
    else:
        at_hand = {one.side.ref: one.side for one in job.twin.bases}
        sides = [at_hand[ref] for ref in locked.also if ref in at_hand]
    return [side for side in sides if draft.name in translate_units(job, side)]
