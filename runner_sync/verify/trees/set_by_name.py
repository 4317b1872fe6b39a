"""Which attributes ``setattr(self, name, …)`` sets.

Comes in: a method and a call in it. Goes out: names, or ``None`` if it may be any. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.statements.assigning import assignments_of
from runner_sync.syntax import Function, is_name, string_of
from runner_sync.verify.trees.functions import nodes_of
from runner_sync.verify.trees.instance import is_for_instances, may_be_instance
from runner_sync.verify.trees.modules import read_strings


def find_set_names(function: Function, call: ast.Call) -> list[str] | None:
    """Return the attributes of ``self``, or of its class, that a call of ``setattr`` may add; ``None`` if it may be
    any.

    Empty for other calls, and if the method reads the attribute by the same expression: it exists already.
    """
    if not _is_setattr(call.func) or len(call.args) != 3 or not is_for_instances(function, call.args[0]):
        return []
    attribute = call.args[1]
    if (name := string_of(attribute)) is not None:
        return [name]
    if _is_read_first(function, ast.unparse(attribute)):
        return []
    return _find_allowed_names(function, call, attribute)


def _is_setattr(called: ast.expr) -> bool:
    on_object = isinstance(called, ast.Attribute) and called.attr == "__setattr__" and is_name(called.value, "object")
    return on_object or is_name(called, "setattr")


def _is_read_first(function: Function, name: str) -> bool:
    """Whether the same method calls ``getattr(self, name)``: its ``setattr`` then only overwrites an attribute."""
    return any(
        isinstance(node, ast.Call)
        and is_name(node.func, "getattr")
        and len(node.args) == 2
        and may_be_instance(function, node.args[0])
        and ast.unparse(node.args[1]) == name
        for node in nodes_of(function)
    )


def _find_allowed_names(function: Function, call: ast.Call, attribute: ast.expr) -> list[str] | None:
    """Return the names that the method lets through before the call: ``if name not in {"rows"}: raise …``.

    ``None`` without such a test.
    """
    for node in nodes_of(function) if isinstance(attribute, ast.Name) else ():
        match node:
            case ast.If(ast.Compare(left, [ast.NotIn()], [known]), [*_, ast.Raise() | ast.Return() | ast.Continue()]):
                if ast.unparse(left) == ast.unparse(attribute) and node.lineno < call.lineno:
                    return read_strings(_resolve_local(function, known)) or None
    return None


def _resolve_local(function: Function, node: ast.expr) -> ast.expr:
    """Return the value of a name that the method assigns once; any other node unchanged."""
    name = node.id if isinstance(node, ast.Name) else ""
    bound = [v for n in nodes_of(function) for target, v, _ in assignments_of(n) if name and is_name(target, name)]
    return bound[0] if len(bound) == 1 and bound[0] is not None else node
