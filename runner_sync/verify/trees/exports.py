"""What a star import takes: the names in ``__all__``, or else every name without a leading underscore.

Comes in: a `Module` and a name. Goes out: whether a star import may bind it. May touch: nothing. An ``__all__`` that is
computed at run time may hold any name.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from runner_sync.syntax import is_name, statements_of, walk
from runner_sync.verify.trees.modules import Module

_ADDING = frozenset({"append", "extend"})


def is_exported(module: Module, name: str) -> bool:
    """Whether ``from module import *`` may bind ``name``, given that the module defines it."""
    if module.dynamic:
        return True
    if "__all__" not in module.bindings:
        return not name.startswith("_")
    listed = _read_all(module)
    return listed is None or name in listed


@functools.lru_cache(maxsize=1024)
def _read_all(module: Module) -> frozenset[str] | None:
    """Return all names that statements put into ``__all__``, or ``None`` if one of them adds names that cannot be
    read."""
    if any(binding.kind != "value" for binding in module.bindings["__all__"]):
        return None
    found: set[str] = set()
    understood = 0
    for statement in statements_of(module.node.body):
        added = _added_to_all(statement)
        if added is not None:
            names = list(_strings_in(added))
            if None in names:
                return None
            understood += 1
            found.update(name for name in names if name is not None)
    mentions = [node for node in walk(module.node) if is_name(node, "__all__")]
    return frozenset(found) if understood == len(mentions) else None


def _added_to_all(statement: ast.stmt) -> ast.expr | None:
    """Return the list expression that a statement assigns or adds to ``__all__``; ``None`` for any other statement."""
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


def _strings_in(value: ast.expr) -> Iterator[str | None]:
    """Yield the strings in a list or a sum of lists, with ``None`` for every part that is no constant string."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        yield from _strings_in(value.left)
        yield from _strings_in(value.right)
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        yield from (
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else None
            for part in value.elts
        )
    else:
        yield None
