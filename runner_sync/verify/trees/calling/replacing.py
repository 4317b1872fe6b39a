"""`dataclasses.replace(x, field=…)`: a call of the constructor of the class of `x`, which names fields.

Comes in: a `Step` and a call in it. Goes out: the keywords that the class no longer takes. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync import signatures
from runner_sync.signatures import Misfit
from runner_sync.syntax import dotted_name
from runner_sync.verify.trees.calling.callees import Callee, find_constructors
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.known import join_known
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step
from runner_sync.verify.trees.values.annotations import Instance

_REPLACING = frozenset({"dataclasses.replace", "copy.replace"})


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
    dotted = dotted_name(call.func)
    meanings = program.definitions(frame, dotted) if dotted and len(call.args) == 1 else []
    if not any(definition.name in _REPLACING for definition in meanings):
        return []
    copied = program.infer(frame, call.args[0]) or []
    infos = dict.fromkeys(info for one in copied for info in _with_subclasses(program, one))
    return join_known(find_constructors(program.classes, info) for info in infos)


def _with_subclasses(program: Program, instance: Instance) -> list[ClassInfo]:
    """Return the class of an instance and, unless it is exact, its subclasses in sight of the runners."""
    return [instance.info, *([] if instance.exact else program.subclasses_near(instance.info))]
