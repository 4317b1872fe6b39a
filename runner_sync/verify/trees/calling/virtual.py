"""Calls that inherited code makes to a method of a checked class.

Comes in: a `Program`, an MRO, a method name. Goes out: `VirtualCall`s in unchecked code that can still run: on ``self``
in a method of that MRO, and on an attribute in which another checked class holds such an object (``self.model_runner``
of a worker). May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from runner_sync.model import Project
from runner_sync.signatures import Arguments, of_call
from runner_sync.verify.trees.calling.aliases import resolve_alias
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import calls_of, reads_of
from runner_sync.verify.trees.program import Program

_Node = TypeVar("_Node", ast.Call, ast.Attribute)
_Use = tuple[Frame, ast.Attribute, _Node]
_Reader = Callable[[Frame], Iterator[tuple[ast.Attribute, _Node]]]


@dataclass(frozen=True, slots=True)
class VirtualCall:
    """One call of a method in unchecked code, in the frame that makes it."""

    frame: Frame
    node: ast.Call

    @property
    def place(self) -> str:
        """``path:line`` of the call."""
        return self.frame.place_of(self.node)

    @property
    def arguments(self) -> Arguments:
        """What the call passes."""
        return of_call(self.node, self.frame.function)

    @property
    def project(self) -> Project:
        """The project of the code that makes the call."""
        return self.frame.module.project


def find_virtual_calls(program: Program, mro: Mro, name: str) -> Iterator[VirtualCall]:
    """Yield the calls of ``name`` on instances of the MRO's class in unchecked code."""
    return (VirtualCall(frame, call) for frame, _, call in _find_uses(program, mro, name, _read_calls))


def find_override_calls(
    program: Program, mro: Mro, info: ClassInfo, name: str
) -> Iterator[tuple[VirtualCall, list[Callee], list[Callee]]]:
    """Yield the unchecked calls that reach the class's own ``name``, each with its callees there and the hidden ones.

    The hidden callees are those that the call was meant for.
    """
    own = [callee for callee in program.method(mro, name) if callee.info is info]
    for call in find_virtual_calls(program, mro, name) if own else ():
        yield call, own, find_hidden_by(program, mro, own[0], from_omni=call.frame.is_omnis)


def find_virtual_reads(program: Program, mro: Mro, name: str) -> Iterator[tuple[Frame, ast.Attribute]]:
    """Yield the reads and calls of ``name`` on instances of the MRO's class in unchecked code."""
    return ((frame, read) for frame, read, _ in _find_uses(program, mro, name, _read_attributes))


def find_hidden_by(program: Program, mro: Mro, own: Callee, *, from_omni: bool) -> list[Callee]:
    """Return the methods that a call would reach without the override ``own``.

    For a call in upstream code (not ``from_omni``), only upstream definitions count.
    """
    for info in mro.behind(own.info) if own.info else ():
        if own.name in info.methods and (from_omni or not info.is_omnis):
            before = mro.classes[mro.classes.index(info) - 1]
            return program.method(mro, own.name, after=before)
    return []


def _find_uses(program: Program, mro: Mro, name: str, read: _Reader[_Node]) -> Iterator[_Use[_Node]]:
    """Yield what ``read`` finds in unchecked code, of the attribute ``name`` of instances of the MRO's class."""
    for other in program.leaves():
        for use in _group_uses(program, other, read).get(name, ()):
            frame, attribute, _ = use
            is_own = frame.is_self(attribute.value) and other is mro
            if is_own or (frame.is_of_self(attribute.value) and _holds(program, other, attribute.value, mro)):
                yield use


def _group_uses(program: Program, mro: Mro, read: _Reader[_Node]) -> dict[str, list[_Use[_Node]]]:
    """Return what ``read`` finds in the MRO's live methods outside the checked modules, by the attribute's name."""

    def group() -> dict[str, list[_Use[_Node]]]:
        found: dict[str, list[_Use[_Node]]] = {}
        for frame in _find_unchecked_frames(program, mro):
            for attribute, node in read(frame):
                found.setdefault(attribute.attr, []).append((frame, attribute, node))
        return found

    return program.answers.once((read, mro), group)


def _read_calls(frame: Frame) -> Iterator[tuple[ast.Attribute, ast.Call]]:
    for node in calls_of(frame.function):
        call = resolve_alias(frame, node)
        if isinstance(call.func, ast.Attribute):
            yield call.func, call


def _read_attributes(frame: Frame) -> Iterator[tuple[ast.Attribute, ast.Attribute]]:
    return ((node, node) for node in reads_of(frame.function))


def _find_unchecked_frames(program: Program, mro: Mro) -> Iterator[Frame]:
    methods = program.live(mro).values()
    return (program.frame(info, function) for info, function in methods if info.module not in program.checked)


def _holds(program: Program, holder: Mro, attribute: ast.expr, mro: Mro) -> bool:
    assert isinstance(attribute, ast.Attribute)
    instances = program.attribute(holder, attribute.attr)
    return bool(instances) and any(instance.info is mro.head for instance in instances or ())
