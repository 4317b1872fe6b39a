"""How a frame uses the values of its calls.

Comes in: a `Frame`. Goes out: unpackings, and the places where the value of a call is used. May touch: nothing.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from runner_sync.syntax import children
from runner_sync.verify.trees.frames import Frame

_OPENING_BUILTINS = frozenset({"isinstance", "iter", "len", "list", "max", "min", "sum", "tuple", "zip"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of a call is used: the call itself, or a read of the name that it was assigned to.

    ``around`` is the node that contains it; for a keyword argument, the call. ``is_tested``: a condition tests its
    truth, alone or with others.
    """

    node: ast.expr
    around: ast.AST
    is_tested: bool

    @property
    def is_needed(self) -> bool:
        """Whether the code there does something with the value other than store or return it."""
        return self.is_tested or isinstance(self.around, ast.Compare) or self.is_taken_apart or self.is_whole

    @property
    def fails_on_none(self) -> bool:
        """Whether the code there fails if the value is ``None``: an attribute, an item, a sum, a loop."""
        match self.around:
            case ast.Attribute() | ast.BinOp() | ast.AugAssign() | ast.Starred():
                return True
            case ast.Subscript(value=value) | ast.For(iter=value) | ast.comprehension(iter=value):
                return value is self.node
            case ast.Dict(keys=keys, values=values):
                return any(key is None and value is self.node for key, value in zip(keys, values, strict=True))
            case ast.Call(func=ast.Name(id=name)):
                return name in _OPENING_BUILTINS - {"isinstance"}
        return False

    @property
    def is_taken_apart(self) -> bool:
        """Whether the code there treats the value as a container: takes items or a length, unpacks or iterates."""
        match self.around:
            case ast.Subscript(value=value):
                return value is self.node
            case ast.Assign(targets=[ast.Tuple() | ast.List(), *_]) | ast.Starred() | ast.For() | ast.comprehension():
                return True
            case ast.Call(func=ast.Name(id=name)):
                return name in _OPENING_BUILTINS
            case ast.Dict(keys=keys, values=values):
                return any(key is None and value is self.node for key, value in zip(keys, values, strict=True))
        return False

    @property
    def is_whole(self) -> bool:
        """Whether the code there uses the value as a whole: an argument, an operand, an object with attributes."""
        match self.around:
            case (
                ast.Assign(targets=[ast.Subscript(), *_])
                | ast.AugAssign()
                | ast.Attribute()
                | ast.BinOp()
                | ast.Slice()
            ):
                return True
            case ast.UnaryOp(op=operator):
                return not isinstance(operator, ast.Not)
            case ast.Call():
                return not self.is_taken_apart
            case ast.Subscript(slice=key):
                return key is self.node
        return False


def places(frame: Frame) -> Iterator[tuple[ast.Call, list[Place]]]:
    """Yield every call of the frame, with the places where its value is used; for a call assigned to a name, its reads.

    timid: the name counts as holding the value only until the next line that binds it.
    """
    nodes = frame.nodes()
    parents, reads = map_parents(nodes), _group_reads(nodes)
    for node in nodes:
        if isinstance(node, ast.Call):
            yield node, _find_places(frame, node, parents=parents, reads=reads)


def places_of(frame: Frame, value: ast.expr, part: tuple[int, int] | None = None) -> list[Place]:
    """Return the places where the value of one expression is used, or a ``part`` of it: (number, size) of a returned
    tuple.

    A value is followed out of a conditional expression, and out of a tuple that is unpacked at once.
    """
    nodes = frame.nodes()
    parents, reads = map_parents(nodes), _group_reads(nodes)
    value = find_outermost_conditional(value, parents)
    outer = parents.get(id(value))
    if part is None and isinstance(outer, ast.Tuple) and _find_unpack_targets(outer, parents):
        part = next((number, len(outer.elts)) for number, element in enumerate(outer.elts) if element is value)
        value = outer
    if part is None:
        return _find_places(frame, value, parents=parents, reads=reads)
    names = _find_unpack_targets(value, parents)
    name = names[part[0]] if len(names) == part[1] else None
    return (
        _find_read_places(frame, name.id, parents[id(value)], parents=parents, reads=reads)
        if isinstance(name, ast.Name)
        else []
    )


def find_outermost_conditional(value: ast.expr, parents: Mapping[int, ast.AST]) -> ast.expr:
    """Return the outermost conditional expression that may have ``value`` as its result (``a if b else value``), or
    ``value``."""
    parent = parents.get(id(value))
    while isinstance(parent, ast.IfExp) and parent.test is not value:
        value, parent = parent, parents.get(id(parent))
    return value


def map_parents(nodes: Iterable[ast.AST]) -> dict[int, ast.AST]:
    """Return the parent of each node, by the id of the child."""
    return {id(part): node for node in nodes for part in children(node)}


def _group_reads(nodes: Iterable[ast.AST]) -> Mapping[str, list[ast.Name]]:
    reads: dict[str, list[ast.Name]] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.id, []).append(node)
    return reads


def _find_places(
    frame: Frame, value: ast.expr, *, parents: Mapping[int, ast.AST], reads: Mapping[str, list[ast.Name]]
) -> list[Place]:
    around = parents.get(id(value))
    name = _find_target_name(around)
    if name is None or around is None:
        return [Place(value, _find_context(value, parents), _is_tested(value, parents))]
    return _find_read_places(frame, name, around, parents=parents, reads=reads)


def _find_read_places(
    frame: Frame,
    name: str,
    statement: ast.AST,
    *,
    parents: Mapping[int, ast.AST],
    reads: Mapping[str, list[ast.Name]],
) -> list[Place]:
    """Return the places where ``name``, which ``statement`` assigns, is read before it is bound again."""
    found = _find_reads(frame, name, statement, reads=reads)
    return [Place(part, _find_context(part, parents), _is_tested(part, parents)) for part in found]


def _find_unpack_targets(value: ast.expr, parents: Mapping[int, ast.AST]) -> list[ast.expr]:
    """Return the targets that an assignment unpacks a value into; empty for any other use, or with a ``*`` target."""
    match parents.get(id(value)):
        case ast.Assign(targets=[ast.Tuple(elts=parts)]) if not any(isinstance(e, ast.Starred) for e in parts):
            return parts
    return []


def _find_target_name(around: ast.AST | None) -> str | None:
    """Return the name that a statement assigns its whole value to."""
    match around:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


def _find_reads(frame: Frame, name: str, statement: ast.AST, *, reads: Mapping[str, list[ast.Name]]) -> list[ast.expr]:
    end = getattr(statement, "end_lineno", 0)
    lines = [getattr(node, "lineno", 0) for node in frame.bound.get(name, ())]
    until = min([line for line in lines if line > end], default=math.inf)
    return [node for node in reads.get(name, ()) if end < node.lineno <= until]


def _find_context(node: ast.expr, parents: Mapping[int, ast.AST]) -> ast.AST:
    parent = parents[id(node)]
    return parents[id(parent)] if isinstance(parent, ast.keyword) else parent


def _is_tested(node: ast.expr, parents: Mapping[int, ast.AST]) -> bool:
    parent = parents[id(node)]
    match parent:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test is node
        case ast.UnaryOp(op=operator):
            return isinstance(operator, ast.Not)
        case ast.comprehension(ifs=conditions):
            return any(condition is node for condition in conditions)
        case ast.BoolOp(op=operator, values=values):
            # `and` returns this value if it is falsy; `step() or 1` replaces it.
            return (isinstance(operator, ast.And) and values[-1] is not node) or _is_tested(parent, parents)
    return False


def find_unpackings(frame: Frame) -> Iterator[tuple[ast.Assign, ast.Tuple]]:
    """Yield the assignments to a tuple of fixed size, with that tuple."""
    for node in frame.nodes():
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in target.elts):
                yield node, target


def find_turn_unpackings(frame: Frame) -> Iterator[tuple[ast.Call, ast.Tuple]]:
    """Yield the calls whose yielded tuples are unpacked, in each turn of a loop or by ``with … as (a, b)``, with the
    target."""
    for node in frame.nodes():
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.iter, node.target)]
        elif isinstance(node, ast.With):
            pairs = [(item.context_expr, item.optional_vars) for item in node.items]
        for value, target in pairs:
            is_fixed = isinstance(target, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in target.elts)
            if isinstance(value, ast.Call) and isinstance(target, ast.Tuple) and is_fixed:
                yield value, target


def find_index_uses(uses: Iterable[Place]) -> Iterator[tuple[ast.Subscript, int]]:
    """Yield the subscripts that take one item of a value by a constant number, with that number."""
    for place in uses:
        match place.around:
            case ast.Subscript(value=value, slice=ast.Constant(value=int() as number)) if value is place.node:
                yield place.around, number
            case ast.Subscript(value=value, slice=ast.UnaryOp(ast.USub(), ast.Constant(value=int() as number))) if (
                value is place.node
            ):
                yield place.around, -number
