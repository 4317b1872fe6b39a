"""The text of the GPU twin that an NPU unit follows, passages of earlier revisions included.

Comes in: a draft, its ``ModuleJob`` and the revision that the unit as a whole was last aligned with. Goes out: a text.
May touch: nothing.
"""

from __future__ import annotations

from itertools import takewhile

from runner_sync.lineage.stale_passages import as_followed
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.readings import translated_units, vllm_canons, vllm_unit
from runner_sync.upgrade.job import GpuBase, ModuleJob, ModuleRevision


def with_older_passages(
    draft: Draft, job: ModuleJob, base: GpuBase, *, old: str, now: str, is_copied: bool
) -> tuple[str, tuple[str, ...]]:
    """The ``old`` text of a unit's twin, with what the unit has of earlier revisions as these have it; and which these
    are.

    What a lock names was looked at then, but for the revisions that it names besides; where only news are asked for, an
    earlier change is none.
    """
    name = draft.name
    if job.twin.news_only:
        return old, ()
    vllm = base.vllm if is_copied and _follows_older(draft, job, base, old=old, now=now) else None
    delivered = frozenset(vllm_canons(job, vllm_unit(job, vllm, name))) if vllm is not None else frozenset[str]()
    refs: list[str] = []
    for side in reversed(_earlier_sides(draft, job, base)):
        text = translated_units(job, side)[name]
        followed = as_followed(old, [text], mine=draft.text, now=now, delivered=delivered)
        if followed != old:
            refs.insert(0, side.ref)
            old = followed
    return old, tuple(refs)


def _follows_older(draft: Draft, job: ModuleJob, base: GpuBase, *, old: str, now: str) -> bool:
    """Whether a unit has a passage of an earlier revision, whoever may deliver what became of it."""
    earlier = [translated_units(job, side)[draft.name] for side in _earlier_sides(draft, job, base)]
    return as_followed(old, earlier, mine=draft.text, now=now) != old


def _earlier_sides(draft: Draft, job: ModuleJob, base: GpuBase) -> list[ModuleRevision]:
    """The revisions before its base that a unit may have passages of, oldest first: of those that have the unit, the
    ones that a lock names for it, if it is locked."""
    locked = job.twin.locked.get(draft.name)
    if locked is None:
        sides = [one.side for one in takewhile(lambda one: one.side != base.side, job.twin.bases)]
    else:
        at_hand = {one.side.ref: one.side for one in job.twin.bases}
        sides = [at_hand[ref] for ref in locked.also if ref in at_hand]
    return [side for side in sides if draft.name in translated_units(job, side)]
