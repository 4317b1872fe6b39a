"""Finds what a merge left certainly wrong in a method: unset or unknown names, unreachable statements.

Comes in: the text of a method. Goes out: names and lines. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from runner_sync.statements import as_module, cut_off, tree_of
from runner_sync.syntax import calls_in, is_name, suites_of, walk
from runner_sync.texts.assignment import find_early_reads
from runner_sync.texts.names import used_names


def find_unreachable(text: str) -> list[int]:
    """Return 1-based lines of statements directly behind one that always leaves their suite."""
    suites = suites_of(walk(tree_of(text)))
    return sorted(second.lineno for suite in suites for _, second in cut_off(suite))


def find_repeated_tests(text: str) -> list[int]:
    """Return 1-based lines of each ``if`` that begins the ``else`` of another one with the same test.

    No test from the one to the other calls or sets anything, which might change what it says.
    """
    found = set[int]()
    for outer in walk(tree_of(text)):
        tests, one = set[str](), outer
        while isinstance(one, ast.If):
            test = ast.unparse(one.test)
            found |= {one.lineno} if test in tests else set()
            tests = set() if calls_in(one.test) or ":=" in test else {*tests, test}
            one = one.orelse[0] if one.orelse else ast.Pass()
    return sorted(found)


def find_reads(text: str, name: str) -> list[int]:
    """Return 1-based lines of a unit that read ``name``."""
    names = [n for n in walk(tree_of(text)) if is_name(n, name) and isinstance(n.ctx, ast.Load)]
    return sorted(n.lineno for n in names)


Defect = Literal["half", "idle", "unknown", "unset"]


class Problem(NamedTuple):
    """A name that is ``unset``, ``unknown`` or ``half`` there (without all that reads it), or an ``idle`` statement."""

    kind: Defect
    what: str

    def __str__(self) -> str:
        return _SAID[self.kind].format(what=self.what)


_SAID: Mapping[Defect, str] = {
    "half": "`{what}` would come without some of the code that reads it",
    "idle": "`{what}` would never run",
    "unknown": "`{what}` would be undefined",
    "unset": "`{what}` would be read before it is set",
}


def find_problems(text: str, known: Collection[str]) -> set[Problem]:
    """Return what is certainly wrong in a unit, to compare two versions; ``known`` names are the module's."""
    lines = text.split("\n")
    found = {Problem("unset", name) for name in find_early_reads(text)}
    found |= {Problem("idle", lines[line - 1].strip()) for line in find_unreachable(text)}
    unknown = used_names(as_module(text)) - set(known)
    return found | {Problem("unknown", name) for name in unknown}
