"""Joins review items that are one decision: about the same passage or statement, or about one replacement.

Comes in: drafts with their questions, or the review items of a whole run. Goes out: the same, such questions joined or
marked as parts of one. May touch: nothing.

One example is a block that a port brings and that stands under a condition which one side changed. Another is two
statements that omni had both edited and that upstream replaced together. A third are copies of one method: both
``execute_model`` of the NPU runners are, and omni has changed the same statement in both. A fourth are the places of
one new name. Each place keeps its comment in the file, because each needs the same edit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from runner_sync.model import ReviewItem
from runner_sync.statements import UnparsableText
from runner_sync.texts.member_text import canonical
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.lines import strip_written_lines


def join_alike(drafts: Sequence[Draft]) -> list[Draft]:
    """Join questions that are one decision, at the place of the first one."""
    return [replace(draft, reviews=_join_same_lines(draft.reviews)) for draft in drafts]


def link_same_replacements(drafts: Sequence[Draft]) -> list[Draft]:
    """Mark a question as part of an earlier one if both give the same reason and show the same replacement.

    Each keeps its comment, because each statement needs the edit.
    """
    return [replace(draft, reviews=_link_by_replacement(draft.reviews)) if draft.reviews else draft for draft in drafts]


def _link_by_replacement(items: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    first: dict[tuple[str, str, bool], ReviewItem] = {}
    linked = []
    for item in items:
        if item.base.strip() and item.upstream.strip() and not item.part_of:
            root = first.setdefault((item.reason, item.upstream, item.from_gpu), item)
            if root.base != item.base:
                item = replace(item, part_of=root.id)
        linked.append(item)
    return tuple(linked)


def _join_same_lines(items: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    joined: list[ReviewItem] = []
    for item in items:
        at = next((k for k, other in enumerate(joined) if _is_same_decision(other, item)), None)
        if at is None:
            joined.append(item)
        else:
            joined[at] = _join_two(joined[at], item)
    return tuple(joined)


def _is_same_decision(one: ReviewItem, other: ReviewItem) -> bool:
    """Whether two questions are about the same lines of the file and no side of one contradicts the other.

    One question may show only a part of a side, or nothing.
    """
    if not (one.chosen and one.in_file and other.in_file):
        return False
    if (one.line, one.chosen, one.from_gpu) != (other.line, other.chosen, other.from_gpu):
        return False
    sides = ((one.base, other.base), (one.omni, other.omni), (one.upstream, other.upstream))
    return one.reason != other.reason and all(
        _count_lines(a) <= _count_lines(b) or _count_lines(b) <= _count_lines(a) for a, b in sides
    )


def _count_lines(text: str) -> Counter[str]:
    return Counter(strip_written_lines(text))


def _join_two(one: ReviewItem, other: ReviewItem) -> ReviewItem:
    """Return the first question with both reasons, the longer text of each side, and the lower confidence.

    The reason of lower confidence comes first, because a comment in the file has room for only one. The question keeps
    its id.
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


def ask_once(items: Iterable[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Mark items as part of an earlier item of another unit with the same reason and texts; their own parts follow.

    Items that only give something another name are parts of the first one with this name, in any unit.
    """
    first: dict[tuple[str, ...], ReviewItem] = {}
    asked = []
    for item in items:
        renamed = _make_rename_key(item)
        key = renamed or _make_key(item)
        root = first.setdefault(key, item)
        is_elsewhere = (root.path, root.unit) != (item.path, item.unit) or (renamed and root is not item)
        is_repeated = is_elsewhere and not item.part_of and len(key) > 1
        asked.append(replace(item, part_of=root.part_of or root.id) if is_repeated else item)
    roots = {item.id: item.part_of for item in asked if item.part_of}
    return tuple(replace(item, part_of=roots.get(item.part_of, item.part_of)) for item in asked)


_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*|\.[A-Za-z_]\w*")
"""A name, or a dot and the name of a member."""

_METHOD = re.compile(r"\bdef (?=\w+\((?:self|cls)\b)")


def _make_rename_key(item: ReviewItem) -> tuple[str, ...]:
    """Return what identifies a question whose chosen text differs from omni's in one name alone; empty for others.

    The name of a member is the same everywhere; any other name is one of the unit's own.
    """
    if not item.omni.strip() or item.keeps_omni or item.chosen.strip() != item.upstream.strip():
        return ()
    was, now = (_METHOD.sub("def .", _normalize(text)) for text in (item.omni, item.chosen))
    old, new = _WORD.findall(was), _WORD.findall(now)
    changed = {pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]}
    if len(changed) != 1 or len(old) != len(new) or _WORD.sub("", was) != _WORD.sub("", now):
        return ()
    ((one, other),) = changed
    is_member = one.startswith(".") and other.startswith(".")
    if one.startswith(".") != other.startswith(".") or one in new or other in old:
        return ()
    return ("renamed", one, other) if is_member else ("renamed", one, other, item.path, item.unit)


def _make_key(item: ReviewItem) -> tuple[str, ...]:
    """Return what identifies a question: its reason and the texts that it shows, without layout and comments.

    The base does not count beside two sides, because copies of different releases leave the same choice. For an item
    about a whole class, which shows the class header, only the reason counts; likewise if it shows nothing.
    """
    if "." not in item.unit and not item.base and not item.upstream and item.omni:
        return (item.reason, "class")
    base = "" if item.omni and item.upstream else item.base
    shown = [_normalize(text) for text in (base, item.omni, item.upstream, item.chosen)]
    return (item.reason, *shown) if any(shown) else (item.reason,)


def _normalize(text: str) -> str:
    try:
        return "\n".join(canonical(text))
    except UnparsableText:
        return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
