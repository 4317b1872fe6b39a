"""Attributes that GPU runners have, and that omni code asks for which NPU runs as well.

Comes in: a `Program`, a frame of inherited omni code, a read of an attribute. Goes out: who gives it on GPU. May touch:
the trees around the runners, by reading.

That somebody gives it is the proof that the code works on GPU: what nothing defines there either is the GPU runners'
own rebase onto another vLLM.

timid: not where a condition decides on the read, or on every call of its method, that says what the code runs on, or
asks for what the GPU runner has in another way: ``if self.has_epoch:``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from runner_sync.syntax import is_name, walk
from runner_sync.verify.device_words import says_device
from runner_sync.verify.trees.assignments import assignments_of
from runner_sync.verify.trees.classes import ClassInfo, Mro, is_attribute_of
from runner_sync.verify.trees.frames import Frame, frame_of, module_frame
from runner_sync.verify.trees.functions import FunctionNode, nodes_of, reads_of, returns_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.giving import defines
from runner_sync.verify.trees.values.guards import deciding

_DEVICES = frozenset({"ascend", "cuda", "device", "gpu", "hip", "npu", "rocm", "xpu"})
_MOST_STEPS = 3
"""From a condition to what a local, a flag or a method in it comes from, and on from there."""

Said = tuple[Frame, ast.AST]


def giver(program: Program, frame: Frame, read: ast.Attribute) -> ClassInfo | None:
    """The omni class that defines what is read where a runner which no checked class derives from runs ``frame``."""
    if frame.info is None:
        return None
    own = {id(info.node): info for mro in program.leaves() for info in mro.classes}
    mros = list(_others(program, frame.info, read.attr))
    others = {id(info.node): info for mro in mros for info in mro.classes if id(info.node) not in own}
    found = (info for info in others.values() if info.module.project == "vllm-omni" and defines(info, read.attr))
    given = next(found, None)
    if given is None:
        return None
    shared = {id(info.node) for mro in mros for info in mro.classes}
    apart = [*others.values(), *(info for key, info in own.items() if key not in shared)]
    differing = frozenset(n for i in apart if i.module.project == "vllm-omni" for n in (*i.methods, *i.written))

    def may_call(info: ClassInfo, function: FunctionNode, name: str) -> bool:
        caller, calls = program.frame(info, function), [n for n in reads_of(function) if n.attr == name]
        return not calls or not all(_is_asked(program, caller, call, differing) for call in calls)

    if _is_asked(program, frame, read, differing):
        return None
    reached = (program.is_reached(mro, frame.function, calls=may_call) for mro in program.mros(frame.info))
    return given if any(reached) else None


def _others(program: Program, info: ClassInfo, name: str) -> Iterator[Mro]:
    """The MROs with ``info`` of the classes that stand beside the inherited ones, or in their modules; of those whose
    text has the name."""
    inherited = program.inherited()
    beside = [program.world.module_at(path) for path in program.world.beside([module.path for module in inherited])]
    for module in [*inherited, *beside]:
        if name in module.text and module not in program.checked:
            yield from (mro for one in program.own_classes(module) for mro in program.classes.mros(one) if info in mro)


def _is_asked(program: Program, frame: Frame, node: ast.AST, differing: frozenset[str]) -> bool:
    """Whether a condition that decides on ``node`` may be one of a GPU only."""
    said: list[Said] = [(frame, test) for test in deciding(frame.function, node)]
    known: set[int] = set()
    for _ in range(_MOST_STEPS):
        said = [(within, part) for within, part in said if id(part) not in known]
        if any(_may_ask(within, part, differing) for within, part in said):
            return True
        known |= {id(part) for _, part in said}
        said = [one for within, part in said for one in _meant(program, within, part)]
    return False


def _may_ask(frame: Frame, part: ast.AST, differing: frozenset[str]) -> bool:
    """Whether an expression has words of platforms and devices, hands ``self`` on, or reads what GPU runners have in
    another way."""
    nodes, owner = walk(part), frame.owner or ""
    if any(_names_a_device(node) for node in nodes):
        return True
    own = [node for node in nodes if isinstance(node, ast.Attribute) and is_attribute_of(node, owner)]
    if any(node.attr in differing or node.attr == "__class__" for node in own):
        return True
    read = {id(node.value) for node in own}
    return any(is_name(node, owner) and id(node) not in read for node in nodes if isinstance(node, ast.expr))


def _names_a_device(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=text) | ast.Attribute(attr=text) | ast.Constant(value=str() as text):
            return says_device(text, _DEVICES)
    return False


def _meant(program: Program, frame: Frame, part: ast.AST) -> Iterator[Said]:
    """What omni's locals, attributes and functions in an expression come from."""
    for node in walk(part):
        if isinstance(node, ast.Attribute) and frame.info is not None and is_attribute_of(node, frame.owner or ""):
            for mro in program.mros(frame.info):
                reached = mro.find(node.attr)
                for info, function in [(reached[0], f) for f in reached[1]] if reached is not None else ():
                    yield from _answers(program.frame(info, function))
                for info, assignment in program.assignments(mro, node.attr):
                    if assignment.function is not None and assignment.value is not None:
                        yield from _of_omni(program.frame(info, assignment.function), assignment.value)
        elif isinstance(node, ast.Name) and node.id in frame.bound:
            pairs = [pair for bound in frame.bound[node.id] for pair in assignments_of(bound)]
            yield from ((frame, value) for target, value, _ in pairs if value is not None and is_name(target, node.id))
        elif isinstance(node, ast.Name):
            for found in program.definitions(frame, node.id):
                if found.module is not None and isinstance(found.node, FunctionNode):
                    yield from _answers(frame_of(found.module, found.node, None))
                elif found.module is not None and found.binding is not None and found.binding.value is not None:
                    yield from _of_omni(module_frame(found.module), found.binding.value)


def _answers(frame: Frame) -> Iterator[Said]:
    """What a function of omni's returns, and by what conditions."""
    tests = [node.test for node in nodes_of(frame.function) if isinstance(node, ast.If)]
    for part in (*returns_of(frame.function), *tests):
        if part is not None:
            yield from _of_omni(frame, part)


def _of_omni(frame: Frame, part: ast.AST) -> Sequence[Said]:
    return [(frame, part)] if frame.module.project == "vllm-omni" else []
