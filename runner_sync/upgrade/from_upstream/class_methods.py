"""Reads the methods of the upstream class of a unit, at the unit's base and now.

Comes in: a draft and a ``ModuleJob``. Goes out: texts of methods by name. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods of the upstream class at the base and now, by name.

    ``reached`` are those now that a call in omni's class reaches: nothing overrides them.
    """

    old: Mapping[str, str]
    new: Mapping[str, str]
    reached: Mapping[str, str]

    @property
    def added(self) -> dict[str, str]:
        """Return the methods that upstream did not have at the base and a call reaches."""
        return {name: text for name, text in self.reached.items() if name not in self.old}


def find_methods(draft: Draft, job: ModuleJob, ref: str) -> Methods:
    """Return the methods of the upstream class at the revision ``ref`` and now; none if one is not at hand."""
    owner, old, now = job.module.anchor.name, job.upstream.at(ref), job.upstream.new
    if not draft.owner or old is None or now is None:
        return Methods({}, {}, {})
    elsewhere = {name for variant in job.upstream.variants(ref) for name in variant.new}
    reached = {name: text for name, text in find_reached_methods(draft, job).items() if name not in elsewhere}
    return Methods(old.members(owner), now.members(owner), reached)


def find_reached_methods(draft: Draft, job: ModuleJob) -> dict[str, str]:
    """Return the methods of the upstream class now that omni does not override."""
    assert job.upstream.new is not None
    if not draft.owner:
        return {}
    own = {*job.hierarchy.of(draft.owner).omnis, *texts.members(job.text, draft.owner, job.path)}
    methods = job.upstream.new.members(job.module.anchor.name)
    return {name: text for name, text in methods.items() if name not in own}
