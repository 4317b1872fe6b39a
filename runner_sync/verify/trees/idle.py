"""Attributes of a runner that are set only by methods which nothing calls any more.

Comes in: a ``Program``. Goes out: ``Idle`` values. May touch: the trees around the runners, by reading words.

Some class of the MRO still assigns the attribute, so no other rule reports it. For example, only vLLM's
``init_routed_experts_capturer`` sets an attribute that omni's ``sample_tokens`` reads. vllm-ascend 0.25.1rc1 calls that
method, and nothing in 0.30.0rc2 does: an ``AttributeError`` on hardware once the feature is turned on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.verify.trees.classes import Method, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program


@dataclass(frozen=True, slots=True)
class Idle:
    """A read of ``attribute`` in ``unit`` at ``where``. Only the method ``setter`` at ``place`` sets it.

    ``condition`` is the innermost ``if`` around the read; empty if there is none.
    """

    attribute: str
    unit: str
    where: str
    setter: str
    place: str
    condition: str = ""


def find_idle_reads(program: Program, module: Module) -> Iterator[Idle]:
    """Yield the reads in a module that can only fail.

    Skips reads in the setter and in hidden methods, reads under a test for the attribute or in a ``try``, attributes
    that a class body, ``__init__`` or another module sets, setters named by another module, and classes with dynamic
    attributes.
    """
    reads = ((frame, node) for frame in program.frames(module) for node in frame.own_reads())
    for frame, node in reads:
        found = None if frame.may_lack(node) else _find_idle_setter(program, frame, node.attr)
        if found is not None and found[1] is not frame.function and _is_live(program, frame):
            info, function = found
            condition = "".join(map(ast.unparse, frame.conditions(node)[-1:]))
            place, where = info.place_of(function), frame.place_of(node)
            yield Idle(node.attr, frame.unit, where, function.name, place, condition)


def _is_live(program: Program, frame: Frame) -> bool:
    assert frame.info is not None
    return any(id(frame.function) in program.live(mro) for mro in program.mros(frame.info))


def _find_idle_setter(program: Program, frame: Frame, name: str) -> Method | None:
    assert frame.info is not None
    found = [_find_only_setter(program, mro, name) for mro in program.mros(frame.info)]
    if not found or any(setter is None for setter in found) or program.world.surroundings.is_set_on_runner(name):
        return None
    return found[0]


def _find_only_setter(program: Program, mro: Mro, name: str) -> Method | None:
    """Return a live setter of the attribute if all setters are methods that nothing calls, else ``None``."""
    if mro.open or mro.has_method(name):
        return None
    live = program.live(mro)
    setters: list[Method] = []
    for info, write in mro.written(name):
        if write.function is None:
            return None
        setters += [(info, write.function)] if id(write.function) in live else []
    if not setters or any(function.name == "__init__" for _, function in setters):
        return None
    return None if any(program.is_called(mro, function.name) for _, function in setters) else setters[0]
