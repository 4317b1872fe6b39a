"""One function definition: its nodes, the attributes that it reads, its decorators, and what a call of it returns.

Comes in: the ``ast`` node of a function. Goes out: answers read off it. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from runner_sync.signatures import decorator_names, defaults_of
from runner_sync.statements import leaving
from runner_sync.syntax import Function, assigned_names, children, is_none, names_in, statements_of, string_of, walk


@functools.lru_cache(maxsize=16384)
def nodes_of(function: Function) -> tuple[ast.AST, ...]:
    """Return ``ast.walk`` of a function. Cached, because most rules look at the same few hundred methods."""
    return tuple(walk(function))


_Node = TypeVar("_Node", bound=ast.AST)


def kind_of(function: Function, kind: type[_Node]) -> Sequence[_Node]:
    """Return the nodes of one kind in a function, in the order of `nodes_of`."""
    return _group_by_kind(function).get(kind, ())  # type: ignore[return-value]


@functools.lru_cache(maxsize=16384)
def _group_by_kind(function: Function) -> dict[type[ast.AST], list[ast.AST]]:
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in nodes_of(function):
        found.setdefault(node.__class__, []).append(node)
    return found


@functools.lru_cache(maxsize=4096)
def parents_of(function: Function) -> dict[int, ast.AST]:
    """Return the parent of each node of a function, by the node's id."""
    return {id(part): node for node in nodes_of(function) for part in children(node)}


class Place(NamedTuple):
    """The position of a node in a function: its ``number`` in a pre-order walk, the ``last`` number below it, its
    statement's first ``line``."""

    number: int
    last: int
    line: int

    def holds(self, other: Place | None) -> bool:
        """Whether ``other`` is the place of the same node or of a node below it. ``False`` for ``None``."""
        return other is not None and self.number <= other.number <= self.last


@functools.lru_cache(maxsize=4096)
def places_of(function: Function) -> dict[int, Place]:
    """Return the place of each node of a function, by the node's id.

    Comparing two places tells whether a node stands in another, without a walk for each guard.
    """
    order: list[ast.AST] = []
    lines: list[int] = []
    parents: list[int] = []
    todo: list[tuple[ast.AST, int, int]] = [(function, 0, function.lineno)]
    while todo:
        node, parent, line = todo.pop()
        line = node.lineno if isinstance(node, ast.stmt) else line
        todo += ((child, len(order), line) for child in children(node))
        order.append(node)
        lines.append(line)
        parents.append(parent)
    lasts = [*range(len(order))]
    for number in reversed(range(len(order))):
        lasts[parents[number]] = max(lasts[parents[number]], lasts[number])
    return {id(node): Place(number, lasts[number], lines[number]) for number, node in enumerate(order)}


def calls_of(function: Function) -> Iterator[ast.Call]:
    """Return the calls in a function, also those in nested functions."""
    return iter(kind_of(function, ast.Call))


@functools.lru_cache(maxsize=16384)
def reads_of(function: Function) -> tuple[ast.Attribute, ...]:
    """Return the attributes that a function reads, on any object."""
    return tuple(node for node in kind_of(function, ast.Attribute) if isinstance(node.ctx, ast.Load))


@functools.lru_cache(maxsize=16384)
def words_of(function: Function) -> frozenset[str]:
    """Return the names of all attributes in a function, and its strings, which may be such names: ``getattr(self,
    "x")``."""
    return strings_of(function).union(node.attr for node in kind_of(function, ast.Attribute))


@functools.lru_cache(maxsize=16384)
def strings_of(function: Function) -> frozenset[str]:
    """Return the values of the string literals in a function."""
    return frozenset(text for node in kind_of(function, ast.Constant) if (text := string_of(node)) is not None)


@functools.lru_cache(maxsize=16384)
def changes_of(function: Function) -> tuple[ast.Attribute, ...]:
    """Return the attributes that a function reads in order to change them: ``self.x += 1``."""
    targets = (node.target for node in kind_of(function, ast.AugAssign))
    return tuple(target for target in targets if isinstance(target, ast.Attribute))


def returns_of(function: Function) -> Iterator[ast.expr | None]:
    """Return the values of the function's own ``return`` statements; ``None`` for a bare ``return``."""
    return (statement.value for statement in statements_of(function.body) if isinstance(statement, ast.Return))


@functools.lru_cache(maxsize=16384)
def results_of(function: Function) -> tuple[ast.expr | None, ...]:
    """Return `returns_of`, with a tuple in place of a local that is set once, to this tuple: ``made = a, b``, ``return
    made``."""
    return tuple(_find_tuple(function, value) or value for value in returns_of(function))


def _find_tuple(function: Function, value: ast.expr | None) -> ast.Tuple | None:
    if not isinstance(value, ast.Name):
        return None
    names = (node for node in kind_of(function, ast.Name) if node.id == value.id and not isinstance(node.ctx, ast.Load))
    setters = [*names, *(parameter for parameter in kind_of(function, ast.arg) if parameter.arg == value.id)]
    plain = ((one.targets[0], one.value) for one in kind_of(function, ast.Assign))
    annotated = ((one.target, one.value) for one in kind_of(function, ast.AnnAssign))
    made = (value for target, value in (*plain, *annotated) if setters == [target])
    return next((value for value in made if isinstance(value, ast.Tuple)), None)


@functools.lru_cache(maxsize=16384)
def find_asserted(function: Function) -> frozenset[str]:
    """Return the parameters with default ``None`` that every call must nevertheless give: ``assert rows is not None``.

    Skips a parameter that an earlier statement assigns, or that an earlier statement with a ``return`` mentions.
    """
    found: set[str] = set()
    candidates = find_none_defaults(function)
    for statement in function.body if candidates else ():
        found |= candidates & find_required_name(statement)
        candidates -= assigned_names(statement)
        if any(isinstance(inner, ast.Return) for inner in statements_of([statement])):
            candidates -= names_in(statement)
    return frozenset(found)


def find_none_defaults(function: Function) -> set[str]:
    """Return the parameters whose default is ``None``."""
    return {name for name, default in defaults_of(function).items() if is_none(default)}


def find_required_name(statement: ast.stmt) -> set[str]:
    """Return the name, if any, that a statement requires not to be ``None``: ``assert x``, ``if x is None: …
    raise``."""
    match statement:
        case ast.Assert(test=ast.Name(id=name)):
            return {name}
        case ast.Assert(test=ast.Compare(ast.Name(id=name), [ast.IsNot()], [ast.Constant(value=None)])):
            return {name}
        case ast.If(ast.Compare(ast.Name(id=name), [ast.Is()], [ast.Constant(value=None)]), [*_, ast.Raise()]):
            return {name}
    return set()


@functools.lru_cache(maxsize=16384)
def yields(function: Function) -> bool:
    """Whether a function has a ``yield`` of its own, so that a call only makes a generator."""
    # A quick test: hardly any function has a `yield`.
    has_one = any(kind_of(function, kind) for kind in _YIELDS)
    return has_one and leaving.yields(function.body)


_YIELDS: tuple[type[ast.expr], ...] = (ast.Yield, ast.YieldFrom)


def is_plain(function: Function) -> bool:
    """Whether a call gives the value of ``return``: the function is no generator, coroutine, property or context
    manager."""
    if isinstance(function, ast.AsyncFunctionDef) or decorator_names(function) & _REMADE:
        return False
    return not yields(function)


_REMADE = frozenset({"contextmanager", "property", "overload", "abstractmethod"})
"""Decorators under which a call may give something other than the function returns."""
