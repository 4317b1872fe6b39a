"""Takes over upstream's new names for locals and parameters, and its forms of imports.

Comes in: a copy's draft, its origin, a merge and a ``ModuleJob``. Goes out: the origin in upstream's forms, and the
draft with what it has taken over. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import replace

from runner_sync import lineage, merge
from runner_sync.model import Triple
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.import_forms import find_forms, respell
from runner_sync.upgrade.job import ModuleJob


def spell_origin(origin: lineage.Origin, job: ModuleJob, upstream: str) -> lineage.Origin:
    """Return the origin with the forms of imports that the new ``upstream`` text has."""
    side, new = job.upstream.at(origin.ref), job.upstream.new
    assert new is not None
    if side is None:
        return origin
    forms = find_forms(origin.text, side.text, upstream=upstream, upstream_module=new.text)
    older, parts = (
        frozenset(merge.rename_in(one, forms) for one in all_) for all_ in (origin.heritage, origin.versions)
    )
    return replace(origin, text=respell(origin.text, forms), heritage=older, versions=parts) if forms else origin


def take_over_parameters(
    text: str, origin: lineage.Origin, upstream: str
) -> tuple[str, lineage.Origin, dict[str, str]]:
    """Return a copy and its origin with the new names that ``upstream`` has for parameters, and those names."""
    names = merge.find_new_parameters(Triple(origin.text, text, upstream))
    if not names:
        return text, origin, names
    old, own = merge.rename(origin.text, names), merge.rename(text, names)
    older, parts = (frozenset(merge.rename_in(c, names) for c in all_) for all_ in (origin.heritage, origin.versions))
    return own, replace(origin, text=old, heritage=older, versions=parts), names


def record_new_names(draft: Draft, before: str, result: merge.Merged, job: ModuleJob) -> Draft:
    """Record the names and forms of imports that a draft has taken over from upstream; ``before`` is omni's text."""
    assert job.upstream.new is not None
    assert draft.upstream is not None
    forms = find_forms(before, job.text, upstream=draft.upstream, upstream_module=job.upstream.new.text)
    own = tuple(merge.rename_in(merge.rename_in(canon, forms), dict(result.new_names)) for canon in draft.own)
    return replace(draft, new_names=result.new_names, new_forms=tuple(forms.items()), own=own)
