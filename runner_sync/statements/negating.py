"""Negate conditions.

Comes in: a condition, as ``ast`` node. Goes out: the condition that is true where it is not. May touch: nothing.
"""

from __future__ import annotations

import ast

_COMPARED = ((ast.Is, ast.IsNot), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE))
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {a: b for one in _COMPARED for a, b in (one, one[::-1])}


def negate(test: ast.expr) -> ast.expr:
    """Return the negation of a condition without a double ``not``, and of a comparison the opposite one."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.Compare(left, [op], values) if type(op) in _OPPOSITES:
            return ast.Compare(left, [_OPPOSITES[type(op)]()], values)
        case _:
            return ast.UnaryOp(ast.Not(), test)
