"""Records the helpers of the GPU twin that a unit has in place, so that `check` sees when one of them changes.

Comes in: the finished drafts of a module, a ``ModuleJob``, its GPU side. Goes out: drafts whose GPU references name
these helpers. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync.digests import name_state
from runner_sync.lineage.inlined import find_twin_helpers
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import ModuleRevision

Units = Mapping[str, str]


def record_helpers(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Name the helpers in the GPU text that each draft was last aligned with, and in the one that it follows now."""
    old = {draft.name: draft.before for draft in drafts if draft.before}
    new = {draft.name: draft.text for draft in drafts if draft.text and not draft.removed}
    return [_record(draft, old, new, job, side) for draft in drafts]


def _record(draft: Draft, old: Units, new: Units, job: ModuleJob, side: GpuSide) -> Draft:
    then, now, base = draft.gpu, draft.gpu_now, side.bases.get(draft.name)
    if then is not None and base is not None:
        then = replace(then, helpers=_find_states(draft.name, old, job, base.side))
    # A reference from the lock stands for a unit that this run left alone.
    if now is not None and now.how != "lock" and job.twin.new is not None:
        now = replace(now, helpers=_find_states(draft.name, new, job, job.twin.new))
    return replace(draft, gpu=then, gpu_now=now)


def _find_states(name: str, units: Units, job: ModuleJob, twin: ModuleRevision) -> tuple[str, ...]:
    """Return the helpers of ``twin`` that ``units`` lack and the unit ``name`` has in place, with their states."""
    inlined = find_twin_helpers(name, units, translate_units(job, twin))
    written = twin.units.items()
    return tuple(sorted(name_state(gpu, text) for gpu, text in written if job.profile.npu_name(gpu) in inlined))
