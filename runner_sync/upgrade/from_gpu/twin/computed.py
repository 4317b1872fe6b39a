"""What the statements of a method compute, wherever they stand and whatever they assign it to.

Comes in: texts of methods and functions. Goes out: ``Computed`` values and rows. May touch: nothing.

A helper's statements that stand in line in another method have another shape there: a ``return`` is an assignment, and
a local of another name takes the value. The expressions are the same::

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
from runner_sync.statements import first_function
from runner_sync.statements.parsing import parses
from runner_sync.syntax import walk
from runner_sync.upgrade.from_gpu.twin.inlined import IN_PLACE

REACH = 2
"""The statements of a helper stand in line if they lie within this many times its own number of rows; a judgement."""


class Computed(NamedTuple):
    """What a statement computes, its first row and the last one of it or of its head, and how it begins."""

    value: str
    first: int
    last: int
    head: str


@lru_cache(maxsize=1024)
def computed(text: str) -> tuple[Computed, ...]:
    """What each telling statement of a method computes, nested functions included, in their order; none if the text is
    no function."""
    function = first_function(text) if parses(text) else None
    found = [node for node in walk(function) if isinstance(node, ast.stmt)][1:] if function is not None else []
    return tuple(one for node in sorted(found, key=lambda node: node.lineno) for one in _of(node))


def values(text: str) -> Counter[str]:
    """The multiset of what the statements of a method compute."""
    return Counter(one.value for one in computed(text))


def is_most_of(part: str, text: str) -> bool:
    """Whether ``text`` computes most of what the function ``part`` does."""
    return _is_most((values(part) & values(text)).total(), part)


def passage(part: str, text: str) -> tuple[int, int] | None:
    """First and last row of the place where the method ``text`` computes most of what the function ``part`` does."""
    wanted, reach = values(part), REACH * len(part.strip().split("\n"))
    found = [one for one in computed(text) if one.value in wanted]
    windows = ([two for two in found if one.first <= two.first < one.first + reach] for one in found)
    best = max(windows, key=lambda window: _shared(window, wanted), default=[])
    if not _is_most(_shared(best, wanted), part):
        return None
    return best[0].first, max(one.last for one in best)


def _shared(window: list[Computed], wanted: Counter[str]) -> int:
    return (Counter(one.value for one in window) & wanted).total()


def _is_most(shared: int, part: str) -> bool:
    return shared >= FEWEST and shared >= IN_PLACE * values(part).total()


def _of(statement: ast.stmt) -> Iterator[Computed]:
    """What a statement computes, if that is more than a name or a constant."""
    value = _value(statement)
    if value is None:
        return
    head = ast.unparse(statement).split("\n")[0]
    body = getattr(statement, "body", None)
    is_open = isinstance(body, list) and not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
    last = max(statement.lineno, body[0].lineno - 1) if isinstance(body, list) and is_open else statement.end_lineno
    yield Computed(_CLASS.sub("self.", value), statement.lineno, last or statement.lineno, head)


_CLASS = re.compile(r"(?<![\w.])(?:cls|[A-Z]\w*[a-z]\w*)\.(?=[a-z_]\w*\()")
"""The class in a call of a static method, which other callers address as ``self``."""


def _value(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
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
"""What makes an expression identify its statement."""
