"""Make a table fit a narrow terminal: drop less important columns and shorten names in the middle.

Comes in: columns and rows. Goes out: the same, or fewer, with widths. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.text import Text

NARROW = 80
"""Columns of a terminal below which table columns are dropped and names cut; wider terminals fold long words."""

_ENOUGH = 24
"""Width in which a name is usually still distinct from others."""

_LEAST = 8
"""Characters that a shortened name, or a column of names, keeps at least."""

Row = Sequence[str | Text]


@dataclass(frozen=True, slots=True)
class Column:
    """A table column. ``figures`` are right-aligned and never folded; with ``width`` 0 rich chooses the width.

    If the table is too wide, columns with a ``rank`` are dropped, the highest rank first.
    """

    name: str
    width: int = 0
    figures: bool = False
    rank: int = 0


def fit(columns: Sequence[Column], rows: Sequence[Row], width: int) -> tuple[list[Column], list[Row]]:
    """Drop columns that do not fit ``width`` and give the others widths; changes nothing from ``NARROW`` on."""
    if width >= NARROW:
        return list(columns), list(rows)
    kept = list(range(len(columns)))
    needs = [_measure_need(column, [row[index] for row in rows]) for index, column in enumerate(columns)]
    for index in sorted((k for k in kept if columns[k].rank), key=lambda k: -columns[k].rank):
        if _measure_room(kept, needs, width) < 0:
            kept.remove(index)
    widths = _choose_widths(kept, columns, rows, needs, width)
    shown = [replace(columns[index], width=widths[index]) for index in kept]
    return shown, [[row[index] for index in kept] for row in rows]


def cut_names(cells: Sequence[str | Text], room: int) -> list[str | Text]:
    """Cut names to at most ``room`` columns each; cuts none if two of them would become equal."""
    cut = [_cut_name(cell, room) for cell in cells]
    return cut if len(set(map(str, cut))) == len(set(map(str, cells))) else list(cells)


def _cut_name(cell: str | Text, room: int) -> str | Text:
    """Replace the middle of ``cell`` by ``…``; keeps the member of ``Class.member`` whole if there is room for both."""
    owner, dot, member = str(cell).rpartition(".")
    if len(cell) <= room:
        return cell
    tail = len(member) + 1 if dot and len(member) + _LEAST <= room and len(owner) > _LEAST else room // 2
    head = room - tail - 1
    return Text.assemble(cell[:head], "…", cell[-tail:]) if isinstance(cell, Text) else f"{cell[:head]}…{cell[-tail:]}"


def _measure_room(kept: Sequence[int], needs: Sequence[int], width: int) -> int:
    """Return the part of ``width`` that the columns ``kept`` leave over; negative if they do not fit."""
    return width - sum(needs[index] + 1 for index in kept)


def _measure_need(column: Column, cells: Row) -> int:
    """Return the least width of a column: its name, its longest figure, or its longest word up to ``_ENOUGH``."""
    words = [word for cell in cells for word in str(cell).split()]
    longest = max(map(len, words), default=1)
    return max(longest if column.figures else min(longest, _ENOUGH), len(column.name))


def _choose_widths(
    kept: Sequence[int], columns: Sequence[Column], rows: Sequence[Row], needs: Sequence[int], width: int
) -> dict[int, int]:
    """Return the width of each column: its need, plus the leftover for text that would fill it, from the left."""
    given = {index: needs[index] for index in kept}
    room = _measure_room(kept, needs, width)
    for index in (index for index in kept if not columns[index].figures):
        longest = max((len(str(row[index])) for row in rows), default=0)
        change = max(min(room, max(longest - given[index], 0)), min(_LEAST - given[index], 0))
        given[index] += change
        room -= change
    return given
