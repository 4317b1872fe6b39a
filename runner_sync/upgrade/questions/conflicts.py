"""``--conflict inline``: diff3 conflict markers for people who want their merge tool.

Comes in: text and placed review items. Goes out: text that need not parse. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runner_sync.edits import margin
from runner_sync.model import ReviewItem


def two_sided(text: str, item: ReviewItem) -> bool:
    """Whether ``item`` stands in ``text`` as a choice between two sides; any other item has no lines to exchange."""
    if item.omni == item.upstream or not item.chosen or not any((item.base.strip(), item.omni.strip())):
        return False
    span = text.split("\n")[item.line - 1 : item.end_line]
    return [s.strip() for s in span] == [s.strip() for s in item.chosen.split("\n") if s.strip()]


def disjoint(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Without those that overlap another one above them: conflicts do not stand inside each other."""
    kept: list[ReviewItem] = []
    for item in sorted(items, key=lambda i: (i.line, -i.end_line)):
        if not kept or item.line > kept[-1].end_line:
            kept.append(item)
    return kept


def inline(text: str, items: Sequence[ReviewItem]) -> str:
    """Exchange the chosen text of each ``two_sided`` item for the three sides, as ``git merge-file --diff3`` does."""
    lines = text.split("\n")
    for item in sorted(items, key=lambda i: i.line, reverse=True):
        lines[item.line - 1 : item.end_line] = _block(item, margin(lines[item.line - 1]))
    return "\n".join(lines)


def _block(item: ReviewItem, indent: str) -> list[str]:
    """The three sides between conflict markers; ``indent`` is that of the lines whose place they take."""

    def side(body: str) -> list[str]:
        lines = body.rstrip("\n").split("\n") if body else []
        return lines if lines and lines[0].startswith((" ", "\t")) else [indent + line for line in lines]

    return [
        f"<<<<<<< omni {item.id}",
        *side(item.omni),
        "||||||| base",
        *side(item.base),
        "=======",
        *side(item.upstream),
        f">>>>>>> {item.newer}: {item.reason}",
    ]
