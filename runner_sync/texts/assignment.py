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
from collections.abc import Mapping, Sequence
from functools import lru_cache

from runner_sync.statements import bound_in, is_endless, mentions, parameters, tree_of
from runner_sync.syntax import Function, walk_suites
from runner_sync.texts.path_walk import Loop, PathWalk, union_of


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


class Walk(PathWalk[str]):
    """Walks the suite of a function or module; ``found`` are the ``locals`` that are read too early, with their lines.

    Too early means before any binding; with ``certain``, on some path without a binding. The facts are the names that
    some path has bound, or with ``certain`` every path.
    """

    def __init__(self, own: frozenset[str] = frozenset(), *, certain: bool) -> None:
        super().__init__()
        self.certain = certain
        self.found: dict[str, int] = {}
        self.locals = own

    def evaluate(self, nodes: Sequence[ast.AST], line: int, facts: frozenset[str]) -> frozenset[str]:
        """Return the names bound behind ``nodes``; checks their reads in the order of evaluation."""
        for name, node, kind, later in mentions(nodes):
            if later:
                continue
            needs = kind in ("reads", "updates", "deletes")
            if needs and name in self.locals and name not in facts and not hasattr(builtins, name):
                self.found.setdefault(name, getattr(node, "lineno", line))
            facts = facts - {name} if kind == "deletes" else facts | {name}
        return facts

    def walk_loop(self, loop: Loop, facts: frozenset[str]) -> frozenset[str] | None:
        if isinstance(loop, ast.While):
            facts = self.evaluate([loop.test], loop.lineno, facts)
            again, breaks = self.walk_round(loop, facts)
        else:
            again, breaks = self.walk_round(loop, self.evaluate([loop.target], loop.lineno, facts))
        if is_endless(loop):
            # An earlier iteration may have bound any of its names before a break.
            return self.join(*breaks, *(again if breaks and not self.certain else ()))
        ends = self.join(facts, *again, *breaks)
        return self.join(ends, self.walk_suite(loop.orelse, ends))

    def walk_try(self, statement: ast.Try | ast.TryStar, facts: frozenset[str]) -> frozenset[str] | None:
        inside, failed = self.walk_tried(statement.body, facts)
        ends = [self.walk_suite(statement.orelse, inside)]
        for handler in statement.handlers:
            ends.append(self.walk_suite(handler.body, failed | ({handler.name} if handler.name else set())))
        end = self.join(*ends)
        last = self.walk_suite(statement.finalbody, failed if end is None or self.certain else end)
        return None if end is None or last is None else last | end

    def walk_tried(
        self, body: Sequence[ast.stmt], facts: frozenset[str]
    ) -> tuple[frozenset[str] | None, frozenset[str]]:
        """Return the names bound at the end of ``body``, and those bound if an exception left it at any statement."""
        return self.walk_suite(body, facts), facts if self.certain else facts | bound_in(body)

    def join(self, *ends: frozenset[str] | None) -> frozenset[str] | None:
        """Return what some path has bound, or with ``certain`` what all have."""
        live = [end for end in ends if end is not None]
        return frozenset.intersection(*live) if live and self.certain else union_of(*live)


class WalkOfRounds(Walk):
    """Like ``Walk``, but what a loop binds counts as bound from its start, because an earlier round may have set it."""

    def walk_loop(self, loop: Loop, facts: frozenset[str]) -> frozenset[str] | None:
        return super().walk_loop(loop, facts | bound_in([loop]))
