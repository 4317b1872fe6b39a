"""Overrides that take any arguments and hand all of them on: ``def load(self, *args, **kwargs)``.

Comes in: a method. Goes out: whose method of the same name gets the arguments. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools

from runner_sync.signatures import positional_parameters
from runner_sync.syntax import Function, assigned_names, is_name, names_in, walk
from runner_sync.verify.expecting import CALL_ERRORS, find_guarded
from runner_sync.verify.trees.functions import kind_of, nodes_of

_READING = frozenset({"get", "keys", "items", "values"})
"""Methods that leave a dictionary as it is."""


@functools.lru_cache(maxsize=4096)
def find_parent(function: Function) -> ast.expr | None:
    """Return ``super()`` for a method that runs ``super().name(*args, **kwargs)`` with just the arguments that it gets,
    or ``Base`` for ``Base.name(self, *args, **kwargs)``.

    ``None`` for a method that changes them, uses them for anything else, or asks what they are before it runs the call;
    and for one that expects the call to fail.
    """
    vararg, kwarg, own = function.args.vararg, function.args.kwarg, positional_parameters(function)
    if vararg is None or kwarg is None or len(own) != 1 or function.args.kwonlyargs:
        return None
    names = (vararg.arg, kwarg.arg)
    calls = {call: parent for call in kind_of(function, ast.Call) if (parent := _read(function, call, own[0], names))}
    if len({ast.unparse(parent) for parent in calls.values()}) != 1:
        return None
    used = {id(node) for node in kind_of(function, ast.Name) if node.id in names}
    handed_on = {id(inner) for call in calls for inner in walk(call)}
    if not used <= handed_on | _find_reads(function) or _asks(function, names, handed_on):
        return None
    expected = {id(inner) for part in find_guarded(nodes_of(function), CALL_ERRORS) for inner in walk(part)}
    return None if any(id(call) in expected for call in calls) else next(iter(calls.values()))


def _read(function: Function, call: ast.Call, own: ast.arg, names: tuple[str, str]) -> ast.expr | None:
    """Return the parent whose method a call runs with all the arguments, and no others."""
    match call:
        case ast.Call(
            ast.Attribute(parent, name),
            [*first, ast.Starred(ast.Name(args))],
            [ast.keyword(None, ast.Name(kwargs))],
        ) if (name, args, kwargs) == (function.name, *names):
            is_class = isinstance(parent, ast.Name) and len(first) == 1 and is_name(first[0], own.arg)
            is_super = isinstance(parent, ast.Call) and not first
            return parent if is_class or is_super else None
    return None


def _find_reads(function: Function) -> set[int]:
    """Return the ids of the names of arguments that are only counted, or asked for one value."""
    found: set[int] = set()
    for node in nodes_of(function):
        match node:
            case ast.Subscript(value=ast.Name() as read, ctx=ast.Load()):
                found.add(id(read))
            case ast.Call(func=ast.Attribute(value=ast.Name() as read, attr=name)) if name in _READING:
                found.add(id(read))
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as read]):
                found.add(id(read))
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() as read]):
                found.add(id(read))
    return found


def _asks(function: Function, names: tuple[str, str], handed_on: set[int]) -> bool:
    """Whether a condition of the method asks what the arguments are; so it may know which ones the parent takes.

    It may ask a local that is made from them, other than by the call that hands them on. A condition that only chooses
    a value (``if len(args) > 1: mode = args[1]``) does not count.
    """
    made = [
        one
        for one in nodes_of(function)
        if isinstance(one, ast.Assign)
        and any(isinstance(n, ast.Name) and n.id in names and id(n) not in handed_on for n in walk(one.value))
    ]
    asked = {*names}.union(*(assigned_names(one) for one in made))
    return any(
        not names_in(test).isdisjoint(asked)
        for node in nodes_of(function)
        if (test := _find_test(node)) is not None and _may_leave_or_call(node)
    )


def _find_test(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test
        case ast.Match(subject=test) | ast.BoolOp(values=[test, *_]):
            return test
    return None


def _may_leave_or_call(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Return | ast.Raise | ast.Assert | ast.Starred) for inner in walk(node))
