"""Whether code uses a coroutine, a generator or a context manager as if it were its finished value.

Comes in: the places where the value of a call is used. Goes out: a verdict. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from runner_sync.verify.trees.values.guards import is_identity
from runner_sync.verify.trees.values.uses import Place

# Attributes of coroutines, generators and futures: code that uses them expects such an object.
_DEFERRED_ATTRIBUTES = frozenset({"send", "throw", "close", "add_done_callback"})
_TESTS = frozenset(
    {"isawaitable", "iscoroutine", "isgenerator", "isinstance", "hasattr", "getattr", "callable", "type"}
)
_COUNTING = frozenset({"len", "int", "float", "bool", "abs", "round"})
ITERATING = frozenset(
    {
        "all",
        "any",
        "dict",
        "enumerate",
        "frozenset",
        "iter",
        "list",
        "max",
        "min",
        "set",
        "sorted",
        "sum",
        "tuple",
        "zip",
    }
)
"""Builtins that iterate over their first argument; ``max`` and ``min`` only if it is the only one."""


def is_taken_for_value(places: Sequence[Place], *, is_iterable: bool) -> bool:
    """Whether some place needs the finished value, and no place runs the deferred one.

    ``is_iterable``: it is a generator, over which code may iterate. timid: a value that is stored, returned or passed
    as an argument may run elsewhere.
    """
    return any(_needs_value(p, is_iterable=is_iterable) for p in places) and not any(_may_run(p) for p in places)


def _may_run(place: Place) -> bool:
    """Whether the code there awaits it, enters it, yields from it, or tests what it is."""
    match place.around:
        case ast.Await() | ast.withitem() | ast.YieldFrom():
            return True
        case ast.Attribute(attr=name):
            return name in _DEFERRED_ATTRIBUTES or name.startswith("__")
    return is_asked(place)


def is_asked(place: Place) -> bool:
    """Whether the code there passes the value to a function that tests what it is: ``isinstance``, ``callable``."""
    match place.around:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _TESTS
    return False


def _needs_value(place: Place, *, is_iterable: bool) -> bool:
    node = place.node
    match place.around:
        case ast.Call(func=ast.Name(id=name)) if name in _COUNTING:
            return True
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in ITERATING and not is_iterable:
            return any(argument is node for argument in arguments)
        case ast.Call(func=called):
            return called is node
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[searched]) if searched is node:
            return not is_iterable
        case ast.Compare() as comparison:
            return not is_identity(comparison)
        case ast.Attribute() | ast.BinOp() | ast.AugAssign() | ast.FormattedValue():
            return True
        case ast.UnaryOp(op=operator) if not isinstance(operator, ast.Not):
            return True
        case ast.Subscript(value=value):
            return value is node
    return place.is_tested or (place.is_taken_apart and not is_iterable)
