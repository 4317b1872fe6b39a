"""RS318 orphaned-assignment: an attribute is assigned that only upstream read, and upstream reads it no more.

What: `self.x = value` in an NPU runner or worker where inherited code, or the worker that holds the runner, read `x` in
the old target, and nothing does in the new one: neither code that runs in the MRO, nor any other module of omni,
vllm-ascend and vLLM. Also `request.x = value` where the class of the object lost `x`, and nothing reads it.

Example: `self.attn_state = self._build_attn_state(...)` after vllm-ascend moves what its `_build_attention_metadata`
reads to `self.attention.state`.

Why: an assignment never fails, so no other rule sees it. The attribute that upstream reads now keeps its old value:
attention of the last batch, a mask of the wrong size.

Fix: assign what the target reads now, or drop the statement as the target did.

Leaves alone: attributes that anything still reads or has in quotes, also by the start of the name (`f"to_{kind}"`),
attributes that upstream still assigns itself, properties, classes with a base outside the trees or dynamic attributes,
objects annotated with a class that has subclasses, code under `hasattr`/`getattr`, in a `try` or under a version
switch. Needs the old trees.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from runner_sync.model import PACKAGES, Finding, Severity
from runner_sync.verify.trees.calling.virtual import find_virtual_reads
from runner_sync.verify.trees.classes import Mro, classes_in
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps

CODE = "RS318"
NAME = "orphaned-assignment"
SEVERITY: Severity = "warning"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield assignments in ``module`` of attributes that upstream code read in ``old``, and that nothing reads now."""
    for step in steps(program, module, old):
        reported: set[str] = set()
        for node in step.frame.assigned_attributes():
            text = ast.unparse(node)
            is_known = text in reported or _is_mentioned(program, node.attr)
            if isinstance(node.ctx, ast.Del) or is_known or step.frame.may_lack(node):
                continue
            reason = _describe_loss(step, node)
            # Checked last, because it searches all texts of the trees.
            if reason and not _is_read_anywhere(program, node.attr):
                reported.add(text)
                yield step.frame.finding(
                    (CODE, SEVERITY),
                    node,
                    symbol=node.attr,
                    message=f"`{text}` is assigned, and nothing reads it any more: {reason}.",
                    fix=f"Assign what the target reads in place of `{node.attr}`, or drop the statement.",
                )


def _describe_loss(step: Step, node: ast.Attribute) -> str:
    """Describe what read the attribute in the old trees, or which class had it.

    Returns ``""`` where there is neither, where upstream still sets the attribute, or where an MRO is partly unknown.
    """
    if not step.frame.is_self(node.value):
        return _describe_class_loss(step, node)
    now, was = step.mros
    if any(mro.open for mro in now) or _is_still_upstream(now, node.attr):
        return ""
    readers = (read for mro in was for read in find_virtual_reads(step.old, mro, node.attr))
    places = (frame.place_of(read) for frame, read in readers if not frame.is_omnis)
    place = next(places, "")
    return f"{place} did" if place else ""


def _is_still_upstream(mros: Sequence[Mro], name: str) -> bool:
    """Whether upstream still assigns the attribute, or some class has a method of that name."""
    return any(name in c.methods or (name in c.written and not c.is_omnis) for c in classes_in(mros))


def _describe_class_loss(step: Step, node: ast.Attribute) -> str:
    """Describe the old class that had the attribute, if no class that the object can be has it now."""
    now = step.program.infer(step.frame, node.value) or []
    was = [i.info for i in step.old.infer(step.before, node.value) or ()] if now else []
    had = [info for info in was if any(mro.has(node.attr) for mro in step.old.classes.mros(info))]
    mros = step.program.classes.mros_of(instance.info for instance in now)
    around = step.program.world.surroundings
    if not had or any(mro.open or mro.has(node.attr) for mro in mros):
        return ""
    if any(not instance.exact and around.has_subclass(instance.info.name) for instance in now):
        return ""
    return f"`{had[0].name}` had it, and no longer has it ({now[0].info.place})"


def _is_mentioned(program: Program, name: str) -> bool:
    return any(name in program.mentioned(mro) for mro in program.leaves())


def _is_read_anywhere(program: Program, name: str) -> bool:
    around = program.world.surroundings
    return any(around.is_read_in(project, name) or around.may_build_name(project, name) for project in PACKAGES)
