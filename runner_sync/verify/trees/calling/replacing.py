"""`dataclasses.replace(x, field=…)`, a call of the constructor of the class of `x`, and other functions of dataclasses.

Comes in: a `Step` and a call in it. Goes out: the keywords that the class no longer takes, or the class that is no
dataclass any more. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync import signatures
from runner_sync.signatures import TRANSPARENT, Misfit, decorator_names
from runner_sync.syntax import dotted_name
from runner_sync.verify.trees.calling.callees import Callee, find_constructors
from runner_sync.verify.trees.classes import ClassInfo, classes_in
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.known import join_known
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step
from runner_sync.verify.trees.values import generated
from runner_sync.verify.trees.values.annotations import Instance

_REPLACING = frozenset({"dataclasses.replace", "copy.replace"})
_PLAIN = TRANSPARENT | {"runtime_checkable", "total_ordering"}
"""Class decorators that make no dataclass."""


_OF_DATACLASSES = frozenset(f"dataclasses.{name}" for name in ("replace", "asdict", "astuple", "fields"))
"""Functions that raise a `TypeError` for an object of any other class."""


def find_lost_dataclass(step: Step, call: ast.Call) -> ClassInfo | None:
    """Return the class of an object that a function for dataclasses gets, if it was a dataclass and is none now.

    A subclass that is a dataclass of its own must refuse the call, too: it has no fields of a plain base.
    """
    now = _find_classes(step.program, step.frame, call, _OF_DATACLASSES)
    was = _find_classes(step.old, step.before, call, _OF_DATACLASSES) if now else []
    lost = next((info for info in now if _is_dataclass(step.program, info) is False), None)
    if lost is None or not was or not all(_is_dataclass(step.old, info) is True for info in was):
        return None
    return lost if all(_refuses(step.program, info, call) for info in now) else None


def _refuses(program: Program, info: ClassInfo, call: ast.Call) -> bool:
    """Whether a call of a function for dataclasses fails for every object of a class."""
    is_one = _is_dataclass(program, info)
    if not is_one:
        return is_one is False
    if any(generated.find_structs(mro.classes) for mro in program.classes.mros(info)):
        return True  # the class statement itself fails
    named = {keyword.arg for keyword in call.keywords if keyword.arg}
    taken = [callee.signature for callee in find_constructors(program.classes, info)]
    return bool(taken) and all(not one.var_keyword and not named <= one.keywords for one in taken)


def _is_dataclass(program: Program, info: ClassInfo) -> bool | None:
    """Whether a class is a dataclass; ``None`` if a decorator or a base is unknown that may make it one."""
    mros = program.classes.mros(info)
    decorators = {name for one in classes_in(mros) for name in decorator_names(one.node)}
    if "dataclass" in decorators:
        return True
    return None if decorators - _PLAIN or any(mro.is_foreign for mro in mros) else False


def find_lost_fields(step: Step, call: ast.Call) -> Iterator[tuple[Callee, Misfit]]:
    """Yield the keywords that every possible class of the copied object took in the old trees, and none takes now."""
    now, was = _find_constructors(step.program, step.frame, call), _find_constructors(step.old, step.before, call)
    if not now or not was:
        return
    accepted = frozenset.intersection(*(callee.signature.keywords for callee in was))
    for misfit in signatures.misfits(now[0].signature, signatures.of_call(call)):
        is_lost = misfit.kind == "unknown keyword" and misfit.name in accepted
        if is_lost and not any(misfit.name in callee.signature.keywords for callee in now):
            yield now[0], misfit


def _find_constructors(program: Program, frame: Frame, call: ast.Call) -> list[Callee]:
    """Return the constructors of the classes that the object which a call copies can have; empty if one is unknown."""
    infos = _find_classes(program, frame, call, _REPLACING)
    return join_known(find_constructors(program.classes, info) for info in infos)


def _find_classes(program: Program, frame: Frame, call: ast.Call, functions: frozenset[str]) -> list[ClassInfo]:
    """Return the classes that the only positional argument of a call of one of ``functions`` can have."""
    dotted = dotted_name(call.func)
    meanings = program.definitions(frame, dotted) if dotted and len(call.args) == 1 else []
    if not any(definition.name in functions for definition in meanings):
        return []
    found = program.infer(frame, call.args[0]) or []
    return list(dict.fromkeys(info for one in found for info in _with_subclasses(program, one)))


def _with_subclasses(program: Program, instance: Instance) -> list[ClassInfo]:
    """Return the class of an instance and, unless it is exact, its subclasses in sight of the runners."""
    return [instance.info, *([] if instance.exact else program.subclasses_near(instance.info))]
