"""Whether an object has an attribute as soon as its ``__init__`` has run.

Comes in: a `Runtime` and an MRO of it. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.signatures import arguments_of
from runner_sync.syntax import Function, dotted_name, last_word
from runner_sync.verify.answers import answered_once
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import nodes_of, words_of
from runner_sync.verify.trees.instance import is_instance
from runner_sync.verify.trees.runtime import Runtime
from runner_sync.verify.trees.values.giving import can_create

# Functions that get an object and set none of its attributes but the one that they name.
_HARMLESS = frozenset({"callable", "hasattr", "id", "isinstance", "print", "repr", "str", "super", "type"})


def is_set_at_start(program: Runtime, mro: Mro, name: str) -> bool:
    """Whether a class body, an ``__init__``, or a live method that these may call, defines an attribute."""
    started = _find_started(program, mro)
    assigned = (a for info, a in program.assignments(mro, name) if can_create(info, a, name))
    return mro.has_method(name) or any(a.function is None or a.function.name in started for a in assigned)


def may_others_set(program: Runtime, mro: Mro, frame: Frame, read: ast.Attribute) -> bool:
    """Whether code other than the methods of an MRO may have set an attribute when an ``__init__`` reads it.

    Such is a ``__new__``, a function that writes the name on another object than ``self``, or one that got the object.
    """
    if mro.has_method("__new__") or program.world.surroundings.is_written_elsewhere(read.attr):
        return True
    started = _find_started(program, mro)
    return any(
        function is not frame.function or call.lineno <= read.lineno
        for info, function in program.live(mro).values()
        if function.name in started
        for call in _find_hand_outs(mro, info, function)
    )


def find_late_writer(program: Runtime, mro: Mro, name: str) -> str:
    """Return a method that sets an attribute, and that no ``__init__`` calls; else an empty text."""
    started = _find_started(program, mro)
    setting = (a.function for info, a in program.assignments(mro, name) if a.function and can_create(info, a, name))
    return next((function.name for function in setting if function.name not in started), "")


def _find_hand_outs(mro: Mro, info: ClassInfo, function: Function) -> Iterator[ast.Call]:
    """Yield the calls that get the object itself, other than of a method of the MRO: ``fill(self)``.

    Also ``getattr(self, name)`` of a computed name.
    """
    classes = {one.name for one in (*mro.classes, info)}
    for node in nodes_of(function):
        if isinstance(node, ast.Call):
            is_given = any(is_instance(function, value) for value in arguments_of(node))
            if is_given and not _is_harmless(node) and not _is_of_class(node.func, classes):
                yield node


def _is_harmless(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(), *_]):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _HARMLESS
    return False


def _is_of_class(called: ast.expr, classes: set[str]) -> bool:
    """Whether an expression is a method of one of ``classes``, by its name: ``Base.__init__``."""
    return isinstance(called, ast.Attribute) and bool(dotted_name(called)) and last_word(called.value) in classes


@answered_once
def _find_started(program: Runtime, mro: Mro) -> set[str]:
    """Return ``__init__``, and the methods that it, or a method that it may call, mentions."""
    found, fresh = set[str](), {"__init__"}
    while fresh:
        found |= fresh
        words = frozenset[str]().union(*(words_of(f) for _, f in program.live(mro).values() if f.name in fresh))
        fresh = {f.name for _, f in program.live(mro).values() if f.name in words} - found
    return found
