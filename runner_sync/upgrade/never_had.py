"""Members of upstream's class that upstream's text of a copy uses, before the upgrade and after it, and the copy does
not.

Comes in: the drafts after all stages. Goes out: names by unit, for a note. May touch: nothing.

A merge takes what the base has and omni lacks to be left out on purpose. Where that came with a revision between two
upgrades of omni's, nobody may ever have seen it::

    base    self.check(rows); self.run(rows)      upstream now   self.check(rows); self.run(rows)
    omni    self.run(rows)                        named: ``check``
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync import lineage
from runner_sync.compose.member_text import self_names
from runner_sync.upgrade.base import base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob


def never_had(drafts: Sequence[Draft], job: ModuleJob) -> dict[str, tuple[str, ...]]:
    """The names by unit. None of a copy that the lock knows, for its first upgrade has told, nor of one of which omni
    took only part; and none that another unit of the class, or omni code that it inherits, uses."""
    used = {owner: _used(owner, drafts, job) for owner in dict.fromkeys(draft.owner for draft in drafts)}
    found = {}
    for draft in drafts:
        if draft.kind != "copy" or draft.removed or draft.upstream is None or not _is_whole(draft):
            continue
        lacking = self_names(base_text(draft, job) or "") & self_names(draft.upstream)
        if names := sorted(lacking - used[draft.owner]):
            found[draft.name] = tuple(names)
    return found


def _is_whole(draft: Draft) -> bool:
    """Whether a base was inferred for the draft, and omni took most of it."""
    base = draft.base
    return base is not None and base.how != "lock" and base.similarity >= lineage.COPY


def _used(owner: str, drafts: Sequence[Draft], job: ModuleJob) -> frozenset[str]:
    """The members that omni's code of a class uses or defines, its inherited code included."""
    inherited = job.hierarchy.inherited.get(owner)
    members = inherited.members.items() if inherited is not None else ()
    own = [draft for draft in drafts if draft.owner == owner and not draft.removed]
    bodies = [*(draft.text for draft in own), *(text for _, text in members if text is not None)]
    defined = {draft.member for draft in own} | {name for name, text in members if text is not None}
    return frozenset(defined).union(*(self_names(text) for text in bodies))
