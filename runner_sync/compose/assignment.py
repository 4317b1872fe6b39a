"""Locals that are read before any path has set them, or that not every path has set.

Comes in: the text of a unit, or a suite. Goes out: names and lines. May touch: nothing.

A data-flow walk over the paths through a function keeps the set of names that some path has bound (the complement of
"definitely unassigned" in *The Java Language Specification*, chapter 16). A path ends at a return, raise, break or
continue: what it bound does not count after the branches join. Loop bodies are walked once: a read that comes before
every binding of the name, even within a loop, fails in the first iteration, whatever later ones do.

The same walk with the names that every path has bound is Java's "definitely assigned". What it reports need not be
wrong, because two branches may test the same condition; it shows where a change took a binding from some path.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence

from runner_sync.statements import bound_in, is_endless, may_swallow, mentions, parameters, takes_all, tree_of
from runner_sync.syntax import Function, walk

Bound = frozenset[str] | None
"""Names that some path has bound here (with ``Walk.certain`` every path); ``None`` where no path arrives."""


def read_too_early(text: str) -> dict[str, int]:
    """``{local name: 1-based line}`` of the first reads that no binding can precede."""
    return _first_early_reads(text, certain=False)


def read_unless_set(text: str) -> dict[str, int]:
    """``{local name: 1-based line}`` of the first reads that some path reaches without a binding."""
    return _first_early_reads(text, certain=True)


def locals_of(text: str) -> frozenset[str]:
    """The names that the functions of a unit bind in their bodies; none when it does not parse."""
    return frozenset(name for function in _functions(text) for name in bound_in(function.body))


def _first_early_reads(text: str, *, certain: bool) -> dict[str, int]:
    found: dict[str, int] = {}
    for function in _functions(text):
        walking = Walk(bound_in(function.body), certain=certain)
        walking.suite(function.body, frozenset(parameter.arg for parameter in parameters(function)))
        for name, line in walking.found.items():
            found.setdefault(name, line)
    return found


def _functions(text: str) -> list[Function]:
    return [node for node in walk(tree_of(text)) if isinstance(node, Function)]


class Walk:
    """The walk over the suite of a function or module; ``found`` are those of its ``locals`` that are read too early.

    Too early means before any binding; with ``certain``, on some path without a binding.
    """

    def __init__(self, own: frozenset[str] = frozenset(), *, certain: bool) -> None:
        self.certain = certain
        self.found: dict[str, int] = {}
        self.locals = own
        self.breaks: list[list[frozenset[str]]] = []
        self.rounds: list[list[frozenset[str]]] = []

    def suite(self, body: Iterable[ast.stmt], bound: Bound) -> Bound:
        """The names bound at the end of ``body`` if ``bound`` are bound before it."""
        for stmt in body:
            if bound is None:
                return None
            bound = self.statement(stmt, bound)
        return bound

    def statement(self, stmt: ast.stmt, bound: frozenset[str]) -> Bound:
        """The names bound after ``stmt`` if ``bound`` are bound before it; ``None`` where no path continues."""
        match stmt:
            case ast.If(test=test, body=body, orelse=orelse):
                bound = self.names([test], bound)
                return self.join(self.suite(body, bound), self.suite(orelse, bound))
            case ast.For(iter=sequence, target=target) | ast.AsyncFor(iter=sequence, target=target):
                return self.loop(stmt, self.names([sequence], bound), [target])
            case ast.While(test=test):
                return self.loop(stmt, self.names([test], bound), [])
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                bound = self.names(items, bound)
                inside = self.suite(body, bound)
                return self.join(inside, self.anywhere(body, bound)) if may_swallow(stmt) else inside
            case ast.Try() | ast.TryStar():
                return self.attempt(stmt, bound)
            case ast.Match(subject=subject, cases=cases):
                bound = self.names([subject], bound)
                ends = [self.suite(c.body, self.names([c.pattern, *filter(None, [c.guard])], bound)) for c in cases]
                return self.join(*ends) if takes_all(cases[-1]) else self.join(bound, *ends)
            case ast.AnnAssign(target=ast.Name(), value=None):
                return bound
            case ast.Return() | ast.Raise():
                self.names([stmt], bound)
                return None
            case ast.Break() | ast.Continue():
                # Outside of a loop these are invalid Python, but it is not this walk that reports it.
                loops = self.breaks if isinstance(stmt, ast.Break) else self.rounds
                if loops:
                    loops[-1].append(bound)
                return None
        return self.names([stmt], bound)

    def loop(self, stmt: ast.For | ast.AsyncFor | ast.While, bound: frozenset[str], target: list[ast.expr]) -> Bound:
        """The names bound after a loop."""
        self.breaks.append([])
        self.rounds.append([])
        inside = self.suite(stmt.body, self.names(target, bound))
        breaks, rounds = self.breaks.pop(), [*self.rounds.pop(), inside]
        if is_endless(stmt):
            # At a break any name bound in an earlier iteration may be bound; only names bound before the break must be.
            return self.join(*breaks, *(rounds if breaks and not self.certain else ()))
        ends = self.join(bound, *rounds, *breaks)
        return self.join(ends, self.suite(stmt.orelse, ends))

    def attempt(self, stmt: ast.Try | ast.TryStar, bound: frozenset[str]) -> Bound:
        """The names bound after a ``try``."""
        inside = self.suite(stmt.body, bound)
        anywhere = self.anywhere(stmt.body, bound)
        ends = [self.suite(stmt.orelse, inside) if stmt.orelse else inside]
        for handler in stmt.handlers:
            ends.append(self.suite(handler.body, anywhere | ({handler.name} if handler.name else set())))
        end = self.join(*ends)
        last = self.suite(stmt.finalbody, anywhere if end is None or self.certain else end)
        return None if end is None or last is None else last | end

    def anywhere(self, body: Sequence[ast.stmt], bound: frozenset[str]) -> frozenset[str]:
        """The names bound if an exception left ``body`` at any statement."""
        return bound if self.certain else bound | bound_in(body)

    def join(self, *ends: Bound) -> Bound:
        live = [end for end in ends if end is not None]
        if not live:
            return None
        return live[0].intersection(*live[1:]) if self.certain else live[0].union(*live[1:])

    def names(self, nodes: Sequence[ast.AST], bound: frozenset[str]) -> frozenset[str]:
        """The names bound after ``nodes``; their reads are checked in the order of evaluation."""
        for name, node, kind, later in mentions(nodes):
            if later:
                continue
            needs = kind in ("reads", "updates", "deletes")
            if needs and name in self.locals and name not in bound and not hasattr(builtins, name):
                self.found.setdefault(name, getattr(node, "lineno", 0))
            bound = bound - {name} if kind == "deletes" else bound | {name}
        return bound
