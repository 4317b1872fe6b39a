"""Writes ``--conflict inline``: diff3 conflict markers for people who want their merge tool.

Comes in: text and placed review items. Goes out: text that need not parse. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runner_sync.compose.notes import CONFLICT
from runner_sync.compose.settling import can_take
from runner_sync.edits import margin
from runner_sync.model import ReviewItem
from runner_sync.statements import inside_strings
from runner_sync.thresholds import NEAR_SIDES
from runner_sync.upgrade.lines import strip_written_lines


def is_two_sided(text: str, item: ReviewItem) -> bool:
    """Whether ``item`` can be shown in ``text`` as a conflict: `settle` would take either side for it.

    Returns false in three more cases: the chosen text is not what stands there (for example a head whose suite stays);
    one side is empty and the chosen text is not the other; upstream's side already stands near the omni side.
    """
    if item.omni == item.upstream or not item.chosen or not any((item.base.strip(), item.omni.strip())):
        return False
    lines = text.split("\n")
    span = lines[item.line - 1 : item.end_line]
    if [s.strip() for s in span] != strip_written_lines(item.chosen):
        return False
    if not (item.omni.strip() and item.upstream.strip()) and strip_written_lines(item.chosen) != strip_written_lines(
        item.omni or item.upstream
    ):
        return False
    if item.chosen == item.omni and _stands_nearby(lines, item):
        return False
    return can_take(text, item, "omni") and can_take(text, item, "upstream")


def _stands_nearby(lines: Sequence[str], item: ReviewItem) -> bool:
    """Whether the lines of upstream's side stand together a little above or below the item."""
    upstream = strip_written_lines(item.upstream)
    reach = NEAR_SIDES + len(upstream)
    around = lines[max(item.line - 1 - reach, 0) : item.line - 1], lines[item.end_line : item.end_line + reach]
    sides = [strip_written_lines("\n".join(side)) for side in around]
    return bool(upstream) and any(side[k : k + len(upstream)] == upstream for side in sides for k in range(len(side)))


def _reindent(body: str, item: ReviewItem, indent: str) -> list[str]:
    """Return the lines of a side, indented like the chosen text, whose first line has ``indent`` in the file."""
    lines = body.rstrip("\n").split("\n") if body.strip() else []
    shown = next(line for line in item.chosen.split("\n") if line.strip())
    deeper = len(indent) - len(margin(shown))
    strings = inside_strings("\n".join(lines))
    return [" " * max(deeper, 0) + line if line.strip() and k not in strings else line for k, line in enumerate(lines)]


def drop_overlapping(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Drop items that overlap an earlier one, because conflicts cannot be nested."""
    kept: list[ReviewItem] = []
    for item in sorted(items, key=lambda i: (i.line, -i.end_line)):
        if not kept or item.line > kept[-1].end_line:
            kept.append(item)
    return kept


def insert_conflicts(text: str, items: Sequence[ReviewItem]) -> str:
    """Replace the chosen text of each two-sided item by all sides, as ``git merge-file --diff3`` does."""
    lines = text.split("\n")
    for item in sorted(items, key=lambda i: i.line, reverse=True):
        lines[item.line - 1 : item.end_line] = _format_conflict(item, margin(lines[item.line - 1]))
    return "\n".join(lines)


def _format_conflict(item: ReviewItem, indent: str) -> list[str]:
    """Return the three sides between conflict markers, indented by ``indent``."""
    return [
        f"{CONFLICT} {item.id}",
        *_reindent(item.omni, item, indent),
        "||||||| base",
        *_reindent(item.base, item, indent),
        "=======",
        *_reindent(item.upstream, item, indent),
        f">>>>>>> {item.newer}: {item.reason}",
    ]
