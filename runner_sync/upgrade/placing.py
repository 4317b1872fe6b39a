"""Keeps the line numbers of review items and hunks right while the surrounding text changes.

Comes in: review items and hunks, and the texts before and after. Goes out: the same values with their new line numbers.
May touch: nothing.
"""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TypeVar

from runner_sync.edits import lines_of
from runner_sync.model import Hunk, ReviewItem
from runner_sync.statements import OPENERS, parse_unit, parses
from runner_sync.syntax import module_of, same_code, walk
from runner_sync.upgrade.lines import strip_written_lines


def place(item: ReviewItem, unit: Sequence[str], start: int) -> ReviewItem:
    """Return ``item`` with absolute lines: where ``unit`` has its chosen text, nearest to its old line.

    ``unit`` holds the unit's final lines and begins at line ``start``. The item covers at least as many lines as
    before, because the lines that it shows may stand apart.
    """
    wanted = strip_written_lines(item.chosen)
    at = min(item.line, max(len(unit), 1))
    if wanted:
        stripped = [line.strip() for line in unit]
        starts = [k + 1 for k, line in enumerate(stripped) if line == wanted[0]]
        at = min(starts, key=lambda k: abs(k - item.line), default=at)
    written = [k for k in range(at, len(unit) + 1) if unit[k - 1].strip()]
    last = written[min(len(wanted), len(written)) - 1] if wanted and written else at
    if wanted and item.end_line > item.line:
        last = max(last, min(at + item.end_line - item.line, len(unit)))
    return replace(item, line=start + at - 1, end_line=start + last - 1)


Placed = TypeVar("Placed", ReviewItem, Hunk)


def relocate(items: Sequence[Placed], *, old: str, new: str) -> list[Placed]:
    """Return the items with their line numbers in ``new``."""
    if old == new or not items:
        return list(items)
    table, ends = _map_lines(old, new)
    return [
        replace(
            item,
            line=table.get(item.line, item.line),
            end_line=(ends if item.end_line > item.line else table).get(item.end_line, item.end_line),
        )
        for item in items
    ]


def drop_undone_hunks(hunks: Sequence[Sequence[Hunk]], *, before: str, made: str, text: str) -> list[list[Hunk]]:
    """Relocate the hunks of each unit from ``made`` to its formatted ``text``, and drop those that formatting undid.

    Formatting undid a hunk if none of the lines that replaced its lines differs from ``before`` any more.
    """
    if made == text:
        return [list(unit_hunks) for unit_hunks in hunks]
    touched_before, touched_now = (_find_touched_lines(before, new) for new in (made, text))
    reformatted = _map_reformatted(made, text)
    kept = []
    for unit_hunks in hunks:
        pairs = zip(unit_hunks, relocate(unit_hunks, old=made, new=text), strict=True)
        kept.append(
            [
                new
                for old, new in pairs
                if not touched_before & {*_line_range(old)} or touched_now & {*_line_range(new), *reformatted(old)}
            ]
        )
    return kept


def _map_reformatted(old: str, new: str) -> Callable[[Hunk], set[int]]:
    """Return a function that maps a hunk of ``old`` to the lines in ``new`` of the passages that it touches.

    These are passages that formatting replaced.
    """
    opcodes = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False).get_opcodes()
    passages = [(range(i1 + 1, i2 + 1), range(j1 + 1, j2 + 1)) for tag, i1, i2, j1, j2 in opcodes if tag == "replace"]

    def map_hunk(hunk: Hunk) -> set[int]:
        return {line for was, now in passages if {*was} & {*_line_range(hunk)} for line in now}

    return map_hunk


def _line_range(hunk: Hunk) -> range:
    return range(hunk.line, hunk.end_line + 1)


def _find_touched_lines(before: str, new: str) -> set[int]:
    """Return the lines of ``new`` that ``before`` does not have, and the lines on either side of a deletion."""
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, before.split("\n"), new.split("\n"), autojunk=False)
    for tag, _, _, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            found |= {*range(j1 + 1, j2 + 1)} if j2 > j1 else {j1, j1 + 1}
    return found


def restate(items: Sequence[ReviewItem], *, old: str, new: str) -> list[ReviewItem]:
    """Relocate the items, and show the new text of the statement or passage that they had shown as chosen.

    The chosen text must have been a single simple statement, or a passage that stood in ``old`` word for word.
    """
    moved = relocate(items, old=old, new=new)
    if old == new or not items or not parses(old) or not parses(new):
        return moved
    was, now = _find_simple_statements(old), _find_simple_statements(new)
    shown = [
        _restate_statement(item, was.get(before.line), now.get(item.line))
        for before, item in zip(items, moved, strict=True)
    ]
    return [
        _restate_passage(before, item, old, new) if item == placed else item
        for before, placed, item in zip(items, moved, shown, strict=True)
    ]


def _restate_passage(before: ReviewItem, item: ReviewItem, old: str, new: str) -> ReviewItem:
    """Return the moved ``item`` showing ``new``'s text of the passage that ``before`` had shown."""
    last = _find_passage_end(before, old.split("\n"))
    if last is None:
        return item
    table, ends = _map_lines(old, new)
    first, end = table[before.line], ends[last]
    passage = textwrap.dedent(lines_of(new, first, end)).strip("\n")
    if end < first or passage.split() == before.chosen.split():
        return item
    return replace(item, chosen=passage, line=first, end_line=end)


def _find_passage_end(item: ReviewItem, lines: Sequence[str]) -> int | None:
    """Return the last line of the chosen text if it has several lines and stands line by line at the item's place."""
    wanted = strip_written_lines(item.chosen)
    if not item.in_file or len(wanted) < 2:
        return None
    written = [k for k, line in enumerate(lines[item.line - 1 :], start=item.line) if line.strip()][: len(wanted)]
    return written[-1] if [lines[k - 1].strip() for k in written] == wanted else None


def _restate_statement(item: ReviewItem, was: str | None, now: str | None) -> ReviewItem:
    is_about_it = was is not None and now is not None and not same_code(was, now) and same_code(was, item.chosen)
    return replace(item, chosen=now) if is_about_it and now is not None else item


def _find_simple_statements(text: str) -> dict[int, str]:
    """Return ``{first line: text}`` of the statements without a suite."""
    lines = text.split("\n")
    found = (node for node in walk(parse_unit(text)) if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return {node.lineno: textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno])) for node in found}


def show_as_written(items: Sequence[ReviewItem], text: str) -> list[ReviewItem]:
    """Return the items; an item about a single statement shows the statement in the layout of ``text``."""
    statements = {node.lineno: node for node in walk(module_of(text)) if isinstance(node, ast.stmt)} if items else {}
    return [_show_layout(item, statements.get(item.line), text) for item in items]


def _show_layout(item: ReviewItem, statement: ast.stmt | None, text: str) -> ReviewItem:
    """Return the item with ``statement`` in its present layout as chosen; unchanged if the code differs."""
    if statement is None or not item.in_file or isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return item
    end = statement.end_lineno or statement.lineno
    lines = textwrap.dedent(lines_of(text, statement.lineno, end))
    if lines == item.chosen or not same_code(lines, item.chosen):
        return item
    return replace(item, chosen=lines, end_line=end)


@lru_cache(maxsize=16)
def _map_lines(old: str, new: str) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """Return two tables ``{line in old: line in new}`` from a line diff, for first and for last lines of passages.

    The last line of replaced lines maps to the end of their replacement.
    """
    table: dict[int, int] = {}
    ends: dict[int, int] = {}
    was, now = old.split("\n"), new.split("\n")
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        spans = _match_letters(was[i1:i2], now[j1:j2]) if tag == "replace" else None
        if spans is not None:
            table |= {i1 + k: j1 + first for k, (first, _) in enumerate(spans, start=1)}
            ends |= {i1 + k: j1 + last for k, (_, last) in enumerate(spans, start=1)}
            continue
        mapped = {i + 1: min(j1 + i - i1, max(j2 - 1, j1)) + 1 for i in range(i1, i2)}
        table |= mapped
        ends |= {row: max(j1, 1) for row in mapped} if tag == "delete" else mapped | ({i2: j2} if mapped else {})
    return table, ends


def _opens(line: str) -> bool:
    return line.strip()[:1] in OPENERS


_LAYOUT = re.compile(r"[\s,()'\"]+")
"""Characters that a formatter adds, removes or replaces."""


def _match_letters(was: Sequence[str], now: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return, for each line of ``was``, the first and last 1-based line of ``now`` with its letters.

    Returns ``None`` if the texts differ by more than their layout.
    """
    old, new = ([_LAYOUT.sub("", line) for line in lines] for lines in (was, now))
    if "".join(old) != "".join(new):
        return None
    line_of = [k for k, letters in enumerate(new, start=1) for _ in letters] or [1]
    firsts = []
    for at, letters, line in zip(accumulate(map(len, old), initial=0), old, was, strict=False):
        # A line without a letter goes with the letter behind it if it opens a bracket, else with the one before it.
        at_or_before = at if letters or _opens(line) else at - 1
        first = line_of[min(max(at_or_before, 0), len(line_of) - 1)]
        while first > 1 and (letters or _opens(line)) and not new[first - 2] and _opens(now[first - 2]):
            first -= 1
        firsts.append(first)
    lasts = [max(first, following - 1) for first, following in pairwise([*firsts, len(now) + 1])]
    return list(zip(firsts, lasts, strict=True))


def drop_repeats(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Keep each decision once, at its first line: a unit may hold the same passage with the same change twice."""
    places: dict[str, list[ReviewItem]] = {}
    for item in items:
        places.setdefault(item.id, []).append(item)
    return [_join_repeats(alike) for alike in places.values()]


def _join_repeats(alike: Sequence[ReviewItem]) -> ReviewItem:
    first = min(alike, key=lambda item: item.line)
    others = ", ".join(f"line {line}" for line in sorted({item.line for item in alike} - {first.line}))
    return replace(first, reason=f"{first.reason}; the same again at {others}") if others else first
