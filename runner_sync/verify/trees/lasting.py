"""Which assignments of an attribute in constructors do not last, because a derived class's constructor replaces them.

Comes in: an MRO and the assignments of one attribute. Goes out: those that last. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.syntax import Function, is_parent, walk
from runner_sync.verify.trees.classes import Assignment, ClassInfo, Mro


def drop_replaced(
    mro: Mro, name: str, written: Sequence[tuple[ClassInfo, Assignment]]
) -> list[tuple[ClassInfo, Assignment]]:
    """Return ``written``, the assignments of ``name``, without those that a constructor before them replaces."""
    first = next((info for info, assignment in written if _replaces(assignment, name)), None)
    behind = mro.behind(first) if first is not None else ()
    return [(info, a) for info, a in written if info not in behind or not _is_in_constructor(a)]


def _is_in_constructor(assignment: Assignment) -> bool:
    return assignment.function is not None and assignment.function.name == "__init__"


def _replaces(assignment: Assignment, name: str) -> bool:
    """Whether an assignment always runs after the parent's constructor, and does not use what that set."""
    function, value = assignment.function, assignment.value
    if function is None or value is None or not _is_in_constructor(assignment):
        return False
    uses = any(isinstance(node, ast.Attribute) and node.attr == name for node in walk(value))
    return not uses and id(assignment.node) in _find_last_statements(function)


@functools.lru_cache(maxsize=4096)
def _find_last_statements(constructor: Function) -> frozenset[int]:
    """Return the ids of the statements that always run after ``super().__init__(…)``."""
    found: list[ast.stmt] = []
    has_called = False
    for statement in _iter_unconditional(constructor.body):
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(parent, "__init__"))) if is_parent(parent):
                found, has_called = [], True
            case ast.Assign() | ast.AnnAssign() if has_called:
                found.append(statement)
            case _ if any(isinstance(node, ast.Return) for node in walk(statement)):
                break
    return frozenset(map(id, found))


def _iter_unconditional(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block that run whenever it does: with those in a ``with``."""
    for statement in block:
        if isinstance(statement, ast.With):
            yield from _iter_unconditional(statement.body)
        else:
            yield statement
