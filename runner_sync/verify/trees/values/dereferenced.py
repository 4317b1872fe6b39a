"""Where code takes an attribute or an item of a parameter, or calls it, and never asks whether it is ``None``.

Comes in: a `Program`, the callees of a call and a parameter that the call leaves out, with ``None`` for a default. Goes
out: a `Use`, in what is called or in what that hands the parameter on to; ``None`` where it cannot be told. May touch:
nothing.

timid: whatever else is done with the parameter (a comparison, a new value, a copy) may ask for it out of sight. Code
under a condition on another argument may not run, where the call leaves that one out, too, or gives a constant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from runner_sync.syntax import assigned_names, is_name, statements_of, walk
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.frames import Frame, frame_of
from runner_sync.verify.trees.functions import FunctionNode, nodes_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.annotations import union
from runner_sync.verify.trees.values.guards import deciding
from runner_sync.verify.trees.values.uses import tree_above

_MAX_DEPTH = 3
"""Calls that the parameter is followed into."""

_ASKING = frozenset({"bool", "callable", "getattr", "hasattr", "isinstance", "type", "any", "all"})
_USES = ast.Attribute | ast.Subscript | ast.Call | ast.keyword


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a parameter in ``frame`` that fails where it is ``None``, and what that use is: "reads `rows` of"."""

    frame: Frame
    node: ast.expr
    what: str

    @property
    def place(self) -> str:
        """``path:line``, and the function."""
        return f"{self.frame.module.path}:{self.node.lineno} ({self.frame.unit})"


def dereferenced(program: Program, callees: Iterable[Callee], call: ast.Call, name: str) -> Use | None:
    """The use of a parameter that a call leaves out; ``None`` unless each callee has one."""
    return _of_all(program, [(callee, name) for callee in callees], call, depth=0)


def _of_all(program: Program, rows: Sequence[tuple[Callee, str]], call: ast.Call, *, depth: int) -> Use | None:
    """The first use, by callees that each have the parameter under a name of their own."""
    found = [_of_callee(program, callee, call, name, depth=depth) for callee, name in rows]
    known = [use for use in found if use is not None]
    return known[0] if known and len(known) == len(found) else None


def _of_callee(program: Program, callee: Callee, call: ast.Call, name: str, *, depth: int) -> Use | None:
    function = callee.function
    if function is None or depth > _MAX_DEPTH:
        return None
    frame = program.frame(callee.info, function) if callee.info else frame_of(callee.module, function, None)
    if _may_ask(frame, name):
        return None
    unset = _resting_on({name, *_not_given(callee, call)}, function)
    for node in _own_nodes(function):
        use = _use(frame, node, name) or _handed_on(program, frame, node, name, depth=depth)
        if use is not None and not is_expected(frame, node) and unset.isdisjoint(_names(deciding(function, node))):
            return use
    return None


def is_expected(frame: Frame, node: ast.AST) -> bool:
    """Whether the code around is made for the failure of a use."""
    return frame.is_guarded(node) or frame.is_guarded(node, calls=True)


def _may_ask(frame: Frame, name: str) -> bool:
    """Whether anything is done with a parameter but taking it apart and handing it on."""
    if len(frame.bound.get(name, ())) != 1 or name in frame.imports:
        return True
    above = tree_above(nodes_of(frame.function))
    around = [above[id(node)] for node in nodes_of(frame.function) if is_name(node, name)]
    return any(not isinstance(node, _USES) or _asks(node, name) for node in around)


def _asks(node: ast.AST, name: str) -> bool:
    """Whether a parameter is given to a builtin that tells something of it, or is the key of an item."""
    match node:
        case ast.Call(func=ast.Name(id=called)):
            return called in _ASKING
        case ast.Subscript(slice=ast.Name(id=key)):
            return key == name
    return False


def _not_given(callee: Callee, call: ast.Call) -> Iterator[str]:
    """The parameters that are at their defaults, or have a constant."""
    given = callee.placed(call)
    for name in (*callee.signature.positional, *callee.signature.keyword_only):
        if isinstance(given.get(name, ast.Constant(None)), ast.Constant):
            yield name


def _resting_on(names: Set[str], function: FunctionNode) -> Set[str]:
    """``names``, and the locals that are made of them, or set under a condition on them."""
    found = set(names)
    for statement in statements_of(function.body):
        match statement:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                rests = not found.isdisjoint(_names([statement]))
            case ast.If(test=asked) | ast.For(iter=asked):
                rests = not found.isdisjoint(_names([asked]))
            case _:
                rests = False
        found |= assigned_names(statement) if rests else set()
    return found


def _names(nodes: Iterable[ast.AST]) -> Set[str]:
    return {node.id for top in nodes for node in walk(top) if isinstance(node, ast.Name)}


def _own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """What runs when a function does: nothing of the functions in it."""
    nested = [n for n in nodes_of(function) if isinstance(n, FunctionNode | ast.Lambda) and n is not function]
    inner = {id(node) for part in nested for node in walk(part)}
    return (node for node in nodes_of(function) if id(node) not in inner)


def _use(frame: Frame, node: ast.AST, name: str) -> Use | None:
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if owner == name and not hasattr(None, attribute):
            verb = "reads" if isinstance(node.ctx, ast.Load) else "sets"
            return Use(frame, node, f"{verb} `{attribute}` of")
        case ast.Subscript(value=ast.Name(id=owner)) if owner == name:
            return Use(frame, node, "takes an item of")
        case ast.Call(func=ast.Name(id=called)) if called == name:
            return Use(frame, node, "calls")
    return None


def _handed_on(program: Program, frame: Frame, node: ast.AST, name: str, *, depth: int) -> Use | None:
    """The use by what a call hands a parameter on to."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    if not isinstance(node, ast.Call) or not any(is_name(value, name) for value in given):
        return None
    callees = _reached(program, frame, node)
    rows = [(callee, own) for callee in callees for own, value in callee.placed(node).items() if is_name(value, name)]
    takes_it = {callee for callee, _ in rows}
    return _of_all(program, rows, node, depth=depth + 1) if takes_it.issuperset(callees) else None


def _reached(program: Program, frame: Frame, call: ast.Call) -> list[Callee]:
    """What a call reaches; empty where one of several cannot be told."""
    groups = program.callees(frame, call)
    if not any(groups):
        groups = _of_held(program, frame, call.func)
    return [callee for group in groups for callee in group] if all(groups) else []


def _of_held(program: Program, frame: Frame, function: ast.expr) -> list[list[Callee]]:
    """The methods of ``self.x.m``: where ``x`` is one of several objects, those that have an ``m``."""
    match function:
        case ast.Attribute(ast.Attribute(ast.Name(id=owner), held), name) if frame.info and owner == frame.owner:
            objects = union([program.attribute(mro, held) for mro in program.mros(frame.info)]) or []
            mros = [mro for one in objects for mro in program.classes.mros(one.info)]
            return [program.method(mro, name) for mro in mros if mro.open or mro.find(name) is not None]
    return []
