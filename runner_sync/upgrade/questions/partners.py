"""Links review items that are one decision: about a member that a port brings, and about a passage that calls it, or
that would call it and was left out; and about a passage that came while the other half of its feature was left out.

Comes in: drafts with their questions, and the twins' texts. Goes out: the drafts, each question naming the others. May
touch: nothing.

To undo only one of them would leave a helper that nothing calls, or a call of a missing helper. Halves that no member
ties use the same object, as ``objects_used`` tells: what drains a cache is idle where nothing schedules its writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from runner_sync.compose.member_text import self_mentions
from runner_sync.listing import at_most
from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.questions.objects_used import Part, are_of_one_feature, parts

NAMED = 3
"""How many other items a reason names at most."""


def name_partners(drafts: Sequence[Draft], twins: Mapping[str, str]) -> list[Draft]:
    """The drafts with the ids of the partners in the reason of each question; ``twins`` are the GPU runner's units.

    The ids do not change: an item is the same decision whatever else comes with it.
    """
    owners = dict.fromkeys(draft.owner for draft in drafts if draft.owner)
    partners = {owner: _partners([d for d in drafts if d.owner == owner and not d.removed], twins) for owner in owners}
    return [draft if draft.removed or not draft.owner else _naming(draft, partners[draft.owner]) for draft in drafts]


def _partners(mine: Sequence[Draft], twins: Mapping[str, str]) -> dict[str, dict[str, None]]:
    """``{id: ids of its partners}`` for the items of one class, in the order in which they are found."""
    members = {d.member: d.reviews[0].id for d in mine if d.outcome == "added" and d.reviews and not d.split_from}
    partners: dict[str, dict[str, None]] = {}
    for draft in mine:
        for item in draft.reviews:
            used = self_mentions(item.chosen or item.upstream) if item.from_gpu else frozenset[str]()
            for other in sorted(members[name] for name in used & members.keys() - {draft.member}):
                partners.setdefault(item.id, {})[other] = None
                partners.setdefault(other, {})[item.id] = None
    for one, half in _halves(mine, twins):
        partners.setdefault(one, {})[half] = None
        partners.setdefault(half, {})[one] = None
    return partners


def _halves(mine: Sequence[Draft], twins: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The ids of items of one class about what came and about what was left out, where both use parts of one object
    that no code of the class used before, and these are of one feature."""
    ported = [(draft, item) for draft in mine for item in draft.reviews if item.from_gpu]
    came = [(draft, item) for draft, item in ported if _has_come(item)]
    left = [
        (draft, item) for draft, item in ported if item.chosen.strip() == item.omni.strip() != item.upstream.strip()
    ]
    if not came or not left:
        return
    had, have = (frozenset[Part]().union(*(parts(text, text) for text in texts)) for texts in _texts(mine))
    without = [(item.id, parts(item.upstream, twins.get(draft.name, "")) - have) for draft, item in left]
    for draft, item in came:
        news = parts(item.chosen, draft.text) - had
        for other, absent in without if news else ():
            if any(are_of_one_feature(one, half) for one in news for half in absent):
                yield item.id, other


def _has_come(item: ReviewItem) -> bool:
    return bool(item.chosen.strip()) and item.chosen.strip() != item.omni.strip()


def _texts(mine: Sequence[Draft]) -> tuple[list[str], list[str]]:
    """The texts of the units before the upgrade and now, without those that were or are not there."""
    return [d.before for d in mine if d.before], [d.text for d in mine if d.text]


def _naming(draft: Draft, partners: Mapping[str, Collection[str]]) -> Draft:
    items = (replace(item, reason=item.reason + _belongs_with([*partners.get(item.id, ())])) for item in draft.reviews)
    return replace(draft, reviews=tuple(items))


def _belongs_with(ids: Sequence[str]) -> str:
    return f"; belongs with {at_most(NAMED, ids)}" if ids else ""
