"""Joins review items that are one decision: about the same passage or statement, or about one replacement.

Comes in: drafts with their questions. Goes out: the drafts, with such questions as one, or as parts of one. May touch:
nothing.

For example a block that a port brings, and that stands under a condition which one side changed; and two statements of
which omni had edited each, and which upstream replaced together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from runner_sync.compose.member_text import canonical
from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft


def join_alike(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, each with one question for what is one decision, in the place of the first that asks about it."""
    return [replace(draft, reviews=_joined(draft.reviews)) for draft in drafts]


def drop_told(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts without questions about a statement that went with nothing in its place, where another question shows
    what came for a passage with just this statement in it: there it is decided."""
    return [
        replace(draft, reviews=tuple(item for item in draft.reviews if not _is_told(item, draft)))
        if draft.reviews
        else draft
        for draft in drafts
    ]


def _is_told(item: ReviewItem, draft: Draft) -> bool:
    if item.chosen.strip() or item.upstream.strip() or not item.omni.strip():
        return False
    lost = Counter(canonical(draft.before)) - Counter(canonical(draft.text))
    mine = Counter(canonical(item.omni))
    return any(
        other.chosen.strip()
        and other.from_gpu == item.from_gpu
        and mine <= Counter(canonical(other.omni)) - Counter(canonical(other.chosen))
        and all(lost[canon] == count for canon, count in mine.items())
        for other in draft.reviews
    )


def join_replaced(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, each question for whose statement a side has the same text as for another one as a part of that.

    Each keeps its comment, for each statement needs the edit.
    """
    return [replace(draft, reviews=_by_replacement(draft.reviews)) if draft.reviews else draft for draft in drafts]


def _by_replacement(items: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    first: dict[tuple[str, str, bool], ReviewItem] = {}
    found = []
    for item in items:
        if item.base.strip() and item.upstream.strip() and not item.part_of:
            root = first.setdefault((item.reason, item.upstream, item.from_gpu), item)
            if root.base != item.base:
                item = replace(item, part_of=root.id)
        found.append(item)
    return tuple(found)


def _joined(items: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    found: list[ReviewItem] = []
    for item in items:
        at = next((k for k, other in enumerate(found) if _is_one(other, item)), None)
        if at is None:
            found.append(item)
        else:
            found[at] = _both(found[at], item)
    return tuple(found)


def _is_one(one: ReviewItem, other: ReviewItem) -> bool:
    """Whether two questions are about the same lines of the file, and neither shows a text of a side that the other
    contradicts: one may show a part of it, or nothing."""
    if not (one.chosen and one.in_file and other.in_file):
        return False
    if (one.line, one.chosen, one.from_gpu) != (other.line, other.chosen, other.from_gpu):
        return False
    sides = ((one.base, other.base), (one.omni, other.omni), (one.upstream, other.upstream))
    return one.reason != other.reason and all(_lines(a) <= _lines(b) or _lines(b) <= _lines(a) for a, b in sides)


def _lines(text: str) -> Counter[str]:
    return Counter(line.strip() for line in text.split("\n") if line.strip())


def _both(one: ReviewItem, other: ReviewItem) -> ReviewItem:
    """The first question with both reasons, what either shows of each side, and the lower confidence.

    The reason of lower confidence comes first, for a comment in the file has room for no more. The question keeps its
    id.
    """
    first, second = sorted((one, other), key=lambda item: item.confidence)
    return replace(
        one,
        reason=f"{first.reason}; {second.reason}",
        confidence=first.confidence,
        base=max(one.base, other.base, key=len),
        omni=max(one.omni, other.omni, key=len),
        upstream=max(one.upstream, other.upstream, key=len),
    )
