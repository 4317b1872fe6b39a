"""Where code takes an attribute or an item of a parameter, or calls it, and never tests whether it is ``None``.

Comes in: a `Program`, the callees of a call and a parameter with default ``None`` that the call leaves out. Goes out: a
`Dereference`, in a callee or in a function that it passes the parameter on to; ``None`` if it is unknown. May touch:
nothing.

timid: reports nothing if the parameter is used in another way (a comparison, a new value, a copy), which may be a test
for ``None``. Skips a use under a condition on another argument that the call leaves out or gives as a constant, because
it may not run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from runner_sync.signatures import arguments_of
from runner_sync.syntax import Function, is_name, walk
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import nodes_of
from runner_sync.verify.trees.known import all_known, join_known
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.annotations import unite
from runner_sync.verify.trees.values.unset import find_unset, is_decided_by
from runner_sync.verify.trees.values.uses import Use, place_at

_MAX_DEPTH = 3
"""Calls through which the parameter is followed."""

_UNTESTED = frozenset[Use]({"argument", "attribute", "called", "item", "length", "listed", "number", "special"})
"""Uses that do not tell ``None`` apart."""


@dataclass(frozen=True, slots=True)
class Dereference:
    """A use of a parameter in ``frame`` that fails on ``None``; ``what`` is its description: "reads `rows` of"."""

    frame: Frame
    node: ast.expr
    what: str

    @property
    def place(self) -> str:
        """``path:line``, and the function."""
        return f"{self.frame.place_of(self.node)} ({self.frame.unit})"


def find_dereference(program: Program, callees: Iterable[Callee], call: ast.Call, name: str) -> Dereference | None:
    """Return the first use, in the callees of a call, of the parameter ``name`` that it leaves out.

    ``None`` unless each callee has one.
    """
    return _find_in_all(program, [(callee, name) for callee in callees], call, depth=0)


def _find_in_all(
    program: Program, rows: Sequence[tuple[Callee, str]], call: ast.Call, *, depth: int
) -> Dereference | None:
    """Return the first use in ``rows`` (callees, each with its own name of the parameter), or ``None`` unless each has
    one."""
    found = all_known(_find_in_callee(program, callee, call, name, depth=depth) for callee, name in rows)
    return found[0] if found else None


def _find_in_callee(program: Program, callee: Callee, call: ast.Call, name: str, *, depth: int) -> Dereference | None:
    function = callee.function
    if function is None or depth > _MAX_DEPTH:
        return None
    frame = program.frame_of_callee(callee)
    if _may_be_tested(frame, name):
        return None
    unset = find_unset(callee, call, name)
    for node in _walk_own_nodes(function):
        use = _read_use(frame, node, name) or _find_passed_use(program, frame, node, name, depth=depth)
        if use is not None and not is_expected(frame, node) and not is_decided_by(unset, function, node):
            return use
    return None


def is_expected(frame: Frame, node: ast.AST) -> bool:
    """Whether the code around a use handles its failure."""
    return frame.is_guarded(node) or frame.is_guarded(node, CALL_ERRORS)


def _may_be_tested(frame: Frame, name: str) -> bool:
    """Whether a parameter is used other than by attribute, item, call or as an argument: that may be a test."""
    if len(frame.bound.get(name, ())) != 1 or name in frame.imports:
        return True
    reads = (node for node in nodes_of(frame.function) if is_name(node, name))
    return any(place_at(frame, read).use not in _UNTESTED for read in reads)


def _walk_own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of nested functions."""
    nested = [n for n in nodes_of(function) if isinstance(n, Function | ast.Lambda) and n is not function]
    inner = {id(node) for part in nested for node in walk(part)}
    return (node for node in nodes_of(function) if id(node) not in inner)


def _read_use(frame: Frame, node: ast.AST, name: str) -> Dereference | None:
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if owner == name and not hasattr(None, attribute):
            verb = "reads" if isinstance(node.ctx, ast.Load) else "sets"
            return Dereference(frame, node, f"{verb} `{attribute}` of")
        case ast.Subscript(value=ast.Name(id=owner)) if owner == name:
            return Dereference(frame, node, "takes an item of")
        case ast.Call(func=ast.Name(id=called)) if called == name:
            return Dereference(frame, node, "calls")
    return None


def _find_passed_use(program: Program, frame: Frame, node: ast.AST, name: str, *, depth: int) -> Dereference | None:
    """Return the use in the callees of ``node``, a call that passes the parameter on; ``None`` unless each has one."""
    if not isinstance(node, ast.Call) or not any(is_name(value, name) for value in arguments_of(node)):
        return None
    callees = _find_callees(program, frame, node)
    rows = [(callee, own) for callee in callees for own, value in callee.placed(node).items() if is_name(value, name)]
    takes_it = {callee for callee, _ in rows}
    return _find_in_all(program, rows, node, depth=depth + 1) if takes_it.issuperset(callees) else None


def _find_callees(program: Program, frame: Frame, call: ast.Call) -> list[Callee]:
    """Return the callees of a call; empty if one of several is unknown."""
    groups = program.callees(frame, call)
    if not any(groups):
        groups = _find_held_methods(program, frame, call.func)
    return join_known(groups)


def _find_held_methods(program: Program, frame: Frame, function: ast.expr) -> list[list[Callee]]:
    """Return the methods that ``self.x.m`` may be: in the classes that ``x`` may have, those with an ``m``."""
    match function:
        case ast.Attribute(ast.Attribute(ast.Name() as owner, held), name) if frame.info and frame.is_self(owner):
            objects = unite([program.attribute(mro, held) for mro in program.mros(frame.info)]) or []
            mros = program.classes.mros_of(one.info for one in objects)
            return [program.method(mro, name) for mro in mros if mro.open or mro.find(name) is not None]
    return []
