"""Find what one statement or walrus assigns, in any syntactic form.

Comes in: an ``ast`` node. Goes out: its targets, each with its value and annotation. May touch: nothing. For example::

                            assignments_of               assigned_by
    a, *self.b = rows       a, self.b                    a, self.b
    self.n += (k := 1)      self.n                       self.n, k
    with g() as self.n:     self.n                       self.n
    while w := f():                                      w
    import a.b, c as d                                   a, d
    rows[0] = 1             rows[0]

Definitions are excluded, and so is what the suites of a statement assign: see `syntax.self_attributes_set` and
`syntax.assigned_names`. `statements.mentioning` gives the order in which names are bound and read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeGuard

from runner_sync.statements.mentioning import mentions
from runner_sync.syntax import Function, children, dotted_name, walk


def target_names(target: ast.expr) -> Iterator[ast.expr]:
    """Yield the names, attributes and subscripts that a target binds: ``a``, ``b.c`` and ``d`` for ``a, (b.c, *d)``."""
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from target_names(element)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)
    else:
        yield target


def targets_of(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """Return the targets of an assignment as they are written: ``a`` and ``b, c`` of ``a = b, c = rows``."""
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


_Assigned = tuple[ast.expr, ast.expr | None, ast.expr | None]


ASSIGNING = frozenset(
    {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith}
)
"""The node types that assign something."""


def assignments_of(statement: ast.AST) -> Iterable[_Assigned]:
    """Return (target, value, annotation) of everything that one statement or walrus assigns.

    The value is ``None`` if it is not a single expression: for ``a, b = …``, ``x += 1``, loops and ``with``.
    """
    # Called for every node of the trees, so it must be fast for nodes that assign nothing.
    return _iter_assignments(statement) if type(statement) in ASSIGNING else ()


def _iter_assignments(statement: ast.AST) -> Iterator[_Assigned]:
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


class Assigned(NamedTuple):
    """A name or dotted attribute that a statement assigns; ``value`` and ``annotation`` as in `assignments_of`."""

    name: str
    value: ast.expr | None = None
    annotation: ast.expr | None = None

    @property
    def is_bare(self) -> bool:
        """Whether this is an annotation without a value: ``rows: list[Row]``."""
        return self.value is None and self.annotation is not None


def assigned_by(statement: ast.stmt) -> Iterator[Assigned]:
    """Yield what a statement itself assigns, including ``:=`` and ``case`` bindings in its head, and imports except
    ``*``."""
    if isinstance(statement, _DEFINITION):
        return
    seen: set[int] = set()
    for target, value, annotation in assignments_of(statement):
        seen.add(id(target))
        name = dotted_name(target)
        if name is not None:
            yield Assigned(name, value, annotation)
    for mention in mentions(_iter_head(statement)) if _binds_in_passing(statement) else ():
        if mention.kind == "binds" and id(mention.node) not in seen and mention.name != "*":
            made = (node.value for node in walk(statement) if _is_walrus(node, mention.node))
            yield Assigned(mention.name, next(made, None))


def _binds_in_passing(statement: ast.stmt) -> bool:
    """Whether the head of a statement may bind more than its targets, so that its mentions must be read."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Match):
        return True
    return any(isinstance(node, ast.NamedExpr) for part in _iter_head(statement) for node in walk(part))


def _is_walrus(node: ast.AST, target: ast.AST) -> TypeGuard[ast.NamedExpr]:
    return isinstance(node, ast.NamedExpr) and node.target is target


def _iter_head(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement that are in none of its suites."""
    for part in children(statement):
        if isinstance(part, ast.match_case):
            yield from (part.pattern, *(() if part.guard is None else (part.guard,)))
        elif not isinstance(part, ast.stmt | ast.ExceptHandler):
            yield part


_DEFINITION = Function | ast.ClassDef
