"""The new name of a member that upstream renamed.

Comes in: a `Step`, and the name of a member that only the old trees have. Goes out: a `Successor`, or nothing. May
touch: nothing.

A member counts as renamed if the statements that mention it differ in little but the name: ``self.use_cp`` of
vllm-ascend 0.24 is ``self.use_dcp`` in 0.25. A removed or divided member has no successor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from runner_sync.statements.renaming import new_names, prevailing
from runner_sync.syntax import Function
from runner_sync.verify.trees.classes import ClassInfo, classes_in
from runner_sync.verify.trees.steps import Step


@dataclass(frozen=True, slots=True)
class Successor:
    """The new name, ``path:line`` of a method that has it, and the number of lines where it replaced the old name."""

    name: str
    place: str
    lines: int


def find_successor(step: Step, name: str) -> Successor | None:
    """Return the name that most lines of upstream's classes now have in the place of ``name``.

    Reads the upstream classes in the MROs of the frame's class. ``None`` if no name prevails, if a class had the new
    name before, or if an MRO lacks it.
    """
    mros, was = step.mros
    classes = {info.key: info for info in classes_in(mros) if not info.is_omnis}
    pairs = [(one, classes.get(one.key)) for one in classes_in(was)]
    renamings = [renaming for one, now in pairs if now is not None for renaming in _find_new_names(one, now, name)]
    new, lines = prevailing(one for one, _ in renamings)
    if not new or any(mro.has(new) for mro in was) or not all(mro.has(new) for mro in mros):
        return None
    return Successor(new, next(place for one, place in renamings if one == new), lines)


def _find_new_names(one: ClassInfo, now: ClassInfo, name: str) -> Iterator[tuple[str, str]]:
    """Yield the new name and the place of the method for each changed line of class ``one`` that mentions ``name``.

    The new name is empty if the line in ``now`` shows none.
    """
    for method, functions in one.methods.items():
        later = now.methods.get(method)
        if later and any(_mentions(function, name) for function in functions):
            for new_name in new_names(_split_lines(functions), _split_lines(later), name):
                yield new_name, now.place_of(later[0])


def _mentions(function: Function, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(function))


def _split_lines(functions: Iterable[Function]) -> list[str]:
    return [line for function in functions for line in ast.unparse(function).split("\n")]
