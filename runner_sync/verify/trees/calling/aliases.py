"""Calls through a local alias or ``partial``: after ``run = partial(self.step, 1)``, ``run(2)`` is ``self.step(1, 2)``.

Comes in: a `Frame` and a call in it. Goes out: the equivalent call of the real function. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools

from runner_sync.syntax import decorator_name
from runner_sync.verify.trees.frames import Frame


def resolve_alias(frame: Frame, call: ast.Call) -> ast.Call:
    """Return the equivalent call of the real function for a call of a local alias or for ``partial(f, …)`` itself.

    Other calls stay unchanged. timid: so do calls of a name bound more than once, which may stand for either function.
    """
    if not isinstance(call.func, ast.Name) or not frame.bound.get(call.func.id):
        return _open_partial(call) if _is_partial(call) else call
    match frame.bound[call.func.id] if call.func.id not in frame.imports else ():
        case [ast.Assign(targets=[ast.Name()], value=ast.Attribute() | ast.Call() as value)]:
            return _expand_alias(call, value)
    return call


def _is_partial(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and decorator_name(node) == "partial" and _has_function(node.args)


def _has_function(given: list[ast.expr]) -> bool:
    return bool(given) and isinstance(given[0], ast.Name | ast.Attribute)


# Cached to return the same node each time, because other caches are keyed by the call node.
@functools.lru_cache(maxsize=4096)
def _open_partial(call: ast.Call) -> ast.Call:
    """Return ``f(a, *_, **_)`` for ``partial(f, a)``: the prepared call with unknown further arguments."""
    anything = ast.Name("_")
    arguments = [*call.args[1:], ast.Starred(anything)]
    made = ast.Call(call.args[0], arguments, [*call.keywords, ast.keyword(None, anything)])
    return ast.copy_location(made, call)


@functools.lru_cache(maxsize=4096)
def _expand_alias(call: ast.Call, value: ast.expr) -> ast.Call:
    """Return ``call`` of an alias as a call of ``value``, a method or a ``partial``.

    Keywords of the call override those of the ``partial``.
    """
    if isinstance(value, ast.Attribute):
        return ast.copy_location(ast.Call(value, call.args, call.keywords), call)
    if not isinstance(value, ast.Call) or not _is_partial(value):
        return call
    overriding = {keyword.arg for keyword in call.keywords}
    prepared = [keyword for keyword in value.keywords if keyword.arg is None or keyword.arg not in overriding]
    made = ast.Call(value.args[0], [*value.args[1:], *call.args], [*call.keywords, *prepared])
    return ast.copy_location(made, call)
