"""RS320 parent-dropped: an override called the method that it hides, and calls no parent's any more.

What: a method of an NPU runner or worker that called a parent's method where the branch began (`super().m(…)`,
`Parent.m(self, …)`), no longer calls any, and has not become a copy: nobody does the parent's work now.

Example: `capture_model` of the NPU runner calls `super().capture_model()` and then captures omni's own graphs. A change
of its result removes the call as well.

Why: nothing fails. The graphs of vllm-ascend are not captured, a request stays in a table that the parent would have
emptied, the weights of a drafter are not loaded. RS312 reports attributes that the parent sets and others read.

Fix: call it again; where the class is meant to do without it, write `# runner-sync: ignore[RS320] reason`.

Leaves alone: overrides that have most of the statements of a method that they hid before (a copy, also of a more
distant parent), parents that do nothing (`pass`, `raise`, a constant, or only the next parent's call), methods that
another method still calls, classes that no longer derive from the parent, overrides that call any parent's method of
that name or newly one of another name. timid: a call under a new condition, or behind a new `return`, may be meant.
Needs the omni tree as it was (`check --changed-since`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.lineage import share
from runner_sync.model import Finding, Severity
from runner_sync.statements.parents import parents_called
from runner_sync.syntax import Function, is_parent, walk
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import reads_of
from runner_sync.verify.trees.instance import is_instance, is_own_super
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps

CODE = "RS320"
NAME = "parent-dropped"
SEVERITY: Severity = "warning"

COPIED = 0.5
"""From this share of a parent's statements on, an override does itself what it called before."""


def find(program: Program, module: Module, old: Program | None = None) -> Iterator[Finding]:
    """Yield overrides in ``module`` that reached a parent's method in ``old``."""
    for step in steps(program, module, old):
        lost = _find_lost_methods(step) if _has_lost_call(step) else []
        working = [(info, f) for info, f in lost if _find_own_statements(f)]
        if working and not any(_is_copied(f, step.frame.function) for _, f in working):
            yield _make_finding(step.frame, *working[0])


def _has_lost_call(step: Step) -> bool:
    now, before = step.frame.function, step.before.function
    if step.frame.info is None or not parents_called(before, now.name) or parents_called(now, now.name):
        return False
    return _find_parent_members(now) <= _find_parent_members(before)


def _find_parent_members(function: Function) -> set[str]:
    """Return the members that a method takes from ``super()``, and the methods that it calls as ``Parent.m(self)``."""
    members = {node.attr for node in reads_of(function) if is_own_super(function, node.value)}
    for node in walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=name, value=ast.Name() as owner), args=[ast.Name() as first, *_]):
                members |= {name} if is_parent(owner) and is_instance(function, first) else set()
    return members


def _find_lost_methods(step: Step) -> list[tuple[ClassInfo, Function]]:
    """Return the hidden methods that the override reached, in MRO order, if nothing reaches any of them now."""
    info, before, name = step.frame.info, step.before, step.frame.function.name
    assert info is not None
    assert before.info is not None
    was: set[tuple[str, str]] = set()
    for mro in step.old.mros(before.info):
        reached = step.old.reach(mro, [(before.info, before.function)])
        was |= {owner.key for owner, f in reached.values() if f.name == name and owner is not before.info}
    for mro in (mro for mro in step.program.mros(info) if info in mro):
        behind = [c for c in mro.behind(info) if c.key in was]
        methods = [(c, function) for c in behind for function in c.methods.get(name, ())]
        live = step.program.live(mro)
        if methods and not any(id(function) in live for _, function in methods):
            return methods
    return []


def _find_own_statements(function: Function) -> list[ast.stmt]:
    """Return a method's own work: no docstring, constant result, error or call of the next parent."""
    return [statement for statement in function.body if not _is_idle(statement, function.name)]


def _is_idle(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Pass() | ast.Raise() | ast.Return(value=None | ast.Constant()) | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=ast.Call(func=called)) | ast.Expr(value=ast.Call(func=called)):
            return isinstance(called, ast.Attribute) and called.attr == name and is_parent(called.value)
    return False


def _is_copied(parent: Function, override: Function) -> bool:
    return share(_unparse_body(_find_own_statements(parent)), _unparse_body(override.body)) >= COPIED


def _unparse_body(body: list[ast.stmt]) -> str:
    return "\n".join(ast.unparse(statement) for statement in body)


def _make_finding(frame: Frame, owner: ClassInfo, parent: Function) -> Finding:
    count = sum(isinstance(node, ast.stmt) for statement in _find_own_statements(parent) for node in walk(statement))
    does = "1 statement" if count == 1 else f"{count} statements"
    return frame.finding(
        (CODE, SEVERITY),
        frame.function,
        symbol=parent.name,
        message=f"This override called `{owner.name}.{parent.name}` ({owner.place_of(parent)}, {does}) "
        "before, and no longer calls any parent: nothing does that work now.",
        fix=f"Call `super().{parent.name}(…)` again; where the class is meant to do without it, "
        f"`# runner-sync: ignore[{CODE}] reason`.",
    )
