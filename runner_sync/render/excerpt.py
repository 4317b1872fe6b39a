"""Find the source lines that a finding points at.

Comes in: ``Report.changes`` (the text after, or before for a deleted file) and line spans. Goes out: lines to show. May
touch: nothing.

Columns of a ``Finding`` are 1-based characters, the end exclusive (as in SARIF). With ``column`` 0 only the lines are
known, with ``end_column`` 0 only the start.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from runner_sync.model import Finding, Report
from runner_sync.render.escape import visible
from runner_sync.render.widths import ELLIPSIS, cut_columns, measure

_MOST_LINES = 4
_WORD = re.compile(r"[\w.]+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line to show. ``caret`` is the underline below it (spaces and ``^``), empty for none."""

    number: int
    text: str
    caret: str


def index_lines(report: Report) -> dict[str, list[str]]:
    """Return the lines of every file whose text the report contains, by path."""
    texts = {change.path: change.before if change.after is None else change.after for change in report.changes}
    return {path: text.removesuffix("\n").split("\n") for path, text in texts.items() if text is not None}


def quote_lines(lines: list[str], finding: Finding, *, width: int) -> tuple[Excerpt, ...]:
    """Return the first lines of a finding's span, cropped to ``width`` columns around the marked part."""
    last = min(max(finding.end_line, finding.line), len(lines), finding.line + _MOST_LINES - 1)
    numbers = range(max(finding.line, 1), last + 1)
    return tuple(
        _quote(number, lines[number - 1], _find_span(finding, number, lines[number - 1]), width) for number in numbers
    )


def has_columns(finding: Finding) -> bool:
    """Whether the finding knows its first column."""
    return finding.column > 0


def has_end_column(finding: Finding) -> bool:
    """Whether the finding also knows its end column, behind its start."""
    single = finding.end_line <= finding.line
    return has_columns(finding) and finding.end_column > (finding.column if single else 0)


def _find_span(finding: Finding, number: int, line: str) -> tuple[int, int]:
    """Return the characters of ``line`` to underline, 0-based and half-open."""
    indent, end = len(line) - len(line.lstrip()), len(line.rstrip())
    if not has_columns(finding):
        # Underlining a whole block adds nothing to its line numbers.
        return (indent, end) if finding.end_line <= finding.line else (0, 0)
    start = min(finding.column - 1, len(line)) if number == finding.line else indent
    if not has_end_column(finding):
        word = _WORD.match(line, start)
        return (start, word.end() if word else start + 1) if number == finding.line else (0, 0)
    return start, min(finding.end_column - 1, len(line)) if number == max(finding.end_line, finding.line) else end


def _quote(number: int, line: str, span: tuple[int, int], width: int) -> Excerpt:
    before, marked, after = (visible(part) for part in _cut(line, span))
    caret = " " * measure(before) + "^" * measure(marked) if marked else ""
    return Excerpt(number, *_crop(before + marked + after.rstrip(), caret, width))


def _cut(line: str, span: tuple[int, int]) -> tuple[str, str, str]:
    expanded = line.expandtabs(4)
    start, end = (len(line[:column].expandtabs(4)) for column in span)
    return expanded[:start], expanded[start:end], expanded[end:]


def _crop(text: str, caret: str, width: int) -> tuple[str, str]:
    """Cut ``text`` and its underline, which has one character per column, to ``width`` columns around the underline."""
    if measure(text) <= width:
        return text, caret
    start = max(0, min(caret.find("^") - width // 3, measure(text) - width)) if "^" in caret else 0
    kept = cut_columns(text, start + 1 if start else 0, start + width - 1)
    return f"{ELLIPSIS if start else ''}{kept}{ELLIPSIS}", caret[start : start + width - 1].rstrip()
