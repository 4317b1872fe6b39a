"""Members that objects of unknown class have lost: of a model, a drafter, or anything else passed to the runner.

Comes in: a `Program` and the one of the old trees, a frame and an attribute read in it. Goes out: where the old trees
defined the member. May touch: the worlds' trees, by reading; texts are searched for words, and any find in the new ones
means that nothing is reported.
"""

from __future__ import annotations

import ast

from runner_sync.syntax import dotted_name, is_super, walk
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program


def lost_since(program: Program, frame: Frame, node: ast.Attribute, old: Program) -> str:
    """``path:line`` of the definition or assignment of a member in the old trees; empty where the new ones may have it.

    It is lost where no module but the checked ones contains the word any more. It is also lost where, in the old trees,
    only assignments from outside created it (``model.loads = …``) and upstream read it by the same expression, and both
    are gone, whatever else has that name now.
    """
    if not _may_be_lost(program, frame, node):
        return ""
    name, around, before = node.attr, program.world.surroundings, old.world.surroundings
    if not around.is_mentioned(name, beside={module.path for module in program.checked}):
        return before.definition_of(name)
    text = ast.unparse(node)
    # In the order of cost: only the last test reads all trees where the word is common.
    if around.is_written_elsewhere(name) or before.is_member(name) or around.is_upstream_text(text):
        return ""
    return before.given_at(name) if before.is_upstream_text(text) and not around.is_quoted(name) else ""


def _may_be_lost(program: Program, frame: Frame, node: ast.Attribute) -> bool:
    """Whether it is a member of an object of unknown class, under a name that is not one of Python's or torch's."""
    if is_super(node.value):
        return False
    # timid: names without an inner underscore (`copy_`, `shape`) may be of tensors, even if a class had them, too.
    if "_" not in node.attr.strip("_") or frame.is_self(node.value):
        return False
    dotted = dotted_name(node.value)
    if dotted is not None and any(d.kind != "value" for d in program.definitions(frame, dotted)):
        return False
    if _is_absent(program, frame, node.value):
        return False
    instances = program.infer(frame, node.value) or []
    return not instances or any(mro.open for i in instances for mro in program.classes.mros(i.info))


def _is_absent(program: Program, frame: Frame, value: ast.expr) -> bool:
    """Whether the object itself comes from a name or attribute that the target lacks: another rule reports that."""
    for part in walk(value):
        if isinstance(part, ast.Name) and any(d.kind == "missing" for d in program.definitions(frame, part.id)):
            return True
        if frame.is_of_self(part) and frame.info is not None:
            return not all(mro.has(part.attr) for mro in program.mros(frame.info))
    return False
