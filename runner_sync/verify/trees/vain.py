"""Code that runs only after a ``hasattr`` that is never true in these trees.

Comes in: a frame and a node of it. Goes out: whether the node never runs. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.syntax import Function, string_of
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import reads_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.giving import defines_member
from runner_sync.verify.trees.values.kinds import is_lacked_by_all


def is_asked_in_vain(program: Program, frame: Frame, node: ast.AST) -> bool:
    """Whether such a ``hasattr`` stands around ``node``, or around every call of its method."""
    if any(_is_never_true(program, frame, test) for test in frame.conditions(node)):
        return True

    def may_call(info: ClassInfo, function: Function, name: str) -> bool:
        caller, calls = program.frame(info, function), [n for n in reads_of(function) if n.attr == name]
        tests = [caller.conditions(call) for call in calls]
        return not calls or not all(any(_is_never_true(program, caller, one) for one in each) for each in tests)

    mros = program.mros(frame.info) if frame.info is not None else []
    called = [mro for mro in mros if program.is_reached(mro, frame.function)]
    return bool(called) and not any(program.is_reached(mro, frame.function, calls=may_call) for mro in called)


def _is_never_true(program: Program, frame: Frame, test: ast.expr) -> bool:
    """Whether a condition requires an attribute that its object is certain to lack."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_is_never_true(program, frame, value) for value in values)
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, name]):
            return _lacks(program, frame, owner, string_of(name) or "")
    return False


def _lacks(program: Program, frame: Frame, owner: ast.expr, name: str) -> bool:
    if not name:
        return False
    if frame.is_self(owner) and frame.info is not None:
        mros = program.mros(frame.info)
        is_given = any(mro.open or any(defines_member(info, name) for info in mro.classes) for mro in mros)
        return bool(mros) and not is_given and not program.world.surroundings.is_set_on_runner(name)
    infos = [instance.info for instance in program.infer(frame, owner) or ()]
    return bool(infos) and is_lacked_by_all(program, infos, name)
