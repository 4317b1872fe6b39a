"""Tells what sets a name or an attribute.

Comes in: nodes, functions, classes with the library of omni files. Goes out: answers. May touch: the texts of the
trees.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from runner_sync.syntax import Function, walk
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.reading import ClassText


def binds_otherwise(function: Function, name: str) -> bool:
    """Whether a function binds a name in another way than by a target: as a global, an import, a function, an error."""
    return any(name in _list_bound(node) for node in walk(function) if node is not function)


def _list_bound(node: ast.AST) -> list[str]:
    match node:
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.alias(name=name, asname=bound):
            return [bound or name.partition(".")[0]]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
    return []


def is_stored(node: ast.AST) -> bool:
    """Whether a node is a target."""
    return isinstance(getattr(node, "ctx", None), ast.Store)


def may_set(node: ast.AST, attribute: str) -> bool:
    """Whether a node is ``self.attribute`` as a target, or a call that may set it by its name."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name == attribute and is_stored(node)
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), name, *_]):
            return not isinstance(name, ast.Constant) or bool(name.value == attribute)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self")), args=[ast.Constant(value=name), *_]):
            return bool(name == attribute)
    return False


def is_set_by_itself(library: Library, receivers: Sequence[ClassText], name: str) -> bool:
    """Whether only the omni classes of the objects' MROs set an attribute of them.

    Without the texts of the trees, their bases have to be omni's.
    """
    classes = [owner for one in receivers for owner in find_ancestry(library, one).classes]
    bases = [library.find_class(owner.reading, base) for owner in classes for base in owner.node.bases]
    surroundings = library.surroundings
    if surroundings is None:
        runners = [path for module in library.job.modules for path in (module.path, module.gpu_path) if path]
        readings = [*(owner.reading for owner in classes), *map(library.at, runners)]
        return None not in bases and not any(one is not None and _sets_of_another(one.text, name) for one in readings)
    is_inherited = None in bases and surroundings.is_member(name)
    is_derived = any(surroundings.has_subclass_in("vllm-omni", one.name) for one in receivers)
    own = {owner.reading.path for owner in classes}
    return not is_inherited and not is_derived and own.issuperset(surroundings.writing(name))


def _sets_of_another(text: str, attribute: str) -> bool:
    """Whether a text seems to set an attribute of an object other than ``self``."""
    return re.search(rf"(?<!\bself)\.{attribute}\b[^=\n]*=(?!=)", text) is not None
