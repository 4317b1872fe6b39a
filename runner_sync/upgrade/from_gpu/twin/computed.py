"""Compares the values that methods compute, regardless of statement position and assignment target.

Comes in: texts of methods and functions. Goes out: ``Computed`` values and row ranges. May touch: nothing.

A helper's statements change shape where another method has them in line: a ``return`` becomes an assignment, and locals
get other names. The expressions stay the same::

    helper     ids = set(rows)                 in line    chosen = set(rows)
               return [r for r in ids]                    rows = [r for r in chosen]
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from runner_sync.lineage import FEWEST
from runner_sync.lineage.inlined import IN_PLACE
from runner_sync.statements import first_function
from runner_sync.statements.parsing import parses
from runner_sync.syntax import Function, walk
from runner_sync.thresholds import REACH


class Computed(NamedTuple):
    """The value that a statement computes, its first row, the last row of it or its head, and its first line."""

    value: str
    first: int
    last: int
    head: str


@lru_cache(maxsize=1024)
def find_computed(text: str) -> tuple[Computed, ...]:
    """Return a ``Computed`` for each telling statement, in order, including nested functions; empty for other texts."""
    function = first_function(text) if parses(text) else None
    found = [node for node in walk(function) if isinstance(node, ast.stmt)][1:] if function is not None else []
    return tuple(one for node in sorted(found, key=lambda node: node.lineno) for one in _extract_value(node))


def count_values(text: str) -> Counter[str]:
    """Count the values that the statements of a method compute."""
    return Counter(one.value for one in find_computed(text))


def is_most_of(part: str, text: str) -> bool:
    """Whether ``text`` computes most of the values of the function ``part``."""
    return _is_most((count_values(part) & count_values(text)).total(), part)


def find_passage(part: str, text: str) -> tuple[int, int] | None:
    """Return the first and last row where the method ``text`` computes most of the function ``part``, or ``None``."""
    wanted, reach = count_values(part), REACH * len(part.strip().split("\n"))
    found = [one for one in find_computed(text) if one.value in wanted]
    windows = ([two for two in found if one.first <= two.first < one.first + reach] for one in found)
    best = max(windows, key=lambda window: _count_shared(window, wanted), default=[])
    if not _is_most(_count_shared(best, wanted), part):
        return None
    return best[0].first, max(one.last for one in best)


def _count_shared(window: list[Computed], wanted: Counter[str]) -> int:
    return (Counter(one.value for one in window) & wanted).total()


def _is_most(shared: int, part: str) -> bool:
    return shared >= FEWEST and shared >= IN_PLACE * count_values(part).total()


def _extract_value(statement: ast.stmt) -> Iterator[Computed]:
    """Yield the ``Computed`` of a statement, unless its value is just a name or a constant."""
    value = _unparse_value(statement)
    if value is None:
        return
    head = ast.unparse(statement).split("\n")[0]
    body = getattr(statement, "body", None)
    is_open = isinstance(body, list) and not isinstance(statement, Function)
    last = max(statement.lineno, body[0].lineno - 1) if isinstance(body, list) and is_open else statement.end_lineno
    yield Computed(_CLASS.sub("self.", value), statement.lineno, last or statement.lineno, head)


_CLASS = re.compile(r"(?<![\w.])(?:cls|[A-Z]\w*[a-z]\w*)\.(?=[a-z_]\w*\()")
"""The class in a call of a static method, which other callers write as ``self``."""


def _unparse_value(statement: ast.stmt) -> str | None:
    if isinstance(statement, Function):
        return f"def {statement.name}"
    if isinstance(statement, ast.For | ast.AsyncFor):
        return f"for {ast.unparse(statement.target)} in {ast.unparse(statement.iter)}"
    if isinstance(statement, ast.With | ast.AsyncWith):
        return ", ".join(map(ast.unparse, statement.items))
    value = getattr(statement, "value", None) or getattr(statement, "test", None) or getattr(statement, "exc", None)
    is_telling = isinstance(value, ast.expr) and any(isinstance(node, _TELLING) for node in walk(value))
    return ast.unparse(value) if is_telling and isinstance(value, ast.expr) else None


_TELLING = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.DictComp,
    ast.GeneratorExp,
    ast.IfExp,
    ast.ListComp,
    ast.SetComp,
    ast.Subscript,
)
"""Node types that make an expression identify its statement."""
