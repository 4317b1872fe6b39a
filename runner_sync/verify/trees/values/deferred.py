"""Whether code uses a coroutine, a generator or a context manager as if it were its finished value.

Comes in: the places where the value of a call is used. Goes out: a verdict. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from runner_sync.verify.trees.values.uses import TAKEN_APART, Place, Use

# Attributes of coroutines, generators and futures: code that uses them expects such an object.
_DEFERRED_ATTRIBUTES = frozenset({"send", "throw", "close", "add_done_callback"})
_RUNNING = frozenset[Use]({"asked", "awaited", "drained", "entered", "special", "streamed"})
_NEEDING = frozenset[Use](
    {"attribute", "called", "compared", "item", "length", "number", "operand", "ordered", "printed", "truth"}
)
"""Uses that need the finished value; a generator is no container, but may be iterated over or searched."""


def is_taken_for_value(places: Sequence[Place], *, is_iterable: bool) -> bool:
    """Whether some place needs the finished value, and no place runs the deferred one.

    ``is_iterable``: it is a generator, over which code may iterate. timid: a value that is stored, returned or passed
    as an argument may run elsewhere.
    """
    return any(_needs_value(p, is_iterable=is_iterable) for p in places) and not any(_may_run(p) for p in places)


def _may_run(place: Place) -> bool:
    """Whether the code there awaits it, enters it, yields from it, or tests what it is."""
    match place.around:
        case ast.Attribute(attr=name) if name in _DEFERRED_ATTRIBUTES:
            return True
    return place.use in _RUNNING


def _needs_value(place: Place, *, is_iterable: bool) -> bool:
    return place.is_tested or place.use in (_NEEDING if is_iterable else _NEEDING | TAKEN_APART | {"searched"})
