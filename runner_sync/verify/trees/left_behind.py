"""Helpers that do not run any more, because only methods that an override hides call them.

Comes in: a `Program` and an MRO. Goes out: the hidden callers, and whether helpers run. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.syntax import Function, self_attribute
from runner_sync.verify.answers import answered_once
from runner_sync.verify.trees.classes import Method, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import calls_of
from runner_sync.verify.trees.program import Program


@answered_once
def find_hidden_callers(program: Program, mro: Mro) -> dict[str, Function]:
    """Return, for each method called on ``self``, its first caller among the methods that cannot run."""
    live, found = program.live(mro), dict[str, Function]()
    methods = (f for info in mro.classes for functions in info.methods.values() for f in functions)
    for function in methods:
        for call in calls_of(function) if id(function) not in live else ():
            if name := self_attribute(call.func):
                found.setdefault(name, function)
    return found


def are_left_behind(program: Program, mro: Mro, helpers: Iterable[Method], readers: Iterable[Frame]) -> bool:
    """Whether no running code reaches the ``helpers`` that set an attribute, and running code reads it."""
    if any(program.runs(mro, *helper) for helper in helpers):
        return False
    return any(one.info is not None and program.runs(mro, one.info, one.function) for one in readers)
