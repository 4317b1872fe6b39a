"""Define the order in which everything is shown, independent of the order in which it was reported.

Comes in: parts of a ``Report``. Goes out: sorted tuples. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from runner_sync.model import (
        Block,
        FileChange,
        Finding,
        Hunk,
        ReplayHunk,
        ReplayRow,
        ReviewItem,
        Severity,
        UnitReport,
    )

_InFile = TypeVar("_InFile", "Block", "UnitReport")

_SEVERITY: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}
_LAST_LINE = 1 << 31


def make_natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key under which ``R2`` comes before ``R10``."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text) if part)


def order_units(units: Iterable[UnitReport]) -> tuple[UnitReport, ...]:
    """Sort by file, then by the first changed line (units without changes last), then by name."""
    return tuple(sorted(units, key=lambda unit: (unit.path, _get_first_line(unit), unit.unit)))


def _get_first_line(unit: UnitReport) -> int:
    return min((hunk.line for hunk in unit.hunks), default=_LAST_LINE)


def group_by_path(items: Iterable[_InFile]) -> Iterator[tuple[str, list[_InFile]]]:
    """Yield each path with its items; ``items`` are in order."""
    return ((path, list(group)) for path, group in groupby(items, key=lambda item: item.path))


def order_hunks_of_unit(unit: UnitReport) -> tuple[Hunk, ...]:
    """Sort the changes of a unit by line."""
    return tuple(sorted(unit.hunks, key=lambda hunk: (hunk.line, hunk.end_line, hunk.cause)))


def order_reviews(reviews: Iterable[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Sort by file, line and id: the order in which a person walks through the files."""
    return tuple(sorted(reviews, key=lambda item: (item.path, item.line, make_natural_key(item.id), item.unit)))


def order_questions(reviews: Iterable[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Sort like ``order_reviews``, but put the parts of a question directly behind it."""
    items = order_reviews(reviews)
    parts: dict[str, list[ReviewItem]] = {}
    for item in items:
        parts.setdefault(item.part_of, []).append(item)
    known = {item.id for item in items}
    firsts = [item for item in items if item.part_of not in known]
    return tuple(one for item in firsts for one in (item, *parts.get(item.id, ())))


def order_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort by file, line, column and code."""
    return tuple(sorted(findings, key=_make_place_key))


def order_worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort by severity first, for readers that show only the first few."""
    return tuple(sorted(findings, key=lambda finding: (_SEVERITY[finding.severity], *_make_place_key(finding))))


def _make_place_key(finding: Finding) -> tuple[str, int, int, str, str, str, str]:
    place = (finding.path, finding.line, finding.column, finding.code)
    return (*place, finding.unit, finding.symbol, finding.message)


def order_changes(changes: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Drop files that are only quoted (before == after), and sort the rest: code first, then by path."""
    differ = (change for change in changes if change.before != change.after)
    return tuple(sorted(differ, key=lambda item: (not item.path.endswith(".py"), item.path)))


def order_blocks(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Sort by file and line."""
    return tuple(sorted(blocks, key=lambda block: (block.path, block.start, block.end, block.unit)))


def order_cases(rows: Iterable[ReplayRow]) -> tuple[ReplayRow, ...]:
    """Sort by case."""
    return tuple(sorted(rows, key=lambda row: make_natural_key(row.case)))


def order_hunks(hunks: Iterable[ReplayHunk]) -> tuple[ReplayHunk, ...]:
    """Sort by case, then by size, the largest first: that is what to improve next."""
    return tuple(
        sorted(hunks, key=lambda hunk: (make_natural_key(hunk.case), -hunk.lines, hunk.path, hunk.side, hunk.text))
    )
