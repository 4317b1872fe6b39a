"""Pairs the lines of two layouts of one module, statement by statement.

Comes in: the lines of both. Goes out: spans of lines that say the same. May touch: nothing.

A comparison of lines pairs a line with an equal one elsewhere if the layouts differ much, and a choice between such
spans loses statements. The statements of two layouts correspond one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from runner_sync.syntax import first_line, module_of, suites_of, walk_suites

Span = tuple[int, int]
"""The first line and the one behind the last, both from 0."""


def pair_lines(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[Span, Span]]:
    """Yield the spans of both layouts, in order and without gaps.

    A span is a simple statement, the head of a compound one, or what stands between two of these: comments, blank
    lines and clauses such as ``else:``. Statements that share a line in either layout are one span, and so is all if
    the statements differ in number. Raises ``SyntaxError`` if one side does not parse.
    """
    sides = [_find_cuts(lines) for lines in (one, other)]
    pairs = zip(*sides, strict=True) if len(sides[0]) == len(sides[1]) else ()
    cuts = [(i, j) for i, j in pairs if i is not None and j is not None]
    for (i1, j1), (i2, j2) in pairwise([(0, 0), *cuts, (len(one), len(other))]):
        yield (i1, i2), (j1, j2)


def _find_cuts(lines: Sequence[str]) -> list[int | None]:
    """Return the line at which each statement begins, and the line behind each simple one; ``None`` within a line."""
    statements = [node for node in walk_suites(module_of("\n".join(lines))) if isinstance(node, ast.stmt)]
    in_order = sorted(statements, key=lambda node: (node.lineno, node.col_offset))
    return [cut for node in in_order for cut in _find_ends(node, lines)]


def _find_ends(node: ast.stmt, lines: Sequence[str]) -> Iterator[int | None]:
    first = first_line(node) - 1
    yield None if lines[first].encode()[: node.col_offset].strip() else first
    if not any(suites_of([node])) and not isinstance(node, ast.Match):
        last = (node.end_lineno or node.lineno) - 1
        behind = lines[last].encode()[node.end_col_offset :].strip()
        yield None if behind and not behind.startswith(b"#") else last + 1
