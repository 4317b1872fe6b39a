"""How many values a function returns.

Comes in: a `Callee` of a `Program`. Goes out: the possible tuple sizes, or ``None`` when they cannot be told.
May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.verify.annotations import tuple_parts
from runner_sync.verify.callees import Callee
from runner_sync.verify.classes import is_record
from runner_sync.verify.modules import FunctionNode, is_plain, returns_of
from runner_sync.verify.program import Program

_MAX_DEPTH = 4
"""Calls that are followed into to learn what they return; beyond them it counts as unknown."""


def sizes(program: Program, callee: Callee, depth: int = 0) -> frozenset[int] | None:
    """Sizes of every tuple the callee can return; ``None`` when one return shows no size."""
    function = callee.function
    if function is None:
        return _instance_size(callee)
    if not is_plain(function) or depth > _MAX_DEPTH:
        return None
    declared = declared_size(function)
    found: set[int] = set()
    returned = list(returns_of(function))
    for value in returned:
        known = _expression_sizes(program, callee, value, depth=depth)
        if known is None and declared is None:
            return None
        found |= known if known is not None else {declared or 0}
    return frozenset(found) if found else None


def returns_value(function: FunctionNode) -> bool | None:
    """Whether a plain function always, never or (``None``) sometimes returns a value."""
    if not is_plain(function):
        return None
    kinds = {value is not None and not _is_none(value) for value in returns_of(function)}
    if kinds == {True}:
        return True
    return None if True in kinds else False


def hands_nothing_back(function: FunctionNode) -> bool:
    """Whether a plain function that does something has bare returns only, and promises no value.

    An empty body and a written ``return None`` are meant for somebody else's override: they say nothing.
    """
    says_none = function.returns is None or _is_none(function.returns)
    does = any(not isinstance(s, ast.Pass | ast.Raise) and not _is_text(s) for s in function.body)
    return says_none and does and is_plain(function) and all(value is None for value in returns_of(function))


def declared_size(function: FunctionNode) -> int | None:
    """The size of a ``-> tuple[A, B]`` annotation, ``None`` for any other."""
    parts = tuple_parts(function.returns)
    return len(parts) if parts is not None else None


def _instance_size(callee: Callee) -> frozenset[int] | None:
    info = callee.info
    if info is not None and is_record(info):
        return frozenset({len(info.fields)})
    return None


def _expression_sizes(program: Program, callee: Callee, value: ast.expr | None, *, depth: int) -> frozenset[int] | None:
    if value is None or _is_none(value):
        # A `None` that is unpacked fails in any version: it is no size, and the caller must be testing for it.
        return frozenset()
    if isinstance(value, ast.Tuple):
        return None if any(isinstance(e, ast.Starred) for e in value.elts) else frozenset({len(value.elts)})
    if isinstance(value, ast.IfExp):
        parts = [_expression_sizes(program, callee, v, depth=depth) for v in (value.body, value.orelse)]
        return None if None in parts else frozenset().union(*(p for p in parts if p is not None))
    if isinstance(value, ast.Call) and callee.info is not None and callee.function is not None:
        groups = program.callees(program.frame(callee.info, callee.function), value)
        parts = [sizes(program, inner, depth + 1) for group in groups for inner in group]
        if parts and None not in parts:
            return frozenset().union(*(p for p in parts if p is not None))
    return None


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
