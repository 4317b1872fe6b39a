"""Units whose original still stands in its module, and where no unit is read: inside ``if``, or by assignment.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts, such units left as they are, with a question each. May
touch: nothing.

To every later stage such an original would be gone, and what follows it would go, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runner_sync.confidence import UNMERGED
from runner_sync.units import texts
from runner_sync.upgrade.base import closest, find_base, upstream_name
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob, ModuleRevision
from runner_sync.upgrade.questions.reviews import Shown, review


def set_aside(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """The drafts; one whose original was a unit in an earlier revision, and now stands beside the units of its module,
    is no longer chosen, and a question names the place."""
    return [_set_aside(draft, job) if draft.chosen else draft for draft in drafts]


def _set_aside(draft: Draft, job: ModuleJob) -> Draft:
    for name, now, before in _originals(draft, job):
        if (line := _line_beside(now, name)) is None:
            continue
        units = [texts.unit_table(side.text, side.path).get(name) for side in reversed(before)]
        known = next((unit for unit in units if unit is not None and unit.kind != "field"), None)
        if known is not None:
            where = f"{now.path}:{line} has {name} inside another statement, or by assignment"
            reason = f"{where}, where nothing is compared: this one stays as it is"
            shown = Shown(base=known.text, omni=draft.text, chosen=draft.text)
            item = review(draft, job.path, reason=reason, confidence=UNMERGED, shown=shown)
            kept, twins = job.upstream.locked.get(draft.name), job.twin.locked.get(draft.name)
            return replace(draft.asking(item), chosen=False, base_now=kept, gpu_now=twins)
    return draft


def _line_beside(side: ModuleRevision, name: str) -> int | None:
    """The line that defines a name beside the units of a module, or as the field of a class; ``None`` without one."""
    unit = texts.unit_table(side.text, side.path).get(name)
    if unit is not None and unit.kind == "field":
        return unit.end
    return texts.beside_units(side.text, side.path).get(name)


def _originals(draft: Draft, job: ModuleJob) -> Iterator[tuple[str, ModuleRevision, Sequence[ModuleRevision]]]:
    """What the unit may follow: its name there, the module as it is now, and the earlier revisions of that. Of
    upstream's, copies only: what overrides a method does not follow it."""
    if (new := job.upstream.new) is not None and job.upstream.is_followed:
        name, bases = upstream_name(draft.name, job.module), job.upstream.bases
        locked, infer = job.upstream.locked.get(draft.name), job.upstream.infer or closest
        if _line_beside(new, name) is not None:
            base = find_base(draft.name, draft.text, job.module, bases, locked=locked, infer=infer)
            if base is not None and base.kind == "copy" and draft.name not in job.upstream.apart:
                yield name, new, bases
    if job.twin.new is not None:
        yield job.profile.gpu_name(draft.name), job.twin.new, [base.side for base in job.twin.bases]
