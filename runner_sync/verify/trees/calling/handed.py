"""Calls of a method in functions that get the object passed: `warm_up(self)`, which does `worker.model_runner.run(…)`.

Comes in: a `Program`, an MRO and the name of a method. Goes out: `VirtualCall`s in functions of unchecked modules that
a live method of some checked MRO passes the object to, directly or through others. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from runner_sync.signatures import arguments_of
from runner_sync.syntax import is_name
from runner_sync.verify.answers import remembered
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.virtual import VirtualCall
from runner_sync.verify.trees.classes import Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import calls_of
from runner_sync.verify.trees.program import Program

_ASSIGNED = re.compile(r"\.(\w+)\s*(?::[^=\n]+)?=[^=]")


def find_handed_calls(program: Program, mro: Mro, name: str) -> Sequence[VirtualCall]:
    """Return the calls of ``name`` on instances of the MRO's class in functions that get them as arguments."""
    return program.answers.once(find_handed_calls, lambda: _Search(program).calls()).get((mro, name), ())


class _Search:
    """Follows objects that methods pass to functions, from one function to the next."""

    def __init__(self, program: Program) -> None:
        self._program = program

        # Only checked code stores objects of a checked class in attributes: other code knows no such class.
        self._assigned = {name for module in program.checked for name in _ASSIGNED.findall(module.text)}

    def calls(self) -> dict[tuple[Mro, str], list[VirtualCall]]:
        """Return all calls, by the MRO of the object that they are made on and the name of the method."""
        found: dict[tuple[Mro, str], list[VirtualCall]] = {}
        todo = [passed for mro in self._program.leaves() for passed in self._find_passed_by_methods(mro)]
        seen: set[tuple[Frame, str, Mro]] = set()
        while todo:
            frame, parameter, mro = passed = todo.pop()
            if passed in seen:
                continue
            seen.add(passed)
            todo.extend(self._find_passed(frame, parameter, mro))
            if frame.module not in self._program.checked:
                for object_of, name, call in self._find_calls_on(frame, parameter, mro):
                    found.setdefault((object_of, name), []).append(VirtualCall(frame, call))
        return found

    def _find_passed_by_methods(self, mro: Mro) -> Iterator[tuple[Frame, str, Mro]]:
        for info, function in self._program.live(mro).values():
            frame = self._program.frame(info, function)
            if frame.owner is not None:
                yield from self._find_passed(frame, frame.owner, mro)

    def _find_passed(self, frame: Frame, name: str, mro: Mro) -> Iterator[tuple[Frame, str, Mro]]:
        """Yield the frame, parameter and MRO for each function that gets ``name``, or an object in one of its
        attributes."""
        for node in calls_of(frame.function):
            if _is_function_call(node) and any(self._find_objects(value, name, mro) for value in arguments_of(node)):
                for callee in self._find_functions(frame, node):
                    yield from self._place_object(callee, node, name, mro)

    def _find_functions(self, frame: Frame, call: ast.Call) -> list[Callee]:
        reached = self._program.reached(frame, call)
        return [callee for callee in reached if callee.info is None and callee.function is not None]

    def _place_object(self, callee: Callee, call: ast.Call, name: str, mro: Mro) -> Iterator[tuple[Frame, str, Mro]]:
        frame = self._program.frame_of_callee(callee)
        for parameter, value in callee.placed(call).items():
            # A parameter that is assigned again may hold anything.
            if len(frame.bound.get(parameter, ())) == 1:
                yield from ((frame, parameter, object_of) for object_of in self._find_objects(value, name, mro))

    def _find_calls_on(self, frame: Frame, parameter: str, mro: Mro) -> Iterator[tuple[Mro, str, ast.Call]]:
        for node in calls_of(frame.function):
            if isinstance(node.func, ast.Attribute):
                for object_of in self._find_objects(node.func.value, parameter, mro):
                    yield object_of, node.func.attr, node

    def _find_objects(self, node: ast.expr, name: str, mro: Mro) -> list[Mro]:
        """Return the checked MROs of ``node`` if it is ``name`` itself, or an attribute of it that holds such an
        object."""
        if is_name(node, name):
            return [mro]
        is_attribute = isinstance(node, ast.Attribute) and is_name(node.value, name)
        return self._find_held(mro, node.attr) if isinstance(node, ast.Attribute) and is_attribute else []

    @remembered
    def _find_held(self, mro: Mro, attribute: str) -> list[Mro]:
        held = self._program.attribute(mro, attribute) if attribute in self._assigned else None
        heads = {instance.info for instance in held or ()}
        return [leaf for leaf in self._program.leaves() if leaf.head in heads]


def _is_function_call(call: ast.Call) -> bool:
    """Whether ``f(…)`` or ``module.f(…)`` is called.

    Methods of ``self`` and ``cls`` do not count, because their calls are found through the MRO.
    """
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(call.func, ast.Name) or (isinstance(owner, ast.Name) and owner.id not in ("self", "cls"))
