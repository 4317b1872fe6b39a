"""Joins repetitions of a question about copies of one method in several places, so that it is asked once.

Comes in: the review items of a whole run. Goes out: the items, each repetition as part of the first one. May touch:
nothing.

For example, both ``execute_model`` of the NPU runners are copies of the same method, and omni has changed the same
statement in both. Each place keeps its comment in the file, because each needs the same edit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from runner_sync.model import ReviewItem
from runner_sync.statements import UnparsableText
from runner_sync.texts.member_text import canonical


def ask_once(items: Iterable[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Mark items as part of an earlier item of another unit with the same reason and texts; their own parts follow."""
    first: dict[tuple[str, ...], ReviewItem] = {}
    asked = []
    for item in items:
        key = _make_key(item)
        root = first.setdefault(key, item)
        is_repeated = (root.path, root.unit) != (item.path, item.unit) and not item.part_of and len(key) > 1
        asked.append(replace(item, part_of=root.part_of or root.id) if is_repeated else item)
    roots = {item.id: item.part_of for item in asked if item.part_of}
    return tuple(replace(item, part_of=roots.get(item.part_of, item.part_of)) for item in asked)


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
