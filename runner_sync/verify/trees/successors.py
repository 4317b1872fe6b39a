"""What upstream reads in the place of a member that it has no more: its new name.

Comes in: the `Program` of the new trees and of the old ones, a frame, and the name of a member that only the old trees
have. Goes out: a `Successor`, or nothing. May touch: nothing.

A member got another name where the statements that mentioned it are the same but for that: ``self.use_cp`` of
vllm-ascend 0.24 is ``self.use_dcp`` in 0.25. One that only went, or that was taken apart, has no successor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from runner_sync.statements.renaming import new_names, prevailing
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import FunctionNode
from runner_sync.verify.trees.program import Program


@dataclass(frozen=True, slots=True)
class Successor:
    """The name that stands where the old one stood, a ``path:line`` of a method with it, and in how many lines."""

    name: str
    place: str
    lines: int


def successor(program: Program, old: Program, frame: Frame, name: str) -> Successor | None:
    """What upstream's own classes have in the place of ``name``, where most lines that had it have one and the same.

    The classes are those of the MRO behind the frame. The new name is none that they had before.
    """
    before = old.twin(frame)
    if before is None or before.info is None or frame.info is None:
        return None
    mros, was = program.mros(frame.info), old.mros(before.info)
    classes = {(i.module.name, i.name): i for mro in mros for i in mro.classes if i.module.project != "vllm-omni"}
    pairs = [
        (one, classes.get((one.module.name, one.name))) for one in dict.fromkeys(i for m in was for i in m.classes)
    ]
    told = [found for one, now in pairs if now is not None for found in _told_by(one, now, name)]
    new, lines = prevailing(one for one, _ in told)
    if not new or any(mro.has(new) for mro in was) or not all(mro.has(new) for mro in mros):
        return None
    return Successor(new, next(place for one, place in told if one == new), lines)


def _told_by(one: ClassInfo, now: ClassInfo, name: str) -> Iterator[tuple[str, str]]:
    """What the lines of a class say that mentioned ``name`` and do no more: another name, or nothing, and where."""
    for method, functions in one.methods.items():
        later = now.methods.get(method)
        if later and any(_mentions(function, name) for function in functions):
            for said in new_names(_lines(functions), _lines(later), name):
                yield said, f"{now.module.path}:{later[0].lineno}"


def _mentions(function: FunctionNode, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(function))


def _lines(functions: Iterable[FunctionNode]) -> list[str]:
    return [line for function in functions for line in ast.unparse(function).split("\n")]
