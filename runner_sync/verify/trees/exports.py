"""What a star import takes from a module: the names in its ``__all__``, else all that do not begin with an underscore.

Comes in: a `Module`. Goes out: whether a name goes along. May touch: nothing. An ``__all__`` that is worked out when
the module runs may hold any name.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from runner_sync.syntax import is_name, statements_of, walk
from runner_sync.verify.trees.modules import Module

_ADDING = frozenset({"append", "extend"})


def is_exported(module: Module, name: str) -> bool:
    """Whether ``from module import *`` may bind ``name``, where the module has it."""
    if module.dynamic:
        return True
    if "__all__" not in module.bindings:
        return not name.startswith("_")
    listed = _listed(module)
    return listed is None or name in listed


@functools.lru_cache(maxsize=1024)
def _listed(module: Module) -> frozenset[str] | None:
    """All that some statement puts into ``__all__``; ``None`` where one does so out of sight."""
    if any(binding.kind != "value" for binding in module.bindings["__all__"]):
        return None
    found: set[str] = set()
    told = 0
    for statement in statements_of(module.node.body):
        given = _put_into_all(statement)
        if given is not None:
            names = list(_names(given))
            if None in names:
                return None
            told += 1
            found.update(name for name in names if name is not None)
    mentions = [node for node in walk(module.node) if is_name(node, "__all__")]
    return frozenset(found) if told == len(mentions) else None


def _put_into_all(statement: ast.stmt) -> ast.expr | None:
    """What a statement puts into ``__all__``."""
    match statement:
        case ast.Assign(targets=[ast.Name("__all__")], value=value) | ast.AugAssign(
            ast.Name("__all__"), ast.Add(), value
        ):
            return value
        case ast.AnnAssign(target=ast.Name("__all__"), value=ast.expr() as value):
            return value
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("__all__"), name), [value], [])) if name in _ADDING:
            return value if name == "extend" else ast.List([value])
    return None


def _names(value: ast.expr) -> Iterator[str | None]:
    """The names that a list holds; ``None`` for what cannot be told."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        yield from _names(value.left)
        yield from _names(value.right)
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        yield from (
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else None
            for part in value.elts
        )
    else:
        yield None
