"""Sets aside units whose original still stands in its module inside ``if`` or by assignment, where no unit is read.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts, such units unchanged with a question each. May touch:
nothing.

Every later stage would take such an original for removed, and would remove the unit that follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runner_sync.confidence import UNMERGED
from runner_sync.units import texts
from runner_sync.upgrade.base import find_base_of, name_in_upstream
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask
from runner_sync.upgrade.revision import ModuleRevision


def set_aside_unread(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Set aside a chosen draft if its original was a unit in an earlier revision and now stands beside the units.

    Such a draft is no longer chosen, and a question names the place.
    """
    return [_set_aside_if_unread(draft, job) if draft.chosen else draft for draft in drafts]


def _set_aside_if_unread(draft: Draft, job: ModuleJob) -> Draft:
    for name, now, before in _find_originals(draft, job):
        if (line := _find_line_beside_units(now, name)) is None:
            continue
        units = [texts.unit_table(side.text, side.path).get(name) for side in reversed(before)]
        known = next((unit for unit in units if unit is not None and unit.kind != "field"), None)
        if known is not None:
            where = f"{now.path}:{line} defines {name} inside another statement or by assignment"
            reason = f"{where}, where it cannot be compared: this one was left unchanged"
            shown = Shown(base=known.text, omni=draft.text, chosen=draft.text)
            asked = ask(draft, job.path, reason=reason, confidence=UNMERGED, shown=shown)
            kept, twins = job.upstream.locked.get(draft.name), job.twin.locked.get(draft.name)
            return replace(asked, chosen=False, base_now=kept, gpu_now=twins)
    return draft


def _find_line_beside_units(side: ModuleRevision, name: str) -> int | None:
    """Return the line that defines ``name`` outside the units of a module or as a class field, if any."""
    unit = texts.unit_table(side.text, side.path).get(name)
    if unit is not None and unit.kind == "field":
        return unit.end
    return texts.beside_units(side.text, side.path).get(name)


def _find_originals(draft: Draft, job: ModuleJob) -> Iterator[tuple[str, ModuleRevision, Sequence[ModuleRevision]]]:
    """Yield the originals that the unit may follow: the name there, the module now, and its earlier revisions.

    Yields upstream's method only for a copy, because an override does not follow the method that it overrides.
    """
    if (new := job.upstream.new) is not None and job.upstream.is_followed:
        name = name_in_upstream(draft.name, job.module)
        base = find_base_of(draft, job) if _find_line_beside_units(new, name) is not None else None
        if base is not None and base.kind == "copy" and draft.name not in job.upstream.apart:
            yield name, new, job.upstream.bases
    if job.twin.new is not None:
        yield job.profile.gpu_name(draft.name), job.twin.new, [base.side for base in job.twin.bases]
