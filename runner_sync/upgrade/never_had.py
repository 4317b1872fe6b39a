"""Finds members that upstream's text of a copy uses before and after the upgrade, and that the copy does not use.

Comes in: the drafts after all stages. Goes out: names by unit, for a note. May touch: nothing.

A merge takes whatever omni lacks of the base for a deliberate omission. If the line came with a revision between two
upgrades of omni, perhaps nobody has ever seen it::

    base    self.check(rows); self.run(rows)      upstream now   self.check(rows); self.run(rows)
    omni    self.run(rows)                        named: ``check``
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync import lineage
from runner_sync.texts.member_text import self_names
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft, texts_by_member
from runner_sync.upgrade.job import ModuleJob


def find_never_had(drafts: Sequence[Draft], job: ModuleJob) -> dict[str, tuple[str, ...]]:
    """Return the member names by unit.

    Skips copies already in the lock (reported at their first upgrade) and partial copies. Skips names that another unit
    of the class, or inherited omni code, uses.
    """
    used = {owner: _collect_used(owner, drafts, job) for owner in dict.fromkeys(draft.owner for draft in drafts)}
    names_by_unit = {}
    for draft in drafts:
        if draft.kind != "copy" or draft.removed or draft.upstream is None or not _is_mostly_taken(draft):
            continue
        lacking = self_names(find_base_text(draft, job) or "") & self_names(draft.upstream)
        if names := sorted(lacking - used[draft.owner]):
            names_by_unit[draft.name] = tuple(names)
    return names_by_unit


def _is_mostly_taken(draft: Draft) -> bool:
    """Whether the draft's base was inferred and omni took most of it."""
    base = draft.base
    return base is not None and base.how != "lock" and base.similarity >= lineage.COPY


def _collect_used(owner: str, drafts: Sequence[Draft], job: ModuleJob) -> frozenset[str]:
    """Return the members that omni's code of a class, inherited code included, uses or defines."""
    own = texts_by_member(drafts, owner)
    inherited = job.hierarchy.of(owner).omnis
    return frozenset(own | inherited).union(*map(self_names, (*own.values(), *inherited.values())))
