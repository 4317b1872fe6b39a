"""Tells that a call in a class which is not checked cannot work, because no class of the trees has the member.

Comes in: a `World`, a class, a call as written in it. Goes out: an answer. May touch: the trees, by reading.
"""

from __future__ import annotations

import ast

from runner_sync.naming import module_name
from runner_sync.syntax import dotted_name, is_none
from runner_sync.verify.trees.classes import Classes, ClassInfo, Mro
from runner_sync.verify.trees.known import all_known, join_known
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.world import World


def is_lacking(world: World, path: str, class_name: str, written: str) -> bool:
    """Whether a call of ``Class.member`` or ``self.attribute.member`` in a class means a member that nothing has."""
    classes, module = Classes(world), world.module(module_name(path))
    owner, _, name = written.rpartition(".")
    if module is None:
        return False
    match owner.split("."):
        case ["self", attribute]:
            found = _find_made_classes(classes, module, class_name, attribute)
        case _:
            found = _find_classes(classes, module, owner)
    mros = classes.mros_of(found)
    return bool(mros) and not any(mro.open or mro.has(name) or _may_have_more(mro) for mro in mros)


def _may_have_more(mro: Mro) -> bool:
    """Whether a base outside of the trees (``NamedTuple``), a decorator or ``__new__`` may bring members."""
    names = {info.name for info in mro.classes}
    return any(
        "__new__" in info.methods
        or any(_name_last(base) not in {*names, "object"} for base in info.node.bases)
        or any(_name_last(decorator) != "dataclass" for decorator in info.node.decorator_list)
        for info in mro.classes
    )


def _name_last(node: ast.expr) -> str:
    """Return the last part of the name of a base or decorator, called or not; empty for any other expression."""
    function = node.func if isinstance(node, ast.Call) else node
    return (dotted_name(function) or "").rpartition(".")[2]


def _find_classes(classes: Classes, module: Module, name: str) -> list[ClassInfo]:
    """Return the classes that a name means; empty if it may mean anything else."""
    return all_known(map(classes.info, classes.world.resolve(module, name)))


def _find_made_classes(classes: Classes, module: Module, class_name: str, attribute: str) -> list[ClassInfo]:
    """Return the classes of which a class makes an attribute; empty if it may hold anything else."""
    mros = classes.mros_of(_find_classes(classes, module, class_name))
    writes = [(info.module, write.value) for mro in mros for info, write in mro.written(attribute) if not write.is_bare]
    called = [(m, v.func if isinstance(v, ast.Call) else None) for m, v in writes if not is_none(v)]
    return join_known(_find_classes(classes, m, dotted_name(f) or "") if f is not None else None for m, f in called)
