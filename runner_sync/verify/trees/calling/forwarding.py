"""Overrides that take any arguments and hand all of them on: ``def load(self, *args, **kwargs)``.

Comes in: a method. Goes out: whose method of the same name gets the arguments. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools

from runner_sync.signatures import positional_parameters
from runner_sync.syntax import Function, is_name
from runner_sync.verify.trees.functions import kind_of


@functools.lru_cache(maxsize=4096)
def find_parent(function: Function) -> ast.expr | None:
    """Return ``super()`` for a method that runs ``super().name(*args, **kwargs)`` with just the arguments that it gets,
    or ``Base`` for ``Base.name(self, *args, **kwargs)``.

    ``None`` for a method that reads or changes them elsewhere, or that may leave before the call, or out of it.
    """
    vararg, kwarg, own = function.args.vararg, function.args.kwarg, positional_parameters(function)
    if vararg is None or kwarg is None or len(own) != 1 or function.args.kwonlyargs:
        return None
    for statement in _find_certain(function.body):
        call = statement.value if isinstance(statement, ast.Expr | ast.Assign | ast.Return | ast.AnnAssign) else None
        match call:
            case ast.Call(
                ast.Attribute(parent, name),
                [*first, ast.Starred(ast.Name(args))],
                [ast.keyword(None, ast.Name(kwargs))],
            ) if (name, args, kwargs) == (function.name, vararg.arg, kwarg.arg):
                is_class = isinstance(parent, ast.Name) and len(first) == 1 and is_name(first[0], own[0].arg)
                is_super = isinstance(parent, ast.Call) and not first
                return parent if (is_class or is_super) and _are_used_once(function, args, kwargs) else None
    return None


def _find_certain(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that run in every call: those before any that may leave the function, also in ``with``."""
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, ast.With):
            found += _find_certain(statement.body)
        if any(isinstance(inner, ast.Return | ast.Raise) for inner in ast.walk(statement)):
            break
    return found


def _are_used_once(function: Function, *names: str) -> bool:
    used = [node.id for node in kind_of(function, ast.Name) if node.id in names]
    return sorted(used) == sorted(names)
