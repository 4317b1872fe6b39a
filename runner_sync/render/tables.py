"""Lay out the tables of the terminal output with rich.

Comes in: a ``Report`` and an ``Ink``. Goes out: tables as text. May touch: nothing.

Cells are ``rich.text.Text``, never markup: a unit called ``[red]`` is shown as such. rich drops some control characters
but lets ESC through, so cells are made safe here.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner_sync.model import BaseRef, Report, UnitReport
from runner_sync.render.escape import one_line, visible
from runner_sync.render.fitting import NARROW, Column, Row, cut_names, fit
from runner_sync.render.ink import Ink
from runner_sync.render.order import group_by_path, order_blocks, order_cases, order_hunks, order_units
from runner_sync.render.summary import count, get_kind, has_twins, is_changed

_MARKS = {
    "updated": ("~", "cyan"),
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "review": ("?", "yellow"),
    "unchanged": (" ", "dim"),
}
_PORTED = "ported from the GPU twin, "
_LEGEND = (
    f"Columns count statements: taken from upstream, {_PORTED}kept of omni's own. "
    "~ updated, + added, - removed, ? to review."
)
_RANKS = {"base": 1, "kept": 2, "removed": 3, "kind": 4}
_BLOCK_COLUMNS = (("unit", 0), ("lines", 0), ("", 1), ("purpose", 0), ("uses", 3), ("twin", 2))
_LINES_PER_HUNK = 12


def tabulate_units(report: Report, ink: Ink) -> str:
    """Return one table per file of the units that changed or have review items, and the number of the other units."""
    waiting = _count_reviews_per_unit(report)
    units = [unit for unit in order_units(report.units) if is_changed(unit) or waiting.get((unit.path, unit.unit))]
    owners = _find_owners((unit.path, unit.unit) for unit in report.units)
    ported = has_twins(report)
    columns = _make_unit_columns(units, owners, ink, ported=ported)
    parts = []
    for path, group in group_by_path(units):
        asked = [(unit, waiting.get((unit.path, unit.unit), 0)) for unit in group]
        rows = [
            _make_unit_row(unit, owners[path], reviews, columns[0].width, ink) | {"kind": get_kind(unit, report)}
            for unit, reviews in asked
        ]
        parts.append(f"{_make_heading(path, owners[path], ink)}\n{_draw(columns, _select_cells(rows, columns), ink)}")
    if units:
        rest = len(report.units) - len(units)
        legend = _LEGEND if ported else _LEGEND.replace(_PORTED, "")
        parts.append(ink.fold(f"{count(rest, 'unit')} unchanged. {legend}" if rest else legend))
    return "\n\n".join(parts)


def _find_owners(members: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the only class of each file's members, or an empty string, for (path, qualified name) pairs."""
    found: dict[str, set[str]] = {}
    for path, name in members:
        owner, dot, _ = name.rpartition(".")
        found.setdefault(path, set()).update([owner] if dot else [])
    return {path: next(iter(names)) if len(names) == 1 else "" for path, names in found.items()}


def _shorten_name(name: str, owner: str) -> str:
    return one_line(name.removeprefix(owner) if owner and name.startswith(owner + ".") else name)


def _make_heading(path: str, owner: str, ink: Ink) -> str:
    return f"{ink.paint(one_line(path), 'bold')}{'  ' + one_line(owner) if owner else ''}"


def _make_unit_columns(units: Sequence[UnitReport], owners: dict[str, str], ink: Ink, *, ported: bool) -> list[Column]:
    """Return columns that fit the width: the base narrows first, then the names; figures never do."""
    names = max(len("  unit"), *(len(_shorten_name(unit.unit, owners[unit.path])) + 2 for unit in units), 0)
    bases = max(len("base"), *(len(_format_base(unit.base or unit.gpu, ink)) for unit in units), 0)
    removed = any(unit.removed for unit in units)
    figures = ["taken", *["ported"] * ported, "kept", *["removed"] * removed, "review"]
    excess = (
        names + 8 + bases + sum(map(len, figures)) + (1 + _choose_padding(ink.width)) * (len(figures) + 3) - ink.width
    )
    off_bases = max(0, min(excess, bases - 12))
    names -= max(0, min(excess - off_bases, names - 12))
    text = [
        Column("  unit", names),
        Column("kind", 8, rank=_RANKS["kind"]),
        Column("base", bases - off_bases, rank=_RANKS["base"]),
    ]
    return [*text, *(Column(name, figures=True, rank=_RANKS.get(name, 0)) for name in figures)]


def _choose_padding(width: int) -> int:
    return 1 if width >= 100 else 0


def _select_cells(rows: Iterable[dict[str, str | Text]], columns: Sequence[Column]) -> list[Row]:
    return [[row[column.name] for column in columns] for row in rows]


def _elide(name: str, room: int) -> str:
    """Cut the end of a qualified name's class with ``…`` to fit ``room`` columns; folds the name if the member alone is
    longer."""
    owner, _, member = name.rpartition(".")
    kept = room - len(member) - 2
    if len(name) <= room or (owner and kept > 0):
        return f"{owner[:kept]}….{member}" if len(name) > room else name
    # rich would fold at the space before the name and leave the mark alone on its line.
    return "\n  ".join(name[start : start + room] for start in range(0, len(name), room))


def _make_unit_row(unit: UnitReport, owner: str, reviews: int, width: int, ink: Ink) -> dict[str, str | Text]:
    mark, style = _MARKS[unit.outcome]
    name = _shorten_name(unit.unit, owner)
    return {
        "  unit": Text.assemble((mark, style), " ", name if ink.width < NARROW else _elide(name, width - 2)),
        "base": _format_base(unit.base or unit.gpu, ink),
        "taken": _format_number(unit.taken),
        "ported": _format_number(unit.ported),
        "kept": _format_number(unit.kept),
        "removed": _format_number(unit.removed),
        "review": _format_number(reviews),
    }


def _count_reviews_per_unit(report: Report) -> dict[tuple[str, str], int]:
    tally: dict[tuple[str, str], int] = {}
    for item in report.reviews:
        tally[item.path, item.unit] = tally.get((item.path, item.unit), 0) + 1
    return tally


def _format_number(value: int) -> str:
    return str(value) if value else "·"


def _format_base(ref: BaseRef | None, ink: Ink) -> str:
    if ref is None:
        return "–"
    return one_line(ref.ref if ink.width < NARROW else f"{ref.ref} {ref.how} {ref.similarity:.2f}")


def tabulate_bases(report: Report, ink: Ink) -> str:
    """Return one table per file with what each unit was last synced to."""
    owners = _find_owners((unit.path, unit.unit) for unit in report.units)
    columns = [Column("unit"), Column("kind", 8, rank=1), Column("base"), Column("GPU twin")]
    columns = columns if has_twins(report) else columns[:-1]
    parts = []
    for path, group in group_by_path(order_units(report.units)):
        cells = [
            (_shorten_name(unit.unit, owners[path]), unit.kind, _format_base(unit.base, ink), _format_twin(unit))
            for unit in group
        ]
        rows = [row[: len(columns)] for row in cells]
        parts.append(f"{_make_heading(path, owners[path], ink)}\n{_draw(columns, rows, ink)}")
    return "\n\n".join(parts)


def _format_twin(unit: UnitReport) -> str:
    """Return the revision at which the GPU twin was last ported, with the twin's name if its member name differs."""
    if unit.gpu is None:
        return "–"
    is_namesake = unit.gpu.qualname.rpartition(".")[2] == unit.unit.rpartition(".")[2]
    return one_line(unit.gpu.ref if is_namesake else f"{unit.gpu.ref} {unit.gpu.qualname}")


def tabulate_blocks(report: Report, ink: Ink) -> str:
    """Return one table of omni blocks per file."""
    parts = []
    owners = _find_owners((block.path, block.unit) for block in report.blocks)
    for path, group in group_by_path(order_blocks(report.blocks)):
        rows: list[Row] = []
        for block in group:
            lines = f"{block.start}-{block.end}" if block.end > block.start else str(block.start)
            marked = Text("marked", style="green") if block.marked else Text("unmarked", style="yellow")
            uses = " ".join(one_line(name) for name in block.names_used)
            rows.append(
                (
                    _shorten_name(block.unit, owners[path]),
                    lines,
                    marked,
                    one_line(block.label),
                    uses,
                    one_line(block.twin or "–"),
                )
            )
        columns = [Column(name, rank=rank) for name, rank in _BLOCK_COLUMNS if has_twins(report) or name != "twin"]
        rows = [row[: len(columns)] for row in rows]
        parts.append(f"{_make_heading(path, owners[path], ink)}\n{_draw(columns, rows, ink)}")
    return "\n\n".join(parts)


def tabulate_replay(report: Report, ink: Ink) -> str:
    """Return the score table and, for each case, the largest remaining differences from the release."""
    rows: list[Row] = []
    for row in order_cases(report.replay):
        ratios = (f"{value:.2f}" for value in (row.effort_left, row.kept, row.recall, row.precision))
        parses = Text("yes") if row.parses else Text("no", style="red")
        rest = (str(row.silent), parses, str(row.reviews), f"{row.seconds:.1f}")
        rows.append((one_line(row.case), str(row.work), str(row.left), *ratios, *rest))
    names = ("work", "left", "effort left", "kept", "recall", "precision", "silent", "parses", "reviews", "seconds")
    ranks = {
        name: rank for rank, name in enumerate(("parses", "precision", "recall", "left", "work", "seconds"), start=1)
    }
    columns = [Column("case"), *(Column(name, figures=True, rank=ranks.get(name, 0)) for name in names)]
    table = _draw(columns, rows, ink) if rows else ""
    return "\n\n".join(part for part in (table, *_iter_largest_hunks(report, ink)) if part)


def _iter_largest_hunks(report: Report, ink: Ink) -> Iterable[str]:
    sign = {"tool": "+", "truth": "-"}
    for case, group in groupby(order_hunks(report.replay_hunks), key=lambda hunk: hunk.case):
        hunks = list(group)
        parts = [f"{ink.paint(one_line(case), 'bold')}: the largest hunks left"]
        for hunk in hunks:
            side = {"tool": "only in the tool's result", "truth": "only in what people released"}.get(
                hunk.side, hunk.side
            )
            parts.append(f"  {one_line(hunk.path)}  {count(hunk.lines, 'line')} {one_line(side)}")
            lines = visible(hunk.text).strip("\n").split("\n")
            room = max(ink.width - 6, 20)
            parts += [f"    {sign.get(hunk.side, ' ')} {line[:room]}".rstrip() for line in lines[:_LINES_PER_HUNK]]
            if len(lines) > _LINES_PER_HUNK:
                parts.append(f"      … {count(len(lines) - _LINES_PER_HUNK, 'more line')}")
        yield "\n".join(parts)


def _draw(columns: Sequence[Column], rows: Sequence[Row], ink: Ink) -> str:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.padding = (0, _choose_padding(ink.width), 0, 0)
    columns, rows = fit(columns, rows, ink.width)
    is_narrow = ink.width < NARROW and bool(rows)
    if is_narrow:
        names = cut_names([row[0] for row in rows], columns[0].width)
        rows = [(name, *row[1:]) for name, row in zip(names, rows, strict=True)]
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.figures else "left",
            width=column.width or None,
            overflow="ellipsis" if is_narrow and column is not columns[0] else "fold",
            no_wrap=column.figures,
        )
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return "\n".join(line.rstrip() for line in _print_table(table, ink).rstrip("\n").split("\n"))


def _print_table(table: Table, ink: Ink) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=max(ink.width, 40),
        force_terminal=ink.color,
        color_system="standard" if ink.color else None,
        no_color=not ink.color,
        force_jupyter=False,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(table)
    return stream.getvalue()
