"""Which special methods code needs of the value of a call: it enters the value, iterates over it, or awaits it.

Comes in: a `Program`, a frame of it and a call in it. Goes out: names of special methods. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from runner_sync.syntax import last_word
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.uses import Place, Use, find_outermost_conditional, places_of

FAILS = {
    "__enter__": "cannot be entered by `with`",
    "__aenter__": "cannot be entered by `async with`",
    "__iter__": "cannot be gone through",
    "__next__": "has no next value",
    "__await__": "cannot be awaited",
}
"""The special methods looked for here, with the message for a value that lacks one."""

_NEEDED: Mapping[Use, str] = {
    **dict.fromkeys(("iterated", "spread", "drained", "unpacked"), "__iter__"),
    "awaited": "__await__",
}


def find_needed_methods(program: Program, frame: Frame, call: ast.Call) -> list[str]:
    """Return the special methods that code needs of a call's value, in this function or in one that it is returned to.

    timid: empty if the code tests what the value is, or whether it is ``None``.
    """
    uses = [*_find_uses(program, frame, call)]
    if any(place.is_tested or place.use in ("asked", "same") for _, place in uses):
        return []
    found = [(where, place, _find_needed_method(where, place)) for where, place in uses]
    return [name for where, place, name in found if name and not where.is_guarded(place.node, CALL_ERRORS)]


def _find_uses(program: Program, frame: Frame, call: ast.Call) -> Iterator[tuple[Frame, Place]]:
    for place in _follow_conditions(frame, places_of(frame, call)):
        yield frame, place
        for caller, other, part in find_returned_calls(program, frame, place):
            yield from (
                (caller, other_place) for other_place in _follow_conditions(caller, places_of(caller, other, part))
            )


def _follow_conditions(frame: Frame, places: list[Place]) -> Iterator[Place]:
    """Yield places; for one branch of a conditional expression, the places of the whole expression.

    ``with lock if is_shared else nullcontext():`` needs ``__enter__`` of ``lock``.
    """
    for place in places:
        match place.around:
            case ast.IfExp(test=test) if test is not place.node:
                yield from places_of(frame, place.node)
            case _:
                yield place


def find_returned_calls(
    program: Program, frame: Frame, place: Place
) -> Iterator[tuple[Frame, ast.Call, tuple[int, int] | None]]:
    """Yield the calls, in the same module, of a function that returns the value at ``place``.

    For one part of a returned tuple, each comes with the part's number and the tuple's size.
    """
    value = find_outermost_conditional(frame, place.node)
    outer, part = frame.parent(value), None
    if isinstance(outer, ast.Tuple):
        part = next((number, len(outer.elts)) for number, element in enumerate(outer.elts) if element is value)
        outer = frame.parent(outer)
    for caller in program.frames(frame.module) if isinstance(outer, ast.Return) else ():
        calls = (node for node in caller.nodes() if isinstance(node, ast.Call))
        for call in (call for call in calls if last_word(call.func) == frame.function.name):
            if any(callee.function is frame.function for callee in program.reached(caller, call)):
                yield caller, call, part


def _find_needed_method(frame: Frame, place: Place) -> str:
    """Return the special method without which the code there fails, or an empty text."""
    match place.around:
        case ast.withitem() as item:
            waits = (other for other in frame.nodes() if isinstance(other, ast.AsyncWith))
            return "__aenter__" if any(item in other.items for other in waits) else "__enter__"
        case ast.Call(func=ast.Attribute(attr="enter_context" | "enter_async_context" as name), args=[_]):
            return "__enter__" if name == "enter_context" else "__aenter__"
        case ast.Call(func=ast.Name(id=name), args=[value, *others]) if value is place.node and not frame.binds(name):
            is_compared = bool(others) and name in ("max", "min")
            return "__next__" if name == "next" else "__iter__" if place.use == "listed" and not is_compared else ""
    return _NEEDED.get(place.use, "")
