"""Tells which calls of the GPU side do nothing on another platform, although they name no device.

Comes in: the library of omni files, a GPU class and its twin, a call as written in the GPU class. Goes out: whether the
call is idle. May touch: what the library reads.

What the callee does first decides::

    def schedule_write(self, rows):
        if not torch.cuda.is_available():     # and so ``drain_writes``, which returns without ``self._pending``,
            return                            # is idle, if nothing but this method sets that
        self._pending = copy(rows)

On NPU the twin's own method runs, or that of the object which the twin makes, so these must do nothing either.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from runner_sync.syntax import Function, dotted_name, is_none, walk
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.callees import Scope, find_methods
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.parity import Pair
from runner_sync.verify.runners.reading import ClassText
from runner_sync.verify.runners.stores import may_set


class _Value(NamedTuple):
    """What a class assigns to an attribute; ``None`` for what cannot be told."""

    owner: ClassText
    value: ast.expr | None


def is_idle(pair: Pair, written: str) -> bool:
    """Whether a call in the GPU class of ``self.method`` or ``self.attribute.method`` does nothing without a GPU."""
    callees = [*_find_callees(pair.library, (pair.gpu, pair.npu), written)]
    return bool(callees) and all(pair.without_gpu.is_passive(callee) for callee in callees)


def _find_callees(library: Library, callers: tuple[ClassText, ...], written: str) -> Iterator[Scope]:
    match written.split("."):
        case ["self", name]:
            receivers = [*callers]
        case ["self", attribute, name]:
            receivers = _find_made_classes(library, callers, attribute)
        case _:
            return
    for receiver in receivers:
        yield from find_methods(library, receiver, name)


def _find_made_classes(library: Library, callers: Iterable[ClassText], attribute: str) -> list[ClassText]:
    """Return the omni classes of which classes make an attribute, ``self.cache = Cache(rows)``; empty if it may hold
    anything else."""
    values = [one for caller in callers for one in _find_values(library, caller, attribute) if not is_none(one.value)]
    called = [(one.owner.reading, one.value.func if isinstance(one.value, ast.Call) else None) for one in values]
    made = [library.find_class(reading, name) if name is not None else None for reading, name in called]
    known = [found for found in made if found is not None]
    return list(dict.fromkeys(known)) if len(known) == len(made) else []


def _find_values(library: Library, head: ClassText, attribute: str) -> Iterator[_Value]:
    """Yield what the classes of an MRO assign to an attribute of their objects."""
    for owner in find_ancestry(library, head).classes:
        yield from (_Value(owner, value) for value in owner.assigned.get(attribute, ()))
        # A property may return anything.
        yield from (_Value(owner, None) for _ in owner.methods.get(attribute, ()))
        for function in (function for functions in owner.methods.values() for function in functions):
            yield from (_Value(owner, value) for value in _find_assigned(function, attribute))


def _find_assigned(function: Function, attribute: str) -> Iterator[ast.expr | None]:
    """Yield the values that a method assigns to ``self.attribute``; ``None`` for each that is not written there."""
    nodes = walk(function)
    values: dict[int, ast.expr | None] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            values |= {id(target): node.value for target in node.targets}
        elif isinstance(node, ast.AnnAssign):
            values[id(node.target)] = node.value or ast.Constant(None)
        elif isinstance(node, ast.Call) and may_set(node, attribute):
            yield None
    stores = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    yield from (values.get(id(node)) for node in stores if dotted_name(node) == f"self.{attribute}")
