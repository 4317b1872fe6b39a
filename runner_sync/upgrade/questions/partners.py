"""Links review items that are one decision: about a member that a port brings, and about a passage that calls it, or
that would call it and was left out.

Comes in: drafts with their questions. Goes out: the drafts, each question naming the others. May touch: nothing.

To undo only one of them would leave a helper that nothing calls, or a call of a missing helper.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from runner_sync.compose.member_text import self_mentions
from runner_sync.upgrade.draft import Draft

NAMED = 3
"""How many other items a reason names at most."""


def name_partners(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts with the ids of the partners in the reason of each question.

    The ids do not change: an item is the same decision whatever else comes with it.
    """
    owners = dict.fromkeys(draft.owner for draft in drafts if draft.owner)
    partners = {owner: _partners([d for d in drafts if d.owner == owner and not d.removed]) for owner in owners}
    return [draft if draft.removed or not draft.owner else _naming(draft, partners[draft.owner]) for draft in drafts]


def _partners(mine: Sequence[Draft]) -> dict[str, dict[str, None]]:
    """``{id: ids of its partners}`` for the items of one class, in the order in which they are found."""
    members = {d.member: d.reviews[0].id for d in mine if d.outcome == "added" and d.reviews and not d.split_from}
    partners: dict[str, dict[str, None]] = {}
    for draft in mine:
        for item in draft.reviews:
            used = self_mentions(item.chosen or item.upstream) if item.from_gpu else frozenset[str]()
            for other in sorted(members[name] for name in used & members.keys() - {draft.member}):
                partners.setdefault(item.id, {})[other] = None
                partners.setdefault(other, {})[item.id] = None
    return partners


def _naming(draft: Draft, partners: Mapping[str, Collection[str]]) -> Draft:
    items = (replace(item, reason=item.reason + _belongs_with([*partners.get(item.id, ())])) for item in draft.reviews)
    return replace(draft, reviews=tuple(items))


def _belongs_with(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return f"; belongs with {', '.join(ids[:NAMED])}{more}" if ids else ""
