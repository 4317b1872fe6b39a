"""Members that objects of unknown class have lost: of a model, a drafter, or anything else passed to the runner.

Comes in: a `Step` and an attribute read in it. Goes out: where the old trees defined the member. May touch: the trees,
by reading. Texts are searched for words, and any match in the new ones means that nothing is reported.
"""

from __future__ import annotations

import ast

from runner_sync.syntax import dotted_name, is_super, walk
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step


def find_lost_definition(step: Step, node: ast.Attribute) -> str:
    """Return ``path:line`` of a member in the old trees, or an empty text if the new trees may have it.

    A member is lost if only the checked modules still contain the word. It is also lost if the old trees created it
    only by assignments from outside (``model.loads = …``), upstream read it by the same expression, and both are gone,
    whatever else has that name now.
    """
    if not _may_be_lost(step.program, step.frame, node):
        return ""
    name, around, before = node.attr, step.program.world.surroundings, step.old.world.surroundings
    if not around.is_mentioned(name, beside={module.path for module in step.program.checked}):
        return before.find_definition(name)
    text = ast.unparse(node)
    # The cheapest tests come first: only the last one reads all trees for a common word.
    if around.is_written_elsewhere(name) or before.is_member(name) or around.is_upstream_text(text):
        return ""
    return before.find_outside_assignment(name) if before.is_upstream_text(text) and not around.is_quoted(name) else ""


def _may_be_lost(program: Program, frame: Frame, node: ast.Attribute) -> bool:
    """Whether ``node`` is a member of an object of unknown class, and its name is not one of Python's or torch's."""
    if is_super(node.value):
        return False
    # timid: a name without an inner underscore (`copy_`, `shape`) may belong to tensors, even if a class had it, too.
    if "_" not in node.attr.strip("_") or frame.is_self(node.value):
        return False
    dotted = dotted_name(node.value)
    if dotted is not None and any(d.kind != "value" for d in program.definitions(frame, dotted)):
        return False
    if _is_absent(program, frame, node.value):
        return False
    mros = program.mros_of(frame, node.value)
    return not mros or any(mro.open for mro in mros)


def _is_absent(program: Program, frame: Frame, value: ast.expr) -> bool:
    """Whether the object itself comes from a name or attribute that the target lacks: another rule reports that."""
    for part in walk(value):
        if isinstance(part, ast.Name) and any(d.kind == "missing" for d in program.definitions(frame, part.id)):
            return True
        if frame.is_of_self(part) and frame.info is not None:
            return not all(mro.has(part.attr) for mro in program.mros(frame.info))
    return False
