"""RS309 buffer-kind: a CPU/GPU buffer pair is used as a tensor, or a tensor as a buffer pair.

What: `self.x.gpu`, `.np`, `.copy_to_gpu()`, `.cpu[...]` where every assignment of `self.x` that can run in the target
makes a plain tensor; `self.x[...]` where all of them make a buffer object without `__getitem__`; `.np` of a buffer made
with `numpy=False`. A local that is only another name for such an attribute counts, and so does an attribute of another
object that is made in sight (`self.input_batch.x`). With the old trees also one of another object, if it was
none there and is a tensor now in its class and in those near the runners that derive from it.

Example: `self.seq_lens.np[:n]` after vLLM turned `seq_lens` from `_make_buffer(...)` into `torch.zeros(...)`.

Why: the buffers of the runner change kind one by one, and copied bodies keep the old access; an `AttributeError` in the
first forward pass.

Fix: use the object as the target's own copy of the method does.

Leaves alone: attributes with an unreadable assignment, names that the code tests with `hasattr`, `isinstance` or
`type`, locals with more than one value, guarded code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.model import Finding, Severity
from runner_sync.profile.vllm import BUFFER_MAKER, BUFFER_MEMBERS
from runner_sync.syntax import is_none
from runner_sync.verify.trees.classes import Assignment, ClassInfo, Mro, classes_in
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values.torch_objects import is_new_tensor

CODE = "RS309"
NAME = "buffer-kind"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield accesses of the wrong kind."""
    for frame in program.frames(module):
        step = step_of(program, frame, old)
        called = {id(node.func) for node in frame.nodes() if isinstance(node, ast.Call)}
        for node in frame.nodes():
            if not frame.is_guarded(node):
                yield from _check(program, frame, node, step, called=called)


def _check(program: Program, frame: Frame, node: ast.AST, step: Step | None, *, called: set[int]) -> Iterator[Finding]:
    if isinstance(node, ast.Attribute) and not frame.is_tested(node):
        if node.attr in BUFFER_MEMBERS or (node.attr == "cpu" and id(node) not in called):
            yield from _check_buffer_access(program, frame, node, step)
    elif isinstance(node, ast.Subscript):
        yield from _check_subscript(program, frame, node)


def _check_buffer_access(program: Program, frame: Frame, node: ast.Attribute, step: Step | None) -> Iterator[Finding]:
    attribute = frame.find_attribute(node.value)
    is_asked = not frame.narrowed.isdisjoint(
        {ast.unparse(node.value), ast.unparse(attribute) if attribute is not None else ""}
    )
    places = _find_assignments(program, frame, attribute) if attribute is not None and not is_asked else []
    if attribute is not None and not places and not is_asked and step is not None:
        places = _find_changed(step, attribute)
    if attribute is None or not places:
        return
    what = ""
    if all(_is_tensor(assignment) for _, assignment in places):
        what = f"a plain tensor, which has no `.{node.attr}`"
    elif node.attr == "np" and all(_makes_without_numpy(assignment.value) for _, assignment in places):
        what = "a buffer made with `numpy=False`, without `.np`"
    if what:
        yield _make_finding(frame, node, attribute=attribute, places=places, what=what)


def _check_subscript(program: Program, frame: Frame, node: ast.Subscript) -> Iterator[Finding]:
    attribute = frame.find_attribute(node.value)
    instances = (program.infer(frame, attribute) or []) if attribute is not None else []
    places = _find_assignments(program, frame, attribute) if attribute is not None and instances else []
    if attribute is not None and places and all(_is_buffer(program, i.info) for i in instances):
        yield _make_finding(
            frame, node, attribute=attribute, places=places, what=f"a `{instances[0].info.name}`, not a tensor"
        )


def _is_buffer(program: Program, info: ClassInfo) -> bool:
    mros = program.classes.mros(info)
    names = {name for one in classes_in(mros) for name in (*one.methods, *one.written)}
    return not any(mro.open for mro in mros) and {"gpu", "cpu"} <= names and "__getitem__" not in names


def _find_assignments(program: Program, frame: Frame, attribute: ast.Attribute) -> list[tuple[ClassInfo, Assignment]]:
    return _list_assignments(program, program.mros_of(frame, attribute.value, only_exact=True), attribute.attr)


def _list_assignments(program: Program, mros: Sequence[Mro], name: str) -> list[tuple[ClassInfo, Assignment]]:
    if any(mro.open or mro.has_method(name) for mro in mros):
        return []
    found = [pair for mro in mros for pair in program.assignments(mro, name)]
    return [pair for pair in found if not is_none(pair[1].value)]


def _find_changed(step: Step, attribute: ast.Attribute) -> list[tuple[ClassInfo, Assignment]]:
    """Return the assignments of an attribute of a declared object, if they make tensors and none did in the old trees.

    The object may be of a subclass near the runners, of which the same must hold.
    """
    program, old = step.program, step.old
    instances = program.infer(step.frame, attribute.value) or []
    was = _list_assignments(old, old.mros_of(step.before, attribute.value), attribute.attr) if instances else []
    if not was or any(_is_tensor(assignment) for _, assignment in was):
        return []
    derived = [info for instance in instances for info in program.subclasses_near(instance.info)]
    mros = program.classes.mros_of([*(instance.info for instance in instances), *derived])
    places = _list_assignments(program, mros, attribute.attr)
    return places if all(_is_tensor(assignment) for _, assignment in places) else []


def _is_tensor(assignment: Assignment) -> bool:
    """Whether the value is a new tensor, or the annotation says so where there is no value."""
    if assignment.value is None:
        return assignment.annotation is not None and ast.unparse(assignment.annotation) == "torch.Tensor"
    return is_new_tensor(assignment.value)


def _makes_without_numpy(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call) or not ast.unparse(value.func).endswith(BUFFER_MAKER):
        return False
    return any(
        k.arg == "numpy" and isinstance(k.value, ast.Constant) and k.value.value is False for k in value.keywords
    )


def _make_finding(
    frame: Frame, node: ast.expr, *, attribute: ast.Attribute, places: list[tuple[ClassInfo, Assignment]], what: str
) -> Finding:
    info, assignment = places[0]
    return frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=attribute.attr,
        message=f"`{ast.unparse(attribute)}` is {what} ({info.place_of(assignment.node)}).",
        fix=f"Use `{ast.unparse(attribute)}` as what {info.module.path} makes it.",
    )
