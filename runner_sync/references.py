"""Resolve a class expression through aliases, conditional expressions, imports, re-exports and star imports.

    Base = A if is_310p() else B       # resolves to what `A` and `B` resolve to
    class Runner(Base): ...

Comes in: statements, or an expression and a function that resolves a name in one place. Goes out: `Binding` values, or
the meanings of the expression. May touch: nothing.

Four parts of the program resolve names this way, each in its own places: `units.bases` in the pieces of one module;
`sync.classes.module_texts` in the texts of the trees that an upgrade reads; `verify.runners.job` in the omni files
that `check` parses; `verify.trees.world` in whole trees.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from runner_sync.naming import Import, imported_by
from runner_sync.syntax import blocks_of, dotted_name

Place = TypeVar("Place", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """What a module-level statement binds ``name`` to: an import, a value, or (``None``) a class of that name.

    ``name`` is ``*`` for a star import, and the whole ``a.b`` for ``import a.b``. ``condition`` is the enclosing code
    that decides whether the statement runs, or empty.
    """

    name: str
    to: Import | ast.expr | None
    condition: str


def find_bindings(body: Iterable[ast.stmt], condition: str = "") -> Iterator[Binding]:
    """Yield what module-level code, including compound statements, binds by imports, classes and assignments to a
    name."""
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                for entry in imported_by(node):
                    yield Binding(entry.module if entry.binds_package else entry.bound, entry, condition)
            case ast.ClassDef():
                yield Binding(node.name, None, condition)
            case ast.Assign(targets=targets, value=value):
                yield from (Binding(name.id, value, condition) for name in targets if isinstance(name, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield Binding(name, value, condition)
            case _:
                for inner, block in _iter_conditional_suites(node):
                    yield from find_bindings(block, conjoin(condition, inner))


def _iter_conditional_suites(node: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield the suites of a compound statement, each with the condition under which it runs."""
    match node:
        case ast.If():
            test = ast.unparse(node.test)
            yield test, node.body
            yield f"not ({test})", node.orelse
        case ast.Try() | ast.TryStar():
            yield "try", [*node.body, *node.orelse, *node.finalbody]
            for handler in node.handlers:
                yield f"except {ast.unparse(handler.type) if handler.type else 'BaseException'}", handler.body
        case ast.Match():
            subject = ast.unparse(node.subject)
            for case in node.cases:
                guard = f" if {ast.unparse(case.guard)}" if case.guard is not None else ""
                yield f"match {subject}: case {ast.unparse(case.pattern)}{guard}", case.body
        case ast.With() | ast.AsyncWith():
            yield f"with {', '.join(ast.unparse(item) for item in node.items)}", node.body
        case _:
            yield from (("a loop", block) for block in blocks_of(node))


def conjoin(outer: str, inner: str) -> str:
    """Combine two conditions, either of which may be empty."""
    return f"{outer} and {inner}" if outer and inner else outer or inner


def alternatives(expression: ast.expr, condition: str = "") -> Iterator[tuple[ast.expr, str]]:
    """Yield the expressions that a class reference may stand for, each with its condition.

    ``A[T] if new else B`` yields ``A`` and ``B``.
    """
    if isinstance(expression, ast.IfExp):
        test = ast.unparse(expression.test)
        yield from alternatives(expression.body, conjoin(condition, test))
        yield from alternatives(expression.orelse, conjoin(condition, f"not ({test})"))
    elif isinstance(expression, ast.Subscript):
        yield from alternatives(expression.value, condition)
    else:
        yield expression, condition


@dataclass(frozen=True, slots=True, eq=False)
class Reference(Generic[Place, Answer]):
    """An expression or a dotted name that refers to a class in ``place``.

    ``otherwise`` is the answer if the name has no meaning there.
    """

    place: Place
    expression: ast.expr | str
    otherwise: Answer | None = None


Meanings = Callable[[Place, str], Iterable["tuple[Answer | Reference[Place, Answer], str]"]]
"""Returns what a dotted name (``""``: any other expression) means in a place: answers, and references to follow, each
with its condition."""


def followed(
    start: Reference[Place, Answer], meanings: Meanings[Place, Answer], seen: frozenset[tuple[Place, str]] = frozenset()
) -> Iterator[tuple[Answer, str]]:
    """Yield all meanings of a reference, each with its condition; skip names that lead back to themselves."""
    is_bound = False
    for name, condition in _iter_names(start.expression):
        if (start.place, name) in seen or _has_grown(start.place, name, seen):
            continue
        inner = seen | {(start.place, name)}
        for one, when in meanings(start.place, name):
            for answer, under in followed(one, meanings, inner) if isinstance(one, Reference) else [(one, "")]:
                is_bound = True
                yield answer, conjoin(conjoin(condition, when), under)
    if not is_bound and start.otherwise is not None:
        yield start.otherwise, ""


def _has_grown(place: Hashable, name: str, seen: Collection[tuple[Hashable, str]]) -> bool:
    """Whether a name leads back to itself with more attributes, and so would grow for ever: ``C = C.inner``."""
    head, *rest = name.split(".")
    return any(at == place and old.split(".")[0] == head and old.count(".") < len(rest) for at, old in seen)


def _iter_names(expression: ast.expr | str) -> Iterator[tuple[str, str]]:
    if isinstance(expression, str):
        yield expression, ""
    else:
        yield from ((dotted_name(part) or "", condition) for part, condition in alternatives(expression))
