"""Finds locals that are read before any path has set them, or that not every path has set.

Comes in: the text of a unit, or a suite. Goes out: names and lines. May touch: nothing.

A data-flow walk over the paths through a function keeps the set of names that some path has bound (the complement of
"definitely unassigned" in *The Java Language Specification*, chapter 16). A path ends at a return, raise, break or
continue, so its bindings do not count after the branches join. Loop bodies are walked once, because a read before every
binding of the name fails in the first iteration, whatever later ones do.

The same walk with the names that every path has bound is Java's "definitely assigned". Its reports need not be errors,
because two branches may test the same condition; they show where a change took a binding from some path.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from runner_sync.statements import bound_in, is_endless, may_swallow, mentions, parameters, takes_all, tree_of
from runner_sync.syntax import Function, walk_suites

Bound = frozenset[str] | None
"""Names that some path has bound here (with ``Walk.certain`` every path); ``None`` if no path arrives."""


@lru_cache(maxsize=1024)
def find_early_reads(text: str) -> Mapping[str, int]:
    """Return ``{local name: 1-based line}`` of the first reads that no binding can precede."""
    return _first_early_reads(text, certain=False)


def find_reads_before_all(function: Function) -> Mapping[str, int]:
    """Return ``{local name: 1-based line}`` of the first reads in ``function`` that no binding can precede.

    Unlike ``find_early_reads``, leaves out reads in a loop that binds the name: a flag may keep them to later rounds.
    """
    return _walk_function(WalkOfRounds(bound_in(function.body), certain=False), function)


@lru_cache(maxsize=1024)
def find_unsure_reads(text: str) -> Mapping[str, int]:
    """Return ``{local name: 1-based line}`` of the first reads that some path reaches without a binding."""
    return _first_early_reads(text, certain=True)


@lru_cache(maxsize=1024)
def find_locals(text: str) -> frozenset[str]:
    """Return the names that the functions of a unit bind in their bodies; none if it does not parse."""
    return frozenset(name for function in _find_functions(text) for name in bound_in(function.body))


def _first_early_reads(text: str, *, certain: bool) -> dict[str, int]:
    found: dict[str, int] = {}
    for function in _find_functions(text):
        for name, line in _walk_function(Walk(bound_in(function.body), certain=certain), function).items():
            found.setdefault(name, line)
    return found


def _walk_function(walking: Walk, function: Function) -> dict[str, int]:
    walking.walk_suite(function.body, frozenset(parameter.arg for parameter in parameters(function)))
    return walking.found


def _find_functions(text: str) -> list[Function]:
    return [node for node in walk_suites(tree_of(text)) if isinstance(node, Function)]


class Walk:
    """Walks the suite of a function or module; ``found`` are the ``locals`` that are read too early, with their lines.

    Too early means before any binding; with ``certain``, on some path without a binding.
    """

    def __init__(self, own: frozenset[str] = frozenset(), *, certain: bool) -> None:
        self.certain = certain
        self.found: dict[str, int] = {}
        self.locals = own
        self.breaks: list[list[frozenset[str]]] = []
        self.rounds: list[list[frozenset[str]]] = []

    def walk_suite(self, body: Iterable[ast.stmt], bound: Bound) -> Bound:
        """Return the names bound at the end of ``body`` if ``bound`` are bound before it."""
        for stmt in body:
            if bound is None:
                return None
            bound = self.walk_statement(stmt, bound)
        return bound

    def walk_statement(self, stmt: ast.stmt, bound: frozenset[str]) -> Bound:
        """Return the names bound after ``stmt`` if ``bound`` are bound before it; ``None`` if no path continues."""
        match stmt:
            case ast.If(test=test, body=body, orelse=orelse):
                bound = self.walk_names([test], bound)
                return self.join(self.walk_suite(body, bound), self.walk_suite(orelse, bound))
            case ast.For(iter=sequence, target=target) | ast.AsyncFor(iter=sequence, target=target):
                return self.walk_loop(stmt, self.walk_names([sequence], bound), [target])
            case ast.While(test=test):
                return self.walk_loop(stmt, self.walk_names([test], bound), [])
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                bound = self.walk_names(items, bound)
                inside = self.walk_suite(body, bound)
                return self.join(inside, self.bound_on_exception(body, bound)) if may_swallow(stmt) else inside
            case ast.Try() | ast.TryStar():
                return self.walk_try(stmt, bound)
            case ast.Match(subject=subject, cases=cases):
                bound = self.walk_names([subject], bound)
                ends = [
                    self.walk_suite(c.body, self.walk_names([c.pattern, *filter(None, [c.guard])], bound))
                    for c in cases
                ]
                return self.join(*ends) if takes_all(cases[-1]) else self.join(bound, *ends)
            case ast.AnnAssign(target=ast.Name(), value=None):
                return bound
            case ast.Return() | ast.Raise():
                self.walk_names([stmt], bound)
                return None
            case ast.Break() | ast.Continue():
                # Outside a loop these are invalid Python; other code reports that.
                loops = self.breaks if isinstance(stmt, ast.Break) else self.rounds
                if loops:
                    loops[-1].append(bound)
                return None
        return self.walk_names([stmt], bound)

    def walk_loop(
        self, stmt: ast.For | ast.AsyncFor | ast.While, bound: frozenset[str], target: list[ast.expr]
    ) -> Bound:
        """Return the names bound after a loop."""
        self.breaks.append([])
        self.rounds.append([])
        inside = self.walk_suite(stmt.body, self.walk_names(target, bound))
        breaks, rounds = self.breaks.pop(), [*self.rounds.pop(), inside]
        if is_endless(stmt):
            # An earlier iteration may have bound any of its names before a break.
            return self.join(*breaks, *(rounds if breaks and not self.certain else ()))
        ends = self.join(bound, *rounds, *breaks)
        return self.join(ends, self.walk_suite(stmt.orelse, ends))

    def walk_try(self, stmt: ast.Try | ast.TryStar, bound: frozenset[str]) -> Bound:
        """Return the names bound after a ``try``."""
        inside = self.walk_suite(stmt.body, bound)
        bound_on_exception = self.bound_on_exception(stmt.body, bound)
        ends = [self.walk_suite(stmt.orelse, inside) if stmt.orelse else inside]
        for handler in stmt.handlers:
            ends.append(self.walk_suite(handler.body, bound_on_exception | ({handler.name} if handler.name else set())))
        end = self.join(*ends)
        last = self.walk_suite(stmt.finalbody, bound_on_exception if end is None or self.certain else end)
        return None if end is None or last is None else last | end

    def bound_on_exception(self, body: Sequence[ast.stmt], bound: frozenset[str]) -> frozenset[str]:
        """Return the names bound if an exception left ``body`` at any statement."""
        return bound if self.certain else bound | bound_in(body)

    def join(self, *ends: Bound) -> Bound:
        live = [end for end in ends if end is not None]
        if not live:
            return None
        return live[0].intersection(*live[1:]) if self.certain else live[0].union(*live[1:])

    def walk_names(self, nodes: Sequence[ast.AST], bound: frozenset[str]) -> frozenset[str]:
        """Return the names bound after ``nodes``; checks their reads in the order of evaluation."""
        for name, node, kind, later in mentions(nodes):
            if later:
                continue
            needs = kind in ("reads", "updates", "deletes")
            if needs and name in self.locals and name not in bound and not hasattr(builtins, name):
                self.found.setdefault(name, getattr(node, "lineno", 0))
            bound = bound - {name} if kind == "deletes" else bound | {name}
        return bound


class WalkOfRounds(Walk):
    """Like ``Walk``, but what a loop binds counts as bound from its start, because an earlier round may have set it."""

    def walk_statement(self, stmt: ast.stmt, bound: frozenset[str]) -> Bound:
        if isinstance(stmt, ast.While | ast.For | ast.AsyncFor):
            # The iterated expression runs once, before all rounds.
            bound = self.walk_names([stmt.iter], bound) if not isinstance(stmt, ast.While) else bound
            bound |= bound_in([stmt])
        return super().walk_statement(stmt, bound)
