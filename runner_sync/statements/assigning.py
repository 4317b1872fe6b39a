"""What one statement or walrus assigns, whatever its form.

Comes in: an ``ast`` node. Goes out: its targets, each with the value and the annotation that it is given. May touch:
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def target_names(target: ast.expr) -> Iterator[ast.expr]:
    """The names, attributes and subscripts that an assignment target binds: ``a``, ``b.c`` and ``d`` of
    ``a, (b.c, *d)``."""
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from target_names(element)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)
    else:
        yield target


_Assigned = tuple[ast.expr, ast.expr | None, ast.expr | None]


ASSIGNING = frozenset(
    {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith}
)
"""The kinds of node that assign something."""


def assignments_of(statement: ast.AST) -> Iterable[_Assigned]:
    """(target, value, annotation) of one statement or walrus; the value is ``None`` where no single expression is it:
    for ``a, b = …``, ``x += 1``, loops and ``with``."""
    # Called for every node of the trees, so nodes that assign nothing must cost nothing.
    return _assignments(statement) if type(statement) in ASSIGNING else ()


def _assignments(statement: ast.AST) -> Iterator[_Assigned]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            whole = not isinstance(target, ast.Tuple | ast.List)
            for name in target_names(target):
                yield name, statement.value if whole else None, None
    elif isinstance(statement, ast.AnnAssign):
        yield statement.target, statement.value, statement.annotation
    elif isinstance(statement, ast.AugAssign):
        yield statement.target, None, None
    elif isinstance(statement, ast.NamedExpr):
        yield statement.target, statement.value, None
    elif isinstance(statement, ast.For | ast.AsyncFor):
        for name in target_names(statement.target):
            yield name, None, None
    elif isinstance(statement, ast.With | ast.AsyncWith):
        for item in statement.items:
            if item.optional_vars is not None:
                for name in target_names(item.optional_vars):
                    yield name, None, None
