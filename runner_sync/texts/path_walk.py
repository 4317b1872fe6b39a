"""Walks the paths through a function with the facts that hold on them: the frame of a forward data-flow analysis.

Comes in: statements, and what an analysis does with names, loops and exceptions. Goes out: the facts at the end of the
paths. May touch: nothing.

A path ends at a return, raise, break or continue; the facts of a break or continue arrive at the end of the loop or of
its round (Kam and Ullman, "Monotone Data Flow Analysis Frameworks", Acta Informatica 7, 1977, on structured code).
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from runner_sync.statements import may_swallow, takes_all

Fact = TypeVar("Fact")
Loop = ast.For | ast.AsyncFor | ast.While


class Round(NamedTuple, Generic[Fact]):
    """What the paths through the body of a loop end with: those that come round again, and those that break."""

    again: list[frozenset[Fact] | None]
    breaks: list[frozenset[Fact]]


class PathWalk(ABC, Generic[Fact]):
    """Walks suites with the facts that hold; an analysis says what names, loops, ``try`` and joins do to them."""

    def __init__(self) -> None:
        self._open_loops: list[Round[Fact]] = []

    def walk_suite(self, body: Iterable[ast.stmt], facts: frozenset[Fact] | None) -> frozenset[Fact] | None:
        """Return the facts at the end of ``body`` if ``facts`` hold before it; ``None`` if no path arrives there."""
        for statement in body:
            if facts is None:
                return None
            facts = self.walk_statement(statement, facts)
        return facts

    def walk_statement(self, statement: ast.stmt, facts: frozenset[Fact]) -> frozenset[Fact] | None:
        """Return the facts behind ``statement`` if ``facts`` hold before it; ``None`` if no path continues."""
        line = statement.lineno
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                facts = self.evaluate([test], line, facts)
                return self.join(self.walk_suite(body, facts), self.walk_suite(orelse, facts))
            case ast.For(iter=sequence) | ast.AsyncFor(iter=sequence):
                return self.walk_loop(statement, self.evaluate([sequence], line, facts))
            case ast.While():
                return self.walk_loop(statement, facts)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                inside, failed = self.walk_tried(body, self.evaluate(items, line, facts))
                return self.join(inside, failed) if may_swallow(statement) else inside
            case ast.Try() | ast.TryStar():
                return self.walk_try(statement, facts)
            case ast.Match(subject=subject, cases=cases):
                facts = self.evaluate([subject], line, facts)
                ends: list[frozenset[Fact] | None] = [] if takes_all(cases[-1]) else [facts]
                for case in cases:
                    head = [case.pattern, *([case.guard] if case.guard else [])]
                    ends.append(self.walk_suite(case.body, self.evaluate(head, case.pattern.lineno, facts)))
                return self.join(*ends)
            case ast.AnnAssign(target=ast.Name(), value=None):
                return facts
            case ast.Return() | ast.Raise():
                self.evaluate([statement], line, facts)
                return None
            case ast.Break() | ast.Continue():
                # Outside a loop these are invalid Python; other code reports that.
                if self._open_loops:
                    again, breaks = self._open_loops[-1]
                    (breaks if isinstance(statement, ast.Break) else again).append(facts)
                return None
        return self.evaluate([statement], line, facts)

    def walk_round(self, loop: Loop, facts: frozenset[Fact]) -> Round[Fact]:
        """Return what the paths through the body of ``loop`` end with if ``facts`` hold behind its head."""
        self._open_loops.append(Round([], []))
        end = self.walk_suite(loop.body, facts)
        ends = self._open_loops.pop()
        ends.again.append(end)
        return ends

    @abstractmethod
    def evaluate(self, nodes: Sequence[ast.AST], line: int, facts: frozenset[Fact]) -> frozenset[Fact]:
        """Return the facts behind ``nodes`` of the statement (or the head) at ``line``."""

    @abstractmethod
    def walk_loop(self, loop: Loop, facts: frozenset[Fact]) -> frozenset[Fact] | None:
        """Return the facts behind ``loop``; what a ``for`` iterates over is evaluated already."""

    @abstractmethod
    def walk_try(self, statement: ast.Try | ast.TryStar, facts: frozenset[Fact]) -> frozenset[Fact] | None:
        """Return the facts behind a ``try``."""

    @abstractmethod
    def walk_tried(
        self, body: Sequence[ast.stmt], facts: frozenset[Fact]
    ) -> tuple[frozenset[Fact] | None, frozenset[Fact]]:
        """Return the facts at the end of ``body``, and those that an exception anywhere in it may leave."""

    @abstractmethod
    def join(self, *ends: frozenset[Fact] | None) -> frozenset[Fact] | None:
        """Return the facts where several paths meet; ``None`` if none of them arrives."""


def union_of(*ends: frozenset[Fact] | None) -> frozenset[Fact] | None:
    """Return the facts of all ``ends`` that arrive; ``None`` if none does."""
    live = [end for end in ends if end is not None]
    return frozenset().union(*live) if live else None
