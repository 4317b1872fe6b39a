"""RS320 parent-dropped: an override called the method that it hides, and calls no parent's any more.

What: a method of an NPU runner or worker that handed on where the branch began (`super().m(…)`, `Parent.m(self, …)`),
does so no more, and has not become a copy: what the parent does there, nobody does now.

Example: `capture_model` of the NPU runner calls `super().capture_model()` and then captures omni's own graphs. A change
of its result takes the call with it.

Why: nothing fails. The graphs of vllm-ascend are not captured, a request stays in a table that the parent would have
emptied, the weights of a drafter are not loaded. What the parent sets and others read is RS312's.

Fix: call it again; where the class is meant to do without it, say so: `# runner-sync: ignore[RS320] reason`.

Leaves alone: overrides that have most of the statements of a method that they hid before (a copy, also of a parent
behind), parents that do nothing (`pass`, `raise`, a constant, or only the next parent's), methods that another method
still hands on to, classes that derive no more from the parent, overrides that call any parent's method of that name or
one of another name instead. timid: a call under a new condition, or behind a new `return`, may be meant. Needs the omni
tree as it was (`check --changed-since`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.lineage import share
from runner_sync.model import Finding, Severity
from runner_sync.syntax import is_parent, parents_called, walk
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import FunctionNode, reads_of
from runner_sync.verify.trees.instance import is_instance, is_own_super
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps

CODE = "RS320"
NAME = "parent-dropped"
SEVERITY: Severity = "warning"

COPIED = 0.5
"""Share of a parent's statements from which on an override does by itself what it called before."""


def find(program: Program, module: Module, old: Program | None = None) -> Iterator[Finding]:
    """Overrides in ``module`` that reached a parent's method in ``old``."""
    for step in steps(program, module, old):
        lost = _lost(step) if _hands_on_no_more(step) else []
        working = [(info, f) for info, f in lost if _own_statements(f)]
        if working and not any(_is_copied(f, step.frame.function) for _, f in working):
            yield _make_finding(step.frame, *working[0])


def _hands_on_no_more(step: Step) -> bool:
    now, before = step.frame.function, step.before.function
    if step.frame.info is None or not parents_called(before, now.name) or parents_called(now, now.name):
        return False
    return _parents_asked(now) <= _parents_asked(before)


def _parents_asked(function: FunctionNode) -> set[str]:
    """The members that a method takes from ``super()``, and the methods of classes that it calls on itself."""
    asked = {node.attr for node in reads_of(function) if is_own_super(function, node.value)}
    for node in walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Name() as owner), args=[ast.Name() as first, *_]):
                asked |= {name} if is_parent(owner) and is_instance(function, first) else set()
    return asked


def _lost(step: Step) -> list[tuple[ClassInfo, FunctionNode]]:
    """The hidden methods that the override reached, in the order of the MRO, where nothing reaches any of them now."""
    info, before, name = step.frame.info, step.before, step.frame.function.name
    assert info is not None
    assert before.info is not None
    was: set[tuple[str, str]] = set()
    for mro in step.old.mros(before.info):
        reached = step.old.reach(mro, [(before.info, before.function)])
        was |= {owner.key for owner, f in reached.values() if f.name == name and owner is not before.info}
    for mro in (mro for mro in step.program.mros(info) if info in mro):
        behind = [c for c in mro.classes[mro.classes.index(info) + 1 :] if c.key in was]
        methods = [(c, function) for c in behind for function in c.methods.get(name, ())]
        live = step.program.live(mro)
        if methods and not any(id(function) in live for _, function in methods):
            return methods
    return []


def _own_statements(function: FunctionNode) -> list[ast.stmt]:
    """What a method does itself: not its docstring, a constant result, an error, or what it only hands on."""
    return [statement for statement in function.body if not _is_idle(statement, function.name)]


def _is_idle(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Pass() | ast.Raise() | ast.Return(value=None | ast.Constant()) | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=ast.Call(func=called)) | ast.Expr(value=ast.Call(func=called)):
            return isinstance(called, ast.Attribute) and called.attr == name and is_parent(called.value)
    return False


def _is_copied(parent: FunctionNode, override: FunctionNode) -> bool:
    return share(_text(_own_statements(parent)), _text(override.body)) >= COPIED


def _text(body: list[ast.stmt]) -> str:
    return "\n".join(ast.unparse(statement) for statement in body)


def _make_finding(frame: Frame, owner: ClassInfo, parent: FunctionNode) -> Finding:
    count = sum(isinstance(node, ast.stmt) for statement in _own_statements(parent) for node in walk(statement))
    does = "1 statement" if count == 1 else f"{count} statements"
    return frame.finding(
        CODE,
        SEVERITY,
        frame.function,
        symbol=parent.name,
        message=f"This override called `{owner.name}.{parent.name}` ({owner.module.path}:{parent.lineno}, {does}) "
        "before, and calls no parent any more: nothing does now what that does.",
        fix=f"Call `super().{parent.name}(…)` again; where the class is meant to do without it, "
        f"`# runner-sync: ignore[{CODE}] reason`.",
    )
