"""Find the calls of a parent's method.

Comes in: a syntax tree. Goes out: parents and calls. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.syntax import Function, is_name, is_super, last_name, walk


def parents_called(function: ast.AST, name: str) -> frozenset[str]:
    """Return the parents whose method ``name`` is called in ``function``: ``"super()"``, or the last part of a class's
    name. A class counts only if the call passes the instance on: ``a.NPUModelRunner.load(self)`` gives
    ``"NPUModelRunner"``."""
    return frozenset(parent for parent, _ in parent_calls(function, name))


def parent_calls(function: ast.AST, name: str) -> list[tuple[str, ast.Call]]:
    """Return the calls of a parent's method ``name`` in ``function``, each with the parent as in `parents_called`."""
    nodes = walk(function)
    method = next((node for node in nodes if isinstance(node, Function)), None)
    found = []
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            base = node.func.value
            owner = last_name(base)
            if is_super(base):
                found.append(("super()", node))
            elif owner[:1].isupper() and _passes_instance(node, method):
                found.append((owner, node))
    return found


def _passes_instance(call: ast.Call, method: Function | None) -> bool:
    """Whether ``call`` passes the instance (or class) of ``method`` on: as ``self``, ``self=self`` or in ``*args``."""
    names = {"self", "cls"}
    star_args = ""
    if method is not None:
        names |= {parameter.arg for parameter in [*method.args.posonlyargs, *method.args.args][:1]}
        star_args = method.args.vararg.arg if method.args.vararg is not None else ""
    if call.args and isinstance(call.args[0], ast.Starred):
        return is_name(call.args[0].value, star_args)
    if call.args:
        return any(is_name(call.args[0], name) for name in names)
    return any(
        given.arg in names and isinstance(given.value, ast.Name) and given.value.id in names for given in call.keywords
    )
