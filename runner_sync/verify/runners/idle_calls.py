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

from runner_sync.profile import Profile
from runner_sync.syntax import Function, dotted_name, is_name, is_none, is_string, walk
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.reading import ClassText, dotted


class _Callee(NamedTuple):
    """A method that an object of class ``receiver`` runs."""

    receiver: ClassText
    function: Function


class _Value(NamedTuple):
    """What ``function`` assigns to an attribute; ``None`` for what cannot be told. A class body is no function."""

    owner: ClassText
    function: Function | None
    value: ast.expr | None


def is_idle(library: Library, gpu: ClassText, npu: ClassText, written: str) -> bool:
    """Whether a call in ``gpu`` of ``self.method`` or ``self.attribute.method`` does nothing without a GPU."""
    callees = [*_find_callees(library, (gpu, npu), written)]
    return bool(callees) and all(
        _leaves_without_gpu(callee.function, library.job.profile) or _waits_for_gpu(library, callee, beside=(gpu, npu))
        for callee in callees
    )


def _find_callees(library: Library, callers: tuple[ClassText, ...], written: str) -> Iterator[_Callee]:
    match written.split("."):
        case ["self", name]:
            receivers = [*callers]
        case ["self", attribute, name]:
            receivers = _find_made_classes(library, callers, attribute)
        case _:
            return
    for receiver in receivers:
        found = find_ancestry(library, receiver).find(name)
        yield from (_Callee(receiver, function) for function in found.methods[name]) if found is not None else ()


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
        yield from (_Value(owner, None, value) for value in owner.assigned.get(attribute, ()))
        # A property may return anything.
        yield from (_Value(owner, function, None) for function in owner.methods.get(attribute, ()))
        for function in (function for functions in owner.methods.values() for function in functions):
            yield from (_Value(owner, function, value) for value in _find_assigned(function, attribute))


def _find_assigned(function: Function, attribute: str) -> Iterator[ast.expr | None]:
    """Yield the values that a method assigns to ``self.attribute``; ``None`` for each that is not written there."""
    nodes = walk(function)
    values: dict[int, ast.expr | None] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            values |= {id(target): node.value for target in node.targets}
        elif isinstance(node, ast.AnnAssign):
            values[id(node.target)] = node.value or ast.Constant(None)
        elif isinstance(node, ast.Call) and _may_set(node, attribute):
            yield None
    stores = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    yield from (values.get(id(node)) for node in stores if dotted_name(node) == f"self.{attribute}")


def _may_set(call: ast.Call, attribute: str) -> bool:
    """Whether a call is ``setattr(self, "attribute", …)``, or such a call with a name that is built at run time."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), name, *_]):
            return not isinstance(name, ast.Constant) or name.value == attribute
    return False


def _find_first_guard(function: Function) -> ast.expr | None:
    """Return the condition under which a function returns before it does anything."""
    passive = (ast.Import, ast.ImportFrom)
    match [one for one in function.body if not is_string(one) and not isinstance(one, passive)]:
        case [ast.If(test=test, body=[ast.Return(value=None | ast.Constant())]), *_]:
            return test
    return None


def _leaves_without_gpu(function: Function, profile: Profile) -> bool:
    """Whether a function begins with ``if not torch.cuda.is_available(): return``, or with a platform's answer."""
    gpu = profile.device[0]
    match _find_first_guard(function):
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=asked)):
            name = dotted(asked)
            return name == f"torch.{gpu}.is_available" or name.endswith(f"platform.is_{gpu}")
    return False


def _waits_for_gpu(library: Library, callee: _Callee, *, beside: tuple[ClassText, ...]) -> bool:
    """Whether a method begins with ``if self.x is None: return``, and only methods that need a GPU set ``x``.

    That can be told of a class whose every base is omni's.
    """
    match _find_first_guard(callee.function):
        case ast.Compare(left=ast.Attribute(value=ast.Name(id="self"), attr=name), ops=[ast.Is()], comparators=[none]):
            classes = find_ancestry(library, callee.receiver).classes
            bases = [library.find_class(one.reading, base) for one in classes for base in one.node.bases]
            setters = [one for one in _find_values(library, callee.receiver, name) if not is_none(one.value)]
            profile, files = library.job.profile, {one.reading: None for one in (*classes, *beside)}
            return (
                is_none(none)
                and bool(setters)
                and None not in bases
                and all(one.function is not None and _leaves_without_gpu(one.function, profile) for one in setters)
                and not any(_sets_of_another(reading.nodes, name) for reading in files)
            )
    return False


def _sets_of_another(nodes: Iterable[ast.AST], name: str) -> bool:
    """Whether code sets an attribute of an object other than ``self``."""
    stores = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return any(node.attr == name and not is_name(node.value, "self") for node in stores)
