"""RS309 buffer-kind: a CPU/GPU buffer pair is used as a tensor, or a tensor as a buffer pair.

What: `self.x.gpu`, `.np`, `.copy_to_gpu()`, `.cpu[...]` where every assignment of `self.x` that can run in the
target makes a plain tensor; `self.x[...]` where all of them make a buffer object without `__getitem__`; `.np` of
a buffer made with `numpy=False`.

Example: `self.seq_lens.np[:n]` after vLLM turned `seq_lens` from `_make_buffer(...)` into `torch.zeros(...)`.

Why: the buffers of the runner change kind one by one, and copied bodies keep the old access; an `AttributeError`
in the first forward pass.

Fix: use the object as the target's own copy of the method does.

Leaves alone: attributes with an assignment it cannot read, names tested with `hasattr`, guarded code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, Severity
from runner_sync.syntax import dotted_name
from runner_sync.verify.classes import Assignment, ClassInfo, is_attribute_of
from runner_sync.verify.frames import Frame
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Program

CODE = "RS309"
NAME = "buffer-kind"
SEVERITY: Severity = "error"

_OF_BUFFER = frozenset({"gpu", "np", "copy_to_gpu", "copy_to_cpu"})
_TENSOR_MAKERS = frozenset(
    {"zeros", "ones", "empty", "full", "arange", "tensor", "from_numpy", "zeros_like", "empty_like", "ones_like"}
)


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Accesses of the wrong kind through ``self``."""
    for frame in program.frames(module):
        called = {id(node.func) for node in frame.nodes() if isinstance(node, ast.Call)}
        for node in frame.nodes():
            if not frame.is_guarded(node):
                yield from _check(program, frame, node, called=called)


def _check(program: Program, frame: Frame, node: ast.AST, *, called: set[int]) -> Iterator[Finding]:
    if isinstance(node, ast.Attribute) and _is_own(frame, node.value) and not frame.is_tested(node):
        if node.attr in _OF_BUFFER or (node.attr == "cpu" and id(node) not in called):
            yield from _check_buffer_access(program, frame, node)
    elif isinstance(node, ast.Subscript) and _is_own(frame, node.value) and isinstance(node.value, ast.Attribute):
        yield from _check_subscript(program, frame, node, name=node.value.attr)


def _is_own(frame: Frame, node: ast.expr) -> bool:
    return frame.owner is not None and is_attribute_of(node, frame.owner)


def _check_buffer_access(program: Program, frame: Frame, node: ast.Attribute) -> Iterator[Finding]:
    assert isinstance(node.value, ast.Attribute)
    name = node.value.attr
    places = _places(program, frame, name)
    values = [assignment.value for _, assignment in places]
    if values and all(_makes_tensor(value) for value in values):
        yield _finding(frame, node, name=name, places=places, what=f"a plain tensor, which has no `.{node.attr}`")
    elif node.attr == "np" and values and all(_makes_without_numpy(value) for value in values):
        yield _finding(frame, node, name=name, places=places, what="a buffer made with `numpy=False`, without `.np`")


def _check_subscript(program: Program, frame: Frame, node: ast.Subscript, *, name: str) -> Iterator[Finding]:
    instances = program.infer(frame, node.value) or []
    if instances and all(_is_buffer(program, i.info) for i in instances):
        places = _places(program, frame, name)
        yield _finding(frame, node, name=name, places=places, what=f"a `{instances[0].info.name}`, not a tensor")


def _is_buffer(program: Program, info: ClassInfo) -> bool:
    lines = program.classes.lineups(info)
    names = {name for line in lines for c in line.classes for name in (*c.methods, *c.written)}
    return not any(line.open for line in lines) and {"gpu", "cpu"} <= names and "__getitem__" not in names


def _places(program: Program, frame: Frame, name: str) -> list[tuple[ClassInfo, Assignment]]:
    lines = program.lineups(frame.info) if frame.info is not None else []
    if any(line.open for line in lines):
        return []
    found = [pair for line in lines for pair in program.assignments(line, name)]
    return [pair for pair in found if not (isinstance(pair[1].value, ast.Constant) and pair[1].value.value is None)]


def _makes_tensor(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = dotted_name(value.func) or ""
    return name.startswith("torch.") and name.removeprefix("torch.") in _TENSOR_MAKERS


def _makes_without_numpy(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call) or not ast.unparse(value.func).endswith("_make_buffer"):
        return False
    return any(
        k.arg == "numpy" and isinstance(k.value, ast.Constant) and k.value.value is False for k in value.keywords
    )


def _finding(
    frame: Frame, node: ast.expr, *, name: str, places: list[tuple[ClassInfo, Assignment]], what: str
) -> Finding:
    info, assignment = places[0]
    place = f"{info.module.path}:{getattr(assignment.node, 'lineno', info.node.lineno)}"
    return frame.finding(
        CODE,
        SEVERITY,
        node,
        symbol=name,
        message=f"`self.{name}` is {what} ({place}).",
        fix=f"Use `self.{name}` as {info.module.path} does.",
    )
