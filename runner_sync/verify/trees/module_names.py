"""Names of upstream modules that code reads by ``getattr``, or sets, and that these modules define no more.

Comes in: programs of the new and the old trees, and a module. Goes out: `LostName`s. May touch: the trees, by reading.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runner_sync.model import Project
from runner_sync.syntax import dotted_name, walk
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

_Use = Literal["read", "default", "set"]


@dataclass(frozen=True, slots=True)
class LostName:
    """A use of ``name`` of the module called ``owner``, at ``node`` of a frame.

    ``use`` is ``read`` for ``getattr(m, "x")``, ``default`` for ``getattr(m, "x", None)``, ``set`` for ``m.x = …`` and
    ``setattr(m, "x", …)``.
    """

    frame: Frame
    node: ast.Call | ast.Attribute
    owner: str
    name: str
    use: _Use


def find_lost_names(
    program: Program, module: Module, old: Program, *, project: Project | None = None
) -> Iterator[LostName]:
    """Yield the uses in ``module`` of names that upstream modules have in ``old`` only; just of ``project`` if given.

    Of two lost uses of a name, a module that sets it itself and a ``getattr`` of it, yields only the first.
    """
    for frame in program.every_frame(module):
        for node in frame.nodes():
            for target, name, use in _find_uses(node):
                owner = _find_owner(program, frame, target, name, old)
                is_meant = owner is not None and project in (None, owner.project) and not frame.is_guarded(node)
                if owner is not None and is_meant and not _may_matter(program, module, owner, name, use):
                    assert isinstance(node, ast.Call | ast.Attribute)
                    yield LostName(frame, node, owner.name, name, use)


def _find_uses(node: ast.AST) -> Iterator[tuple[ast.expr, str, _Use]]:
    """Yield the module, the name and the use of what a node reads by name, or sets."""
    match node:
        case ast.Attribute(value=target, attr=name, ctx=ast.Store()):
            yield target, name, "set"
        case ast.Call(ast.Name("setattr"), [target, ast.Constant(str(name)), _]):
            yield target, name, "set"
        case ast.Call(ast.Name("getattr"), [target, ast.Constant(str(name)), *default]):
            yield target, name, "default" if default else "read"


def _find_owner(program: Program, frame: Frame, target: ast.expr, name: str, old: Program) -> Module | None:
    """Return the upstream module that an expression names, if it had the name in the old trees and lacks it now."""
    dotted = dotted_name(target)
    owners = program.definitions(frame, dotted) if dotted else []
    if len(owners) != 1 or owners[0].kind != "module" or owners[0].module is None or owners[0].module.is_omnis:
        return None
    owner, was = owners[0].module, old.world.module(owners[0].module.name)
    found = program.world.member(owners[0], name)
    is_gone = (
        bool(found) and all(one.kind == "missing" for one in found) and not program.world.patches_of(found[0].name)
    )
    return owner if is_gone and was is not None and name in was.bindings else None


def _may_matter(program: Program, module: Module, owner: Module, name: str, use: _Use) -> bool:
    """Whether a use of a name that a module does not define may have its old effect: something sets it there, or reads
    what is set."""
    around = program.world.surroundings
    if use != "set":
        return bool(around.writing(name))
    own_reads = (n for n in walk(module.node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
    if any(node.attr == name for node in own_reads) or any(path != module.path for path in around.reading(name)):
        return True
    # Upstream may ask the module for a name that others put there.
    return around.is_quoted_in(owner.project, name)
