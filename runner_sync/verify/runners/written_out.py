"""Writes a call of a function that only returns an expression as that expression.

Comes in: a statement as text, the called function. Goes out: the statement without the call. May touch: nothing.

NPU code may have the expression where the GPU side calls a function for it::

    ids = clamp_ids(ids, size)    # def clamp_ids(ids, most): return ids.clamp(max=most)
    ids = ids.clamp(max=size)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from contextlib import suppress

from runner_sync.signatures import is_bound, of_function
from runner_sync.syntax import Function, dotted_name, is_string


def write_out(statement: str, called: str, function: Function) -> str:
    """Return ``statement`` with the expression that ``function`` returns in place of each call of ``called``.

    The statement stays as it is if the function does more, if a call leaves a parameter to its default, or if Python
    cannot write the expression in its place: before 3.12 no backslash may stand in the braces of an f-string.
    """
    match [one for one in function.body if not is_string(one)]:
        case [ast.Return(value=ast.expr() as result)]:
            names = of_function(function, bound=called.startswith("self.") and is_bound(function)).names
            with suppress(ValueError):
                return ast.unparse(_Writer(called, names, result).visit(ast.parse(statement)))
    return statement


class _Writer(ast.NodeTransformer):
    def __init__(self, called: str, parameters: tuple[str, ...], result: ast.expr) -> None:
        self._called = called
        self._parameters = parameters
        self._result = result

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        given = dict(zip(self._parameters, node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        if dotted_name(node.func) != self._called or given.keys() != {*self._parameters}:
            return node
        return _Filler(given).visit(copy.deepcopy(self._result))  # type: ignore[no-any-return]


class _Filler(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)
