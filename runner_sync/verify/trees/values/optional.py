"""Fields, and values of a returned tuple, that may be ``None`` now and never were before.

Comes in: a `Step` and a read of a field, or the callees of a call. Goes out: where the field is declared, and whether a
value may be ``None``. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.syntax import Function, assigned_names, dumped, is_none, last_word, walk
from runner_sync.verify.trees.calling.callees import Callee, values_of
from runner_sync.verify.trees.classes import Assignment, ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import find_none_defaults, is_plain, nodes_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step
from runner_sync.verify.trees.values.annotations import members_of, tuple_parts
from runner_sync.verify.trees.values.unset import find_unset, is_decided_by

_ANYTHING = frozenset({"Any", "object"})


def find_newly_optional(step: Step, read: ast.Attribute) -> str:
    """Return ``path:line`` of a declared field whose annotation newly adds ``None`` to what it was; empty for any other
    attribute."""
    now, was = _find_fields(step.program, step.frame, read), _find_fields(step.old, step.before, read)
    kinds_now, kinds_before = (
        [{ast.unparse(one) for one in members_of(field.annotation)} for _, field in fields] for fields in (now, was)
    )
    is_new = bool(now and was) and all(kinds - {"None"} in kinds_before and "None" in kinds for kinds in kinds_now)
    # `rows: list = None` might have been `None` before, whatever its annotation said.
    if not is_new or any("None" in kinds for kinds in kinds_before) or any(is_none(field.value) for _, field in was):
        return ""
    info, field = now[0]
    return info.place_of(field.node)


def _find_fields(program: Program, frame: Frame, read: ast.Attribute) -> list[tuple[ClassInfo, Assignment]]:
    """Return what declares a field in each class that its object can have; empty unless only class bodies do."""
    found: list[tuple[ClassInfo, Assignment]] = []
    for mro in program.mros_of(frame, read.value):
        written = mro.written(read.attr)
        if mro.open or not written or any(a.function is not None or a.annotation is None for _, a in written):
            return []
        found.append(written[0])
    return found


def find_newly_declared(step: Step, call: ast.Call) -> Callee | None:
    """Return the callee of a call whose annotation newly admits ``None`` beside what it returned.

    timid: skips a function of which only the annotation changed, because it returns what it did, and one that makes the
    object in each ``return``.
    """
    for now, was in step.callees(call):
        if now and was and all(map(_declares_none, now)) and all(map(_never_declared_none, was)):
            before = {_dump_body(callee) for callee in was}
            if all(_dump_body(one) not in before and not _makes_object(step.program, one) for one in now):
                return now[0]
    return None


def _declares_none(callee: Callee) -> bool:
    members = _find_declared(callee)
    return any(map(is_none, members)) and not all(map(is_none, members))


def _never_declared_none(callee: Callee) -> bool:
    """Whether a callee declares what it returns, without ``None``, and no ``return`` gives ``None``, either."""
    members = _find_declared(callee)
    is_open = any(is_none(one) or last_word(one) in _ANYTHING for one in members)
    function = callee.function
    gave = [value is None or (function is not None and _may_hold_none(function, value)) for value in values_of(callee)]
    return bool(members) and not is_open and not any(gave)


def _find_declared(callee: Callee) -> list[ast.expr]:
    """Return the parts of the annotation of what a call gives; empty if it is not that of the function."""
    function = callee.function
    return members_of(function.returns) if function is not None and is_plain(function) else []


def _dump_body(callee: Callee) -> tuple[str, ...]:
    return tuple(map(dumped, callee.function.body)) if callee.function is not None else ()


def _makes_object(program: Program, callee: Callee) -> bool:
    frame, values = program.frame_of_callee(callee), values_of(callee)
    found = [program.infer(frame, value) if value is not None else None for value in values]
    return bool(found) and all(one and all(instance.exact for instance in one) for one in found)


def gives_none(callee: Callee, call: ast.Call, number: int, size: int) -> bool:
    """Whether some ``return`` of a callee gives ``None`` as one of ``size`` values, and another does not.

    timid: skips a ``return`` that an argument which the call leaves out may keep from running.
    """
    values = _find_values(callee, number, size)
    unset = find_unset(callee, call) if any(map(is_none, values)) else frozenset()
    function = callee.function
    return (
        function is not None
        and not all(map(is_none, values))
        and any(is_none(value) and not is_decided_by(unset, function, value) for value in values)
    )


def never_gave_none(callee: Callee, number: int, size: int) -> bool:
    """Whether no ``return`` of a callee gives ``None``, or a local that is ``None`` at first, as one of ``size``
    values."""
    function, values = callee.function, _find_values(callee, number, size)
    if function is None or not values or any(is_none(value) or _may_hold_none(function, value) for value in values):
        return False
    parts = tuple_parts(function.returns)
    return parts is None or len(parts) != size or not any(map(is_none, members_of(parts[number])))


def _find_values(callee: Callee, number: int, size: int) -> list[ast.expr]:
    """Return the expressions in one place of every returned tuple; empty if a ``return`` gives anything else."""
    returned = values_of(callee)
    tuples = [value for value in returned if isinstance(value, ast.Tuple) and len(value.elts) == size]
    return [value.elts[number] for value in tuples] if len(tuples) == len(returned) else []


def _may_hold_none(function: Function, value: ast.expr) -> bool:
    """Whether a returned expression mentions ``None``, or is a local or parameter that is ``None`` at first."""
    if not isinstance(value, ast.Name):
        return any(map(is_none, walk(value)))
    setting = (node for node in nodes_of(function) if isinstance(node, ast.Assign | ast.AnnAssign))
    is_unset = any(is_none(node.value) and value.id in assigned_names(node) for node in setting)
    return is_unset or value.id in find_none_defaults(function)
