"""Tells whether a method does the same with the body of another one in place of its call.

Comes in: both methods, and what is written in place of the call. Goes out: yes or no. May touch: nothing.

A body shares the names of the method that it is put into. It may then overwrite a local that is read later, or an
argument before it is used, and it may take a local of the method for its own global.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import NamedTuple

from runner_sync.statements import bound_in, mentions, parameters
from runner_sync.syntax import Function, names_in, walk
from runner_sync.texts.assignment import find_unsure_reads


class Expansion(NamedTuple):
    """A method and the call in it that is replaced by the body of another one."""

    text: str
    """The method with the call."""
    function: Function
    user: ast.Assign | ast.Return | ast.Expr
    """The statement that calls the other method."""
    inner: Function
    """The other method."""
    given: Mapping[str, ast.expr]
    """Its parameters with their arguments, in the order of evaluation."""
    prefixed: Collection[str]
    """The parameters that are assigned in front of the body; the arguments of the others are written in it."""
    bound: Collection[str]
    """The names that the body binds in the calling method."""


def has_same_meaning(expansion: Expansion, *, taken: Collection[str]) -> bool:
    """Whether the method still does the same; its globals must not have names that are ``taken`` either."""
    return not (
        _overwrites_arguments(expansion)
        or _overwrites_targets(expansion)
        or _takes_locals_for_globals(expansion, taken)
        or _overwrites_locals(expansion)
        or _keeps_changing_names(expansion)
    )


def _overwrites_arguments(expansion: Expansion) -> bool:
    """Whether a name in an argument is bound before the argument is read."""
    assigned = set[str]()
    for name, argument in expansion.given.items():
        read = names_in(argument)
        if name in expansion.prefixed:
            if read & assigned:
                return True
            assigned.add(name)
        elif read & set(expansion.bound) - {name}:
            return True
    return False


def _overwrites_targets(expansion: Expansion) -> bool:
    """Whether the body binds a name that the targets of the call read: ``k`` in ``self.rows[k] = self._row()``."""
    targets = expansion.user.targets if isinstance(expansion.user, ast.Assign) else []
    return any(one.kind == "reads" and one.name in expansion.bound for one in mentions(targets))


def _takes_locals_for_globals(expansion: Expansion, taken: Collection[str]) -> bool:
    own = {parameter.arg for parameter in parameters(expansion.inner)} | bound_in(expansion.inner.body)
    free = {one.name for one in mentions(expansion.inner.body)} - own
    locals_ = {parameter.arg for parameter in parameters(expansion.function)} | bound_in(expansion.function.body)
    return not free.isdisjoint(locals_.union(taken) - {"self"})


def _overwrites_locals(expansion: Expansion) -> bool:
    """Whether something behind the call may read a local that the body binds and that is no result.

    The names are deleted behind the call, to see whether any path then reads one of them before it is set again.
    """
    user = expansion.user
    if isinstance(user, ast.Return):
        return False
    results = (
        {one.name for one in mentions(user.targets) if one.kind == "binds"} if isinstance(user, ast.Assign) else ()
    )
    names = sorted(set(expansion.bound).difference(results))
    others = [one for one in mentions(expansion.function.body) if not _is_inside(one.node, user)]
    if any(one.name in names and one.kind != "binds" and one.later for one in others):
        return True
    if _is_repeated_or_caught(expansion.function, user):
        return any(one.name in names and one.kind != "binds" for one in others)
    rows, end = expansion.text.split("\n"), user.end_lineno or user.lineno
    gap = " " * user.col_offset
    lost = [f"{gap}{' = '.join(names)} = None", f"{gap}del {', '.join(names)}"] if names else []
    return not find_unsure_reads("\n".join([*rows[:end], *lost, *rows[end:]])).keys().isdisjoint(names)


def _is_inside(node: ast.AST, stmt: ast.stmt) -> bool:
    return any(one is node for one in walk(stmt))


def _is_repeated_or_caught(function: Function, user: ast.stmt) -> bool:
    """Whether a statement is in a loop or a ``try``, where code in front of it may run behind it."""
    kinds = ast.For | ast.AsyncFor | ast.While | ast.Try | ast.TryStar
    return any(isinstance(node, kinds) and _is_inside(user, node) for node in walk(function))


def _keeps_changing_names(expansion: Expansion) -> bool:
    """Whether a function made in the body reads a name that the method binds anew behind the call."""
    if isinstance(expansion.user, ast.Return):
        return False
    kept = [node for stmt in expansion.inner.body for node in walk(stmt) if isinstance(node, Function | ast.Lambda)]
    read = {one.name for node in kept for one in mentions([node]) if one.kind == "reads"}
    read |= {name for node in kept for name in names_in(node)}
    read |= {name for key, argument in expansion.given.items() if key in read for name in names_in(argument)}
    others = (one for one in mentions(expansion.function.body) if not _is_inside(one.node, expansion.user))
    is_looped = _is_repeated_or_caught(expansion.function, expansion.user)
    behind = {
        one.name
        for one in others
        if one.kind != "reads" and (is_looped or getattr(one.node, "lineno", 0) > expansion.user.lineno)
    }
    return not read.isdisjoint(behind)
