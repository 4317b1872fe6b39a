"""RS308 typed-attribute: an attribute of an object whose class is known does not exist there.

What: `x.attribute` where every class that `x` can be is fully visible in the target and none has the attribute:
`x` is constructed in sight, or annotated (then only against the old trees). Also `Class.attribute` on the class
itself.

Example: `RoutedExpertsCapturer.get_instance()` after vLLM dropped the class method.

Why: upstream moves fields between its state objects at nearly every release. 7 of the 156 recorded breakages.

Fix: read it from where the target keeps it now.

Leaves alone: annotated objects without old trees (a subclass may have the attribute), names tested with
`hasattr`/`getattr`, `isinstance`-narrowed names, classes with `__getattr__` or bases outside the trees,
attributes that other modules write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify.classes import is_name
from runner_sync.verify.frames import Frame
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Instance, Program

CODE = "RS308"
NAME = "typed-attribute"
SEVERITY: Severity = "error"

_OF_EVERY_CLASS = frozenset(
    {
        *dir(tuple),
        *dir(type),
        "__annotations__",
        "_replace",
        "_asdict",
        "_fields",
        "_field_defaults",
        "_make",
        "__dict__",
    }
)


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Attribute reads and calls on objects of known classes that lack them."""
    for frame in program.frames(module):
        for node in frame.nodes():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and not _is_exempt(frame, node):
                missing = _missing_in(program, frame, node, old=old)
                if missing:
                    yield _finding(frame, node, missing)


def _is_exempt(frame: Frame, node: ast.Attribute) -> bool:
    own = frame.owner is not None and is_name(node.value, frame.owner)
    return own or node.attr in frame.tested or node.attr in _OF_EVERY_CLASS or frame.is_guarded(node)


def _missing_in(program: Program, frame: Frame, node: ast.Attribute, *, old: Program | None) -> list[Instance]:
    instances = program.named_classes(frame, node.value) or program.infer(frame, node.value) or []
    if not instances or any(_may_have(program, instance, node.attr) for instance in instances):
        return []
    if not all(instance.exact for instance in instances) and not _had(old, frame, node):
        return []
    return [] if program.world.is_written(node.attr) else instances


def _may_have(program: Program, instance: Instance, name: str) -> bool:
    lines = program.classes.lineups(instance.info)
    return any(line.open or any(name in c.methods or name in c.written for c in line.classes) for line in lines)


def _had(old: Program | None, frame: Frame, node: ast.Attribute) -> bool:
    before = old.twin(frame) if old is not None else None
    instances = old.infer(before, node.value) if old is not None and before is not None else None
    return bool(instances) and old is not None and any(_may_have(old, i, node.attr) for i in instances or ())


def _finding(frame: Frame, node: ast.Attribute, instances: list[Instance]) -> Finding:
    info = instances[0].info
    text = ast.unparse(node.value)
    what = "this class" if text.split(".")[-1] == info.name else f"a `{info.name}`"
    return frame.finding(
        CODE,
        SEVERITY,
        node,
        symbol=f"{info.name}.{node.attr}",
        message=f"`{text}` has no `{node.attr}`: {what} ({info.place}) does not define it.",
        fix=f"Read `{node.attr}` from where the target keeps it.",
    )
