"""Which special methods code needs of a value to take items, a length or a member of it, and which built-in types lack.

Comes in: a `Step` or `Frame`, and a node of it. Goes out: names of special methods, and types. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.syntax import string_of
from runner_sync.verify.expecting import CALL_ERRORS, INDEX_ERRORS, KEY_ERRORS
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step
from runner_sync.verify.trees.values import builtin
from runner_sync.verify.trees.values.guards import find_tests_of
from runner_sync.verify.trees.values.settled import is_settled_here

# The special method that a subscript needs, by its context.
_OF_ITEMS: dict[type[ast.expr_context], str] = {
    ast.Load: "__getitem__",
    ast.Store: "__setitem__",
    ast.Del: "__delitem__",
}
SUBSTITUTES = {"__iter__": ("__getitem__",), "__contains__": ("__iter__", "__getitem__")}
"""The special methods that Python calls where a class lacks another."""
OPERATIONS = {
    "__getitem__": "{0}[…]",
    "__setitem__": "{0}[…] = …",
    "__delitem__": "del {0}[…]",
    "__len__": "len({0})",
    "__iter__": "for … in {0}",
    "__contains__": "… in {0}",
}
"""What calls a special method, for a fix."""

_BY_NUMBER = (list, tuple, str, bytes)
_TEXTS = frozenset({str, bytes})
_WITHOUT_ITEMS = (set, frozenset, int, float, bool)


def find_special_methods(frame: Frame, node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield the object whose items, length or members a node needs, with the special method for it."""
    if frame.is_guarded(node, CALL_ERRORS):
        return
    match node:
        case ast.Subscript(value=value, ctx=context):
            yield value, _OF_ITEMS[type(context)]
        case ast.Call(func=ast.Name(id="len"), args=[value]) if not frame.binds("len"):
            yield value, "__len__"
        case ast.For(iter=value) | ast.comprehension(iter=value, is_async=0):
            yield value, "__iter__"
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[value]):
            yield value, "__contains__"


def find_refusing_types(step: Step, node: ast.Subscript) -> frozenset[type]:
    """Return the built-in types that a value holds now if none has such an item, and one that it held before had.

    A list has no ``["key"]``, a dictionary no ``[:n]`` and one with texts as keys no ``[0]``, a set no item at all.
    """
    frame, value = step.frame, node.value
    held = builtin.find_held_types(step.program, frame, value)
    kinds = held or builtin.find_declared_types(step.program, frame, value) or frozenset()
    if not kinds or not all(_refuses(kind, node) or _refuses_key(step.program, frame, node, kind) for kind in kinds):
        return frozenset()
    was = builtin.find_types(step.old, step.before, value) or frozenset()
    if all(_refuses(kind, node) or _refuses_key(step.old, step.before, node, kind) for kind in was) or find_tests_of(
        frame.function, value
    ):
        return frozenset()
    if frame.is_guarded(node, CALL_ERRORS | INDEX_ERRORS | KEY_ERRORS):
        return frozenset()
    if (held is None or not frame.is_of_self(value)) and is_settled_here(step.program, frame, value):
        return frozenset()
    around = step.program.world.surroundings
    # Checked last, because it searches all texts around the runners.
    is_set = held is not None and isinstance(value, ast.Attribute) and around.is_written_elsewhere(value.attr)
    return frozenset() if is_set else kinds


def _refuses(kind: type, node: ast.Subscript) -> bool:
    """Whether a subscript of a value of this type fails, whatever the value is."""
    if isinstance(node.slice, ast.Slice):
        return issubclass(kind, (dict, *_WITHOUT_ITEMS))
    return issubclass(kind, _WITHOUT_ITEMS) or (string_of(node.slice) is not None and issubclass(kind, _BY_NUMBER))


def _refuses_key(program: Program, frame: Frame, node: ast.Subscript, kind: type) -> bool:
    """Whether a subscript asks a list for a text, or a dictionary for a number where its keys are texts.

    timid: a whole number fits keys of any type but text and bytes; an array and a number with decimals fit no rule.
    """
    if isinstance(node.slice, ast.Slice) or not issubclass(kind, (dict, *_BY_NUMBER)):
        return False
    given = builtin.find_index_types(program, frame, node.slice)
    if issubclass(kind, _BY_NUMBER):
        return given is not None and given <= _TEXTS
    keys = builtin.find_key_types(program, frame, node.value) if given is not None else None
    return keys is not None and given is not None and bool(_TEXTS & keys) and keys <= _TEXTS and given == {int}
