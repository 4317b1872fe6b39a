"""Tells which settings of a local each of its reads may get, and which settings each setting may replace.

Comes in: the text of a unit. Goes out: lines. May touch: nothing.

A data-flow walk over the paths through a function keeps the settings of each local that no later one has replaced on
some path ("reaching definitions"). A path ends at a return, raise, break or continue. The body of a loop is walked
until another round brings nothing new, because what it sets last is what its next round reads.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from runner_sync.statements import bound_in, is_endless, mentions, parameters, tree_of
from runner_sync.syntax import Function, walk_suites
from runner_sync.texts.path_walk import Loop, PathWalk, union_of


class Setting(NamedTuple):
    """A local that the statement (or the head) at a line sets."""

    name: str
    line: int


Reaching = frozenset[Setting] | None
"""The settings that no later one has replaced on some path to here; ``None`` if no path arrives."""


class Settings(NamedTuple):
    """What a unit reads and replaces: for each name, the settings by the line of the statement that does it."""

    read: Mapping[Setting, set[Setting]]
    replaced: Mapping[Setting, set[Setting]]


def find_settings(text: str, names: Collection[str]) -> Settings:
    """Return the settings of ``names`` that each statement of a unit may read or replace.

    A nested function counts as a statement that reads what its body does. Nothing if the text does not parse.
    """
    walk = _Walk()
    for function in (node for node in walk_suites(tree_of(text)) if isinstance(node, Function)):
        given = {parameter.arg for parameter in parameters(function)}
        walk.names = (bound_in(function.body) | given) & {*names}
        if walk.names:
            walk.walk_suite(function.body, frozenset(Setting(name, function.lineno) for name in given & walk.names))
    return Settings(walk.read, walk.replaced)


class _Walk(PathWalk[Setting]):
    join = staticmethod(union_of)

    def __init__(self) -> None:
        super().__init__()
        self.names: Collection[str] = ()
        self.read: dict[Setting, set[Setting]] = defaultdict(set)
        self.replaced: dict[Setting, set[Setting]] = defaultdict(set)
        self.tried: list[set[Setting]] = []

    def walk_loop(self, loop: Loop, facts: frozenset[Setting]) -> Reaching:
        head = loop.test if isinstance(loop, ast.While) else loop.target
        known: frozenset[Setting] | None = None
        while facts != known:
            known = facts
            again, breaks = self.walk_round(loop, self.evaluate([head], loop.lineno, facts))
            facts = frozenset().union(facts, *(end for end in again if end is not None))
        ends = None if is_endless(loop) else self.walk_suite(loop.orelse, facts)
        return union_of(ends, *breaks)

    def walk_try(self, statement: ast.Try | ast.TryStar, facts: frozenset[Setting]) -> Reaching:
        inside, failed = self.walk_tried(statement.body, facts)
        ends = [self.walk_suite(statement.orelse, inside)]
        for handler in statement.handlers:
            name, line = handler.name, handler.lineno
            caught = failed if handler.type is None else self.evaluate([handler.type], line, failed)
            if name is not None and name in self.names:
                caught = self.put(Setting(name, line), caught)
            ends.append(self.walk_suite(handler.body, caught))
        end = union_of(*ends)
        if end is None:
            self.walk_suite(statement.finalbody, failed)
            return None
        return self.walk_suite(statement.finalbody, end)

    def walk_tried(self, body: Sequence[ast.stmt], facts: frozenset[Setting]) -> tuple[Reaching, frozenset[Setting]]:
        """Return the settings at the end of ``body``, and those that an exception anywhere in it may leave."""
        self.tried.append(set())
        end = self.walk_suite(body, facts)
        return end, facts | self.tried.pop()

    def evaluate(self, nodes: Sequence[ast.AST], line: int, facts: frozenset[Setting]) -> frozenset[Setting]:
        """Return the settings behind ``nodes`` of the statement at ``line``, and note what they read and replace."""
        for name, _, kind, _ in mentions(nodes):
            if name not in self.names:
                continue
            own = Setting(name, line)
            if kind in ("reads", "updates"):
                self.read[own] |= {one for one in facts if one.name == name}
            if kind in ("binds", "updates"):
                facts = self.put(own, facts)
            elif kind == "deletes":
                facts = frozenset(one for one in facts if one.name != name)
        return facts

    def put(self, own: Setting, facts: frozenset[Setting]) -> frozenset[Setting]:
        """Return the settings behind ``own``, which replaces those of its name."""
        old = frozenset(one for one in facts if one.name == own.name)
        self.replaced[own] |= old
        for tried in self.tried:
            tried.add(own)
        return facts - old | {own}
