"""Local functions that code passes to a function, which newly calls them with arguments that they do not accept.

Comes in: a `Step` and a call in it. Goes out: `Callback`s. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync import signatures
from runner_sync.signatures import Misfit
from runner_sync.syntax import Function, is_name
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.callees import Callee, make_function
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step
from runner_sync.verify.trees.values.unset import find_unset, is_decided_by


@dataclass(frozen=True, slots=True)
class Callback:
    """A local function that is passed as ``parameter`` of a function; that calls it at ``place``, which misfits."""

    value: ast.expr
    callee: Callee
    parameter: str
    place: str
    misfit: Misfit


def find_unfitting_callbacks(step: Step, call: ast.Call) -> Iterator[Callback]:
    """Yield the local functions that a call passes, and that a callee calls as they do not accept.

    timid: only if every callee in the old trees called them as they accept. A condition that compares or calls
    something may choose among several callees.
    """
    given = [(value, _find_local(step.frame, value)) for value in signatures.arguments_of(call)]
    local = [(value, function) for value, function in given if function is not None]
    now = step.program.reached(step.frame, call) if local else []
    was = step.reached_before(call) if now else []
    tests = [inner for test in step.frame.conditions(call) for inner in ast.walk(test)] if len(now) > 1 else []
    if any(isinstance(inner, ast.Compare | ast.Call) for inner in tests):
        return
    for value, function in local:
        found = next(_find_misfits(step.program, now, call, value, function), None)
        if found is not None and was and not any(_find_misfits(step.old, was, call, value, function)):
            yield found


def _find_local(frame: Frame, value: ast.expr) -> Function | None:
    """Return the local function or lambda that an argument is; ``None`` for a name that is bound more than once."""
    if isinstance(value, ast.Lambda):
        return make_function("lambda", value)
    match frame.bound.get(value.id, ()) if isinstance(value, ast.Name) else ():
        case [ast.FunctionDef() as function] if signatures.is_as_written(function):
            return function
    return None


def _find_misfits(
    program: Program, callees: Sequence[Callee], call: ast.Call, value: ast.expr, function: Function
) -> Iterator[Callback]:
    """Yield the calls, in ``callees``, of the parameter that gets ``value``, which ``function`` does not accept.

    timid: none if a callee also calls the parameter as ``function`` accepts, and none under a condition over the
    parameter, or over an argument that ``call`` leaves out.
    """
    accepted = signatures.of_function(function, bound=False)
    for callee in callees:
        placed = callee.placed(call) if callee.function is not None else {}
        for parameter in (name for name, argument in placed.items() if argument is value):
            frame = program.frame_of_callee(callee)
            calls = [(node, signatures.of_call(node, frame.function)) for node in _find_calls(frame, parameter)]
            rows = [(node, signatures.misfits(accepted, given)) for node, given in calls]
            unset = find_unset(callee, call, parameter) if all(misfits for _, misfits in rows) else frozenset()
            for node, misfits in rows if unset else ():
                if not frame.is_guarded(node, CALL_ERRORS) and not is_decided_by(unset, frame.function, node):
                    yield Callback(value, callee, parameter, frame.place_of(node), misfits[0])


def _find_calls(frame: Frame, parameter: str) -> list[ast.Call]:
    """Return the calls of a parameter; none if the function or a nested one binds the name again."""
    is_own = len(frame.bound.get(parameter, ())) == 1
    return [node for node in frame.nodes() if is_own and isinstance(node, ast.Call) and is_name(node.func, parameter)]
