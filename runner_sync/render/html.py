"""Render a report as one self-contained HTML page, light and dark, without scripts or outside resources.

Comes in: a ``Report``. Goes out: HTML. May touch: the template, read only.

Sources are untrusted: the template escapes everything, and a Content-Security-Policy forbids the page to load or run
anything.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from runner_sync import __version__
from runner_sync.model import FileChange, Finding, Report, ReviewItem, UnitReport
from runner_sync.render.diff import diff_file
from runner_sync.render.excerpt import Excerpt, index_lines, quote_lines
from runner_sync.render.order import (
    group_by_path,
    order_blocks,
    order_cases,
    order_changes,
    order_hunks,
    order_questions,
    order_units,
    order_worst_first,
)
from runner_sync.render.summary import (
    describe_choice,
    end_sentence,
    find_chosen_side,
    get_file_status,
    get_reason,
    get_sides,
    has_twins,
    is_changed,
    summarize,
)
from runner_sync.render.templates import fill_template


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a side. ``mark`` is ``same`` or ``changed`` against the base."""

    text: str
    mark: str


@dataclass(frozen=True, slots=True)
class Side:
    """A column of a review item."""

    name: str
    lines: tuple[Line, ...]
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the bar that shows the origins of a unit's statements: their ``number`` and percentage."""

    provenance: str
    number: int
    percent: float


def render_html(report: Report) -> str:
    """Return the page."""
    lines = index_lines(report)
    return fill_template(
        "report.html.j2",
        version=__version__,
        report=report,
        sentence=summarize(report),
        files=_collect_files(report),
        has_twins=has_twins(report),
        reviews=[
            (item, end_sentence(get_reason(item)), describe_choice(item), _make_sides(item))
            for item in order_questions(report.reviews)
        ],
        findings=[(finding, _quote_finding(lines, finding)) for finding in order_worst_first(report.findings)],
        blocks=[*group_by_path(order_blocks(report.blocks))],
        replay=order_cases(report.replay),
        hunks=order_hunks(report.replay_hunks),
        rules=sorted(report.rules, key=lambda rule: rule.code),
        patches=[
            (change.path, get_file_status(change), _make_patch(change, report))
            for change in order_changes(report.changes)
        ],
    )


def _collect_files(report: Report) -> list[tuple[str, list[tuple[UnitReport, bool, list[Share]]]]]:
    grouped = group_by_path(order_units(report.units))
    return [(path, [(unit, is_changed(unit), _make_shares(unit)) for unit in units]) for path, units in grouped]


def _make_shares(unit: UnitReport) -> list[Share]:
    counts = (("upstream", unit.taken), ("gpu", unit.ported), ("omni", unit.kept), ("removed", unit.removed))
    total = sum(number for _, number in counts)
    return [Share(name, number, round(100 * number / total, 2)) for name, number in counts if number]


def _quote_finding(lines: dict[str, list[str]], finding: Finding) -> tuple[Excerpt, ...]:
    return quote_lines(lines.get(finding.path, []), finding, width=160)


def _make_sides(item: ReviewItem) -> list[Side]:
    base = item.base.strip("\n").split("\n")
    chosen = find_chosen_side(item)
    return [Side(name, _mark_lines(base, text), name in (chosen, "chosen")) for name, text in get_sides(item).items()]


def _mark_lines(base: list[str], text: str) -> tuple[Line, ...]:
    if not text.strip():
        return ()
    lines = text.strip("\n").split("\n")
    matcher = difflib.SequenceMatcher(None, base, lines, autojunk=False)
    same = {index for block in matcher.get_matching_blocks() for index in range(block.b, block.b + block.size)}
    return tuple(Line(line, "same" if index in same else "changed") for index, line in enumerate(lines))


def _make_patch(change: FileChange, report: Report) -> list[tuple[str, str]]:
    kinds = {"+": "added", "-": "removed", "@": "range"}
    headers = ("diff ", "--- ", "+++ ", "new file", "deleted file")
    lines = (line.rstrip("\n") for line in diff_file(change, order_units(report.units)))
    return [("head" if line.startswith(headers) else kinds.get(line[:1], "same"), line) for line in lines]
