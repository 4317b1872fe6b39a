"""Where the statements of a function stand: in which suites, and which of them holds a node.

Comes in: a function. Goes out: `Places`. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from runner_sync.syntax import Function, children, suites_of, walk_suites


class Place(NamedTuple):
    """Where a statement, handler or case stands: directly below ``parent``, in ``suite`` behind ``before``.

    A handler or case stands in no suite.
    """

    parent: ast.AST
    suite: list[ast.stmt]
    before: Sequence[ast.stmt]


class Places:
    """The statements of a function and of the functions in it, each with its place."""

    def __init__(self, function: Function) -> None:
        self.statements: list[ast.stmt] = []
        self._places: dict[int, Place] = {}
        for node in walk_suites(function):
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                self._places[id(part)] = Place(node, [], ())
            for suite in suites_of([node]):
                self.statements += suite
                self._places |= {id(one): Place(node, suite, suite[:at]) for at, one in enumerate(suite)}

    def around(self, statement: ast.AST) -> Iterator[Place]:
        """Yield the place of a statement, of the statement that it is in, and so on."""
        place = self._places.get(id(statement))
        while place is not None:
            yield place
            place = self._places.get(id(place.parent))

    def holder(self, node: ast.AST) -> ast.stmt | None:
        """Return the innermost statement with ``node`` in it; ``None`` for a node of the head of the function."""
        return self._holders.get(id(node))

    @cached_property
    def _holders(self) -> dict[int, ast.stmt]:
        found: dict[int, ast.stmt] = {}
        for statement in self.statements:
            pending: list[ast.AST] = [statement]
            for node in pending:
                found[id(node)] = statement
                pending += [child for child in children(node) if id(child) not in self._places]
        return found
