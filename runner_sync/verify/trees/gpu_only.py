"""Attributes that only GPU runners define, read by shared omni code that runs on NPU as well.

Comes in: a `Program`, a frame of inherited omni code, a read of an attribute. Goes out: the class that defines it on
GPU. May touch: the trees around the runners, by reading.

The code is known to work on GPU only if a GPU class defines the attribute. Without one, it is a matter of the GPU
runners' own rebase onto another vLLM.

timid: reports nothing if the read, or every call of its method, depends on a condition that names a platform or device,
or that reads an attribute which GPU and NPU classes define differently: ``if self.has_epoch:``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from runner_sync.syntax import Function, walk
from runner_sync.verify.device_words import is_device_name
from runner_sync.verify.trees.classes import ClassInfo, Mro, classes_in
from runner_sync.verify.trees.frames import Frame, module_frame
from runner_sync.verify.trees.functions import nodes_of, reads_of, returns_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.giving import defines_member
from runner_sync.verify.trees.values.guards import find_deciding_tests

_DEVICES = frozenset({"ascend", "cuda", "device", "gpu", "hip", "hpu", "musa", "npu", "rocm", "tpu", "xpu"})
_MOST_STEPS = 3
"""Steps from a condition to the origins of the locals, flags and methods in it, and on to their own origins."""

Part = tuple[Frame, ast.AST]


def find_gpu_definer(program: Program, frame: Frame, read: ast.Attribute) -> ClassInfo | None:
    """Return the omni class that defines the attribute for unchecked runners, if ``frame`` runs in both.

    ``None`` if there is no such class, or if a condition may keep NPU from the read.
    """
    if frame.info is None:
        return None
    own = classes_in(program.leaves())
    others = classes_in(_find_other_mros(program, frame.info, read.attr))
    unshared = {*own} ^ {*others}
    found = (info for info in others if info in unshared and info.is_omnis and defines_member(info, read.attr))
    definer = next(found, None)
    if definer is None:
        return None
    differing = frozenset(name for info in unshared if info.is_omnis for name in (*info.methods, *info.written))

    def may_call(info: ClassInfo, function: Function, name: str) -> bool:
        caller, calls = program.frame(info, function), [n for n in reads_of(function) if n.attr == name]
        return not calls or not all(_may_be_gpu_only(program, caller, call, differing) for call in calls)

    if _may_be_gpu_only(program, frame, read, differing):
        return None
    reached = (program.is_reached(mro, frame.function, calls=may_call) for mro in program.mros(frame.info))
    return definer if any(reached) else None


def _find_other_mros(program: Program, info: ClassInfo, name: str) -> Iterator[Mro]:
    """Yield the MROs that contain ``info``, of unchecked classes in the inherited modules and their folders.

    Reads only modules with ``name`` in their text.
    """
    inherited = program.inherited()
    beside = [program.world.module_at(path) for path in program.world.beside([module.path for module in inherited])]
    for module in [*inherited, *beside]:
        if name in module.text and module not in program.checked:
            yield from (mro for one in program.own_classes(module) for mro in program.classes.mros(one) if info in mro)


def _may_be_gpu_only(program: Program, frame: Frame, node: ast.AST, differing: frozenset[str]) -> bool:
    """Whether a condition that decides whether ``node`` runs may hold on GPU only."""
    parts: list[Part] = [(frame, test) for test in find_deciding_tests(frame.function, node)]
    known: set[int] = set()
    for _ in range(_MOST_STEPS):
        parts = [(within, part) for within, part in parts if id(part) not in known]
        if any(_may_differ(within, part, differing) for within, part in parts):
            return True
        known |= {id(part) for _, part in parts}
        parts = [one for within, part in parts for one in _find_origins(program, within, part)]
    return False


def _may_differ(frame: Frame, part: ast.AST, differing: frozenset[str]) -> bool:
    """Whether an expression names a platform or device, passes ``self`` on, or reads an attribute in ``differing``."""
    nodes = walk(part)
    if any(_names_a_device(node) for node in nodes):
        return True
    own = [node for node in nodes if frame.is_of_self(node)]
    if any(node.attr in differing or node.attr == "__class__" for node in own):
        return True
    read = {id(node.value) for node in own}
    return any(frame.is_self(node) and id(node) not in read for node in nodes)


def _names_a_device(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=text) | ast.Attribute(attr=text) | ast.Constant(value=str() as text):
            return is_device_name(text, _DEVICES)
    return False


def _find_origins(program: Program, frame: Frame, part: ast.AST) -> Iterator[Part]:
    """Yield the expressions in omni code that give the locals, attributes and functions in ``part`` their values."""
    for node in walk(part):
        if frame.is_of_self(node) and frame.info is not None:
            for mro in program.mros(frame.info):
                yield from _find_member_origins(program, mro, node.attr)
        elif isinstance(node, ast.Name) and node.id in frame.bound:
            yield from ((frame, value) for value in frame.values_of(node.id))
        elif isinstance(node, ast.Name):
            yield from _find_global_origins(program, frame, node.id)


def _find_member_origins(program: Program, mro: Mro, name: str) -> Iterator[Part]:
    for info, function in mro.reached(name):
        yield from _find_results(program.frame(info, function))
    for info, assignment in program.assignments(mro, name):
        if assignment.function is not None and assignment.value is not None:
            yield from _keep_omni(program.frame(info, assignment.function), assignment.value)


def _find_global_origins(program: Program, frame: Frame, name: str) -> Iterator[Part]:
    for found in program.definitions(frame, name):
        if found.module is not None and isinstance(found.node, Function):
            yield from _find_results(program.frame_of(found.module, found.node))
        elif found.module is not None and found.value is not None:
            yield from _keep_omni(module_frame(found.module), found.value)


def _find_results(frame: Frame) -> Iterator[Part]:
    """Yield the returned values and the conditions of an omni function; nothing for other projects."""
    tests = [node.test for node in nodes_of(frame.function) if isinstance(node, ast.If)]
    for part in (*returns_of(frame.function), *tests):
        if part is not None:
            yield from _keep_omni(frame, part)


def _keep_omni(frame: Frame, part: ast.AST) -> Sequence[Part]:
    return [(frame, part)] if frame.is_omnis else []
