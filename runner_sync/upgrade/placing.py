"""Keeps the line numbers of review items and hunks right while the text around them changes.

Comes in: review items and hunks, and the texts before and after. Goes out: the same with the line numbers after. May
touch: nothing.
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

from runner_sync.model import Hunk, ReviewItem
from runner_sync.statements import parse_unit, parses
from runner_sync.syntax import module_of, same_code, walk


def place(item: ReviewItem, unit: Sequence[str], start: int) -> ReviewItem:
    """``item`` with absolute lines: where the unit's final lines have its chosen text, nearest to its old place.

    It reaches as far as that text and as it did before: what it shows may stand apart.
    """
    wanted = [line.strip() for line in item.chosen.split("\n") if line.strip()]
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
    """The items with the line numbers that they have in ``new``."""
    if old == new or not items:
        return list(items)
    table, ends = _line_tables(old, new)
    return [
        replace(
            item,
            line=table.get(item.line, item.line),
            end_line=(ends if item.end_line > item.line else table).get(item.end_line, item.end_line),
        )
        for item in items
    ]


def without_undone(hunks: Sequence[Sequence[Hunk]], *, before: str, made: str, text: str) -> list[list[Hunk]]:
    """The hunks of each unit of ``made`` with their lines in its formatted ``text``, without those whose change
    formatting has undone: nothing of what their lines became differs from ``before`` any more."""
    if made == text:
        return [list(some) for some in hunks]
    was, now = (_lines_touched(before, new) for new in (made, text))
    became = _became(made, text)
    kept = []
    for some in hunks:
        pairs = zip(some, relocate(some, old=made, new=text), strict=True)
        kept.append([new for old, new in pairs if not was & {*_lines(old)} or now & {*_lines(new), *became(old)}])
    return kept


def _became(old: str, new: str) -> Callable[[Hunk], set[int]]:
    """What gives the lines in ``new`` that stand for the lines of a hunk of ``old``: of a passage that was laid out
    anew, all."""
    opcodes = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False).get_opcodes()
    passages = [(range(i1 + 1, i2 + 1), range(j1 + 1, j2 + 1)) for tag, i1, i2, j1, j2 in opcodes if tag == "replace"]

    def lines(hunk: Hunk) -> set[int]:
        return {line for was, now in passages if {*was} & {*_lines(hunk)} for line in now}

    return lines


def _lines(hunk: Hunk) -> range:
    return range(hunk.line, hunk.end_line + 1)


def _lines_touched(before: str, new: str) -> set[int]:
    """The lines of ``new`` that ``before`` does not have, and those on either side of lines that went."""
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, before.split("\n"), new.split("\n"), autojunk=False)
    for tag, _, _, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            found |= {*range(j1 + 1, j2 + 1)} if j2 > j1 else {j1, j1 + 1}
    return found


def restated(items: Sequence[ReviewItem], *, old: str, new: str) -> list[ReviewItem]:
    """``relocate``, and also the new text of what a question had shown as chosen: a single simple statement, or a
    passage that stood there word for word."""
    moved = relocate(items, old=old, new=new)
    if old == new or not items or not parses(old) or not parses(new):
        return moved
    was, now = _simple_statements(old), _simple_statements(new)
    shown = [
        _restated(item, was.get(before.line), now.get(item.line)) for before, item in zip(items, moved, strict=True)
    ]
    return [
        _as_passage(before, item, old, new) if item == placed else item
        for before, placed, item in zip(items, moved, shown, strict=True)
    ]


def _as_passage(before: ReviewItem, item: ReviewItem, old: str, new: str) -> ReviewItem:
    """The moved ``item`` with the passage that it had shown, from its first line to its last, as ``new`` has it."""
    last = _end_of_passage(before, old.split("\n"))
    if last is None:
        return item
    table, ends = _line_tables(old, new)
    first, end = table[before.line], ends[last]
    passage = textwrap.dedent("\n".join(new.split("\n")[first - 1 : end])).strip("\n")
    if end < first or passage.split() == before.chosen.split():
        return item
    return replace(item, chosen=passage, line=first, end_line=end)


def _end_of_passage(item: ReviewItem, lines: Sequence[str]) -> int | None:
    """The last line of what an item shows as chosen, if those are several lines that stand at its line one by one."""
    wanted = [line.strip() for line in item.chosen.split("\n") if line.strip()]
    if not item.in_file or len(wanted) < 2:
        return None
    written = [k for k, line in enumerate(lines[item.line - 1 :], start=item.line) if line.strip()][: len(wanted)]
    return written[-1] if [lines[k - 1].strip() for k in written] == wanted else None


def _restated(item: ReviewItem, was: str | None, now: str | None) -> ReviewItem:
    is_about_it = was is not None and now is not None and not same_code(was, now) and same_code(was, item.chosen)
    return replace(item, chosen=now) if is_about_it and now is not None else item


def _simple_statements(text: str) -> dict[int, str]:
    """``{first line: text}`` of the statements without a suite."""
    lines = text.split("\n")
    found = (node for node in walk(parse_unit(text)) if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return {node.lineno: textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno])) for node in found}


def as_written(items: Sequence[ReviewItem], text: str) -> list[ReviewItem]:
    """The items, each about a single statement showing it in the layout that ``text`` gives it."""
    found = {node.lineno: node for node in walk(module_of(text)) if isinstance(node, ast.stmt)} if items else {}
    return [_laid_out(item, found.get(item.line), text) for item in items]


def _laid_out(item: ReviewItem, statement: ast.stmt | None, text: str) -> ReviewItem:
    """The item with ``statement`` as chosen, in its present layout, if that is the same code; else as it is."""
    if statement is None or not item.in_file or isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return item
    end = statement.end_lineno or statement.lineno
    lines = textwrap.dedent("\n".join(text.split("\n")[statement.lineno - 1 : end]))
    if lines == item.chosen or not same_code(lines, item.chosen):
        return item
    return replace(item, chosen=lines, end_line=end)


@lru_cache(maxsize=16)
def _line_tables(old: str, new: str) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """``{line in old: corresponding line in new}`` by a diff of the lines, for a line that begins a passage and for one
    that ends it, which goes with the end of the lines that replaced it."""
    table: dict[int, int] = {}
    ends: dict[int, int] = {}
    was, now = old.split("\n"), new.split("\n")
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        spans = _spans_by_letters(was[i1:i2], now[j1:j2]) if tag == "replace" else None
        if spans is not None:
            table |= {i1 + k: j1 + first for k, (first, _) in enumerate(spans, start=1)}
            ends |= {i1 + k: j1 + last for k, (_, last) in enumerate(spans, start=1)}
            continue
        rows = {i + 1: min(j1 + i - i1, max(j2 - 1, j1)) + 1 for i in range(i1, i2)}
        table |= rows
        ends |= {row: max(j1, 1) for row in rows} if tag == "delete" else rows | ({i2: j2} if rows else {})
    return table, ends


_LAYOUT = re.compile(r"[\s,()'\"]+")
"""What a formatter adds, takes out or exchanges."""


def _spans_by_letters(was: Sequence[str], now: Sequence[str]) -> list[tuple[int, int]] | None:
    """The first and the last line of ``now`` (from 1) that hold what each line of ``was`` held.

    ``None`` if the two differ by more than their layout.
    """
    old, new = ([_LAYOUT.sub("", line) for line in lines] for lines in (was, now))
    if "".join(old) != "".join(new):
        return None
    line_of = [k for k, letters in enumerate(new, start=1) for _ in letters] or [1]
    offsets = accumulate(map(len, old), initial=0)
    # A line without a letter, such as a closing bracket, goes with the letter before it.
    firsts = [line_of[at if letters else max(at - 1, 0)] for at, letters in zip(offsets, old, strict=False)]
    lasts = [max(first, following - 1) for first, following in pairwise([*firsts, len(now) + 1])]
    return list(zip(firsts, lasts, strict=True))


def without_repeats(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Each decision once, at its first line: a unit may hold the same passage with the same change twice."""
    places: dict[str, list[ReviewItem]] = {}
    for item in items:
        places.setdefault(item.id, []).append(item)
    return [_at_first(alike) for alike in places.values()]


def _at_first(alike: Sequence[ReviewItem]) -> ReviewItem:
    first = min(alike, key=lambda item: item.line)
    said = ", ".join(f"line {line}" for line in sorted({item.line for item in alike} - {first.line}))
    return replace(first, reason=f"{first.reason}; the same again at {said}") if said else first
