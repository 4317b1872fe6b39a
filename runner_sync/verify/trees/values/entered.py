"""Whether a context manager gives ``with f() as x`` a value.

Comes in: a `Callee` of a `Program`. Goes out: an answer, ``None`` if it is unknown. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.signatures import decorator_names
from runner_sync.syntax import Function, is_nothing, last_word
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.functions import is_plain, nodes_of, returns_of
from runner_sync.verify.trees.program import Program

_MAX_DEPTH = 3
"""Functions followed that only hand a context manager out."""


def gives_value(program: Program, callee: Callee, depth: int = 0) -> bool | None:
    """Whether ``with`` always gets a value (except from ``nullcontext()``), or never one.

    Follows functions that return what another one makes: ``return self._lock() if self.busy else nullcontext()``.
    """
    function = callee.function
    if function is None or depth > _MAX_DEPTH:
        return None
    if "contextmanager" in decorator_names(function):
        return _yields_value(function)
    if not is_plain(function):
        return None
    frame, answers = program.frame_of_callee(callee), set[bool | None]()
    for returned in returns_of(function):
        for made in _find_alternatives(returned):
            if not isinstance(made, ast.Call):
                return None
            if last_word(made.func) == "nullcontext":
                answers |= {True} if made.args else set()
                continue
            answers |= {gives_value(program, one, depth + 1) for one in program.reached(frame, made)} or {None}
    return next(iter(answers)) if len(answers) == 1 else None


def _yields_value(function: Function) -> bool | None:
    nodes = nodes_of(function)
    if any(isinstance(node, Function | ast.Lambda | ast.YieldFrom) and node is not function for node in nodes):
        return None  # timid: a ``yield`` may belong to the inner function
    answers = {not is_nothing(node.value) for node in nodes if isinstance(node, ast.Yield)}
    return next(iter(answers)) if len(answers) == 1 else None


def _find_alternatives(value: ast.expr | None) -> list[ast.expr | None]:
    if isinstance(value, ast.IfExp):
        return [*_find_alternatives(value.body), *_find_alternatives(value.orelse)]
    return [value]
