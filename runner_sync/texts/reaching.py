"""Tells which settings of a local each of its reads may get, and which settings each setting may replace.

Comes in: the text of a unit. Goes out: lines. May touch: nothing.

A data-flow walk over the paths through a function keeps the settings of each local that no later one has replaced on
some path ("reaching definitions"). A path ends at a return, raise, break or continue. The body of a loop is walked
until another round brings nothing new, because what it sets last is what its next round reads.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from runner_sync.statements import bound_in, is_endless, may_swallow, mentions, parameters, takes_all, tree_of
from runner_sync.syntax import Function, walk_suites


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


class _Walk:
    def __init__(self) -> None:
        self.names: Collection[str] = ()
        self.read: dict[Setting, set[Setting]] = defaultdict(set)
        self.replaced: dict[Setting, set[Setting]] = defaultdict(set)
        self.breaks: list[list[Reaching]] = []
        self.rounds: list[list[Reaching]] = []
        self.tried: list[set[Setting]] = []

    def walk_suite(self, body: Iterable[ast.stmt], state: Reaching) -> Reaching:
        for statement in body:
            if state is None:
                return None
            state = self.walk_statement(statement, state)
        return state

    def walk_statement(self, statement: ast.stmt, state: frozenset[Setting]) -> Reaching:
        line = statement.lineno
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                state = self.mention([test], line, state)
                return _join(self.walk_suite(body, state), self.walk_suite(orelse, state))
            case ast.For(iter=sequence) | ast.AsyncFor(iter=sequence):
                return self.walk_loop(statement, self.mention([sequence], line, state))
            case ast.While():
                return self.walk_loop(statement, state)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                state = self.mention(items, line, state)
                inside, failed = self.walk_tried(body, state)
                return _join(inside, failed) if may_swallow(statement) else inside
            case ast.Try() | ast.TryStar():
                return self.walk_try(statement, state)
            case ast.Match(subject=subject, cases=cases):
                state = self.mention([subject], line, state)
                ends: list[Reaching] = [] if takes_all(cases[-1]) else [state]
                for case in cases:
                    head = [case.pattern] if case.guard is None else [case.pattern, case.guard]
                    ends.append(self.walk_suite(case.body, self.mention(head, case.pattern.lineno, state)))
                return _join(*ends)
            case ast.AnnAssign(target=ast.Name(), value=None):
                return state
            case ast.Return() | ast.Raise():
                self.mention([statement], line, state)
                return None
            case ast.Break() | ast.Continue():
                # Outside a loop these are invalid Python; other code reports that.
                loops = self.breaks if isinstance(statement, ast.Break) else self.rounds
                if loops:
                    loops[-1].append(state)
                return None
        return self.mention([statement], line, state)

    def walk_loop(self, loop: ast.For | ast.AsyncFor | ast.While, state: frozenset[Setting]) -> Reaching:
        known: frozenset[Setting] | None = None
        while state != known:
            known = state
            self.breaks.append([])
            self.rounds.append([])
            head = self.mention([loop.test if isinstance(loop, ast.While) else loop.target], loop.lineno, state)
            inside = self.walk_suite(loop.body, head)
            breaks = self.breaks.pop()
            state = frozenset().union(state, *(end for end in (inside, *self.rounds.pop()) if end is not None))
        ends = None if is_endless(loop) else self.walk_suite(loop.orelse, state)
        return _join(ends, *breaks)

    def walk_try(self, statement: ast.Try | ast.TryStar, state: frozenset[Setting]) -> Reaching:
        inside, failed = self.walk_tried(statement.body, state)
        ends = [self.walk_suite(statement.orelse, inside)]
        for handler in statement.handlers:
            name, line = handler.name, handler.lineno
            caught = failed if handler.type is None else self.mention([handler.type], line, failed)
            if name is not None and name in self.names:
                caught = self.put(Setting(name, line), caught)
            ends.append(self.walk_suite(handler.body, caught))
        end = _join(*ends)
        if end is None:
            self.walk_suite(statement.finalbody, failed)
            return None
        return self.walk_suite(statement.finalbody, end)

    def walk_tried(self, body: Sequence[ast.stmt], state: frozenset[Setting]) -> tuple[Reaching, frozenset[Setting]]:
        """Return the settings at the end of ``body``, and those that an exception anywhere in it may leave."""
        self.tried.append(set())
        end = self.walk_suite(body, state)
        return end, state | self.tried.pop()

    def mention(self, nodes: Sequence[ast.AST], line: int, state: frozenset[Setting]) -> frozenset[Setting]:
        """Return the settings behind ``nodes`` of the statement at ``line``, and note what they read and replace."""
        for name, _, kind, _ in mentions(nodes):
            if name not in self.names:
                continue
            own = Setting(name, line)
            if kind in ("reads", "updates"):
                self.read[own] |= {one for one in state if one.name == name}
            if kind in ("binds", "updates"):
                state = self.put(own, state)
            elif kind == "deletes":
                state = frozenset(one for one in state if one.name != name)
        return state

    def put(self, own: Setting, state: frozenset[Setting]) -> frozenset[Setting]:
        """Return the settings behind ``own``, which replaces those of its name."""
        old = frozenset(one for one in state if one.name == own.name)
        self.replaced[own] |= old
        for tried in self.tried:
            tried.add(own)
        return state - old | {own}


def _join(*ends: Reaching) -> Reaching:
    """Return what arrives by any of several paths."""
    live = [end for end in ends if end is not None]
    return frozenset().union(*live) if live else None
