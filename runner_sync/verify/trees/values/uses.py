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

_LOOK_INTO = frozenset({"isinstance", "iter", "len", "list", "max", "min", "sum", "tuple", "zip"})


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
        """Whether the code there does something with the value, and not only stores or returns it."""
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
                return name in _LOOK_INTO - {"isinstance"}
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
                return name in _LOOK_INTO
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
    """Every call of the frame, with the places where its value is used; for a call assigned to a name, its reads.

    timid: the name counts as holding the value only until the next line that binds it.
    """
    nodes = frame.nodes()
    above, reads = map_parents(nodes), _reads_by_name(nodes)
    for node in nodes:
        if isinstance(node, ast.Call):
            yield node, _places_of(frame, node, above=above, reads=reads)


def places_of(frame: Frame, value: ast.expr, part: tuple[int, int] | None = None) -> list[Place]:
    """The places where the value of one expression is used, or a ``part`` of it: (number, size) of a tuple it returns.

    A value is followed out of a conditional expression, and out of a tuple that is unpacked at once.
    """
    nodes = frame.nodes()
    above, reads = map_parents(nodes), _reads_by_name(nodes)
    value = find_outermost_conditional(value, above)
    outer = above.get(id(value))
    if part is None and isinstance(outer, ast.Tuple) and _unpacked_into(outer, above):
        part = next((number, len(outer.elts)) for number, element in enumerate(outer.elts) if element is value)
        value = outer
    if part is None:
        return _places_of(frame, value, above=above, reads=reads)
    names = _unpacked_into(value, above)
    name = names[part[0]] if len(names) == part[1] else None
    return (
        _read_places(frame, name.id, above[id(value)], above=above, reads=reads) if isinstance(name, ast.Name) else []
    )


def find_outermost_conditional(value: ast.expr, above: Mapping[int, ast.AST]) -> ast.expr:
    """The outermost conditional expression that may have ``value`` as its result (``a if b else value``), or
    ``value``."""
    parent = above.get(id(value))
    while isinstance(parent, ast.IfExp) and parent.test is not value:
        value, parent = parent, above.get(id(parent))
    return value


def map_parents(nodes: Iterable[ast.AST]) -> dict[int, ast.AST]:
    """The parent of each node, by the id of the child."""
    return {id(part): node for node in nodes for part in children(node)}


def _reads_by_name(nodes: Iterable[ast.AST]) -> Mapping[str, list[ast.Name]]:
    reads: dict[str, list[ast.Name]] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.id, []).append(node)
    return reads


def _places_of(
    frame: Frame, value: ast.expr, *, above: Mapping[int, ast.AST], reads: Mapping[str, list[ast.Name]]
) -> list[Place]:
    around = above.get(id(value))
    name = _name_of(around)
    if name is None or around is None:
        return [Place(value, _around(value, above), _is_tested(value, above))]
    return _read_places(frame, name, around, above=above, reads=reads)


def _read_places(
    frame: Frame,
    name: str,
    statement: ast.AST,
    *,
    above: Mapping[int, ast.AST],
    reads: Mapping[str, list[ast.Name]],
) -> list[Place]:
    """The places where ``name``, which ``statement`` assigns, is read before it is bound again."""
    found = _reads(frame, name, statement, reads=reads)
    return [Place(part, _around(part, above), _is_tested(part, above)) for part in found]


def _unpacked_into(value: ast.expr, above: Mapping[int, ast.AST]) -> list[ast.expr]:
    """The targets that an assignment unpacks a value into; empty for any other use, or with a ``*`` target."""
    match above.get(id(value)):
        case ast.Assign(targets=[ast.Tuple(elts=parts)]) if not any(isinstance(e, ast.Starred) for e in parts):
            return parts
    return []


def _name_of(around: ast.AST | None) -> str | None:
    """The name that a statement assigns its whole value to."""
    match around:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


def _reads(frame: Frame, name: str, statement: ast.AST, *, reads: Mapping[str, list[ast.Name]]) -> list[ast.expr]:
    end = getattr(statement, "end_lineno", 0)
    lines = [getattr(node, "lineno", 0) for node in frame.bound.get(name, ())]
    until = min([line for line in lines if line > end], default=math.inf)
    return [node for node in reads.get(name, ()) if end < node.lineno <= until]


def _around(node: ast.expr, above: Mapping[int, ast.AST]) -> ast.AST:
    parent = above[id(node)]
    return above[id(parent)] if isinstance(parent, ast.keyword) else parent


def _is_tested(node: ast.expr, above: Mapping[int, ast.AST]) -> bool:
    parent = above[id(node)]
    match parent:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test is node
        case ast.UnaryOp(op=operator):
            return isinstance(operator, ast.Not)
        case ast.comprehension(ifs=conditions):
            return any(condition is node for condition in conditions)
        case ast.BoolOp(op=operator, values=values):
            # `and` ends in this value where it is falsy; `step() or 1` replaces it.
            return (isinstance(operator, ast.And) and values[-1] is not node) or _is_tested(parent, above)
    return False


def unpackings(frame: Frame) -> Iterator[tuple[ast.Assign, ast.Tuple]]:
    """Assignments to a tuple of fixed size, with that tuple."""
    for node in frame.nodes():
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in target.elts):
                yield node, target


def turns(frame: Frame) -> Iterator[tuple[ast.Call, ast.Tuple]]:
    """Calls whose yielded tuples are unpacked, in each turn of a loop or by ``with … as (a, b)``, with the target
    tuple."""
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


def indexes(stands: Iterable[Place]) -> Iterator[tuple[ast.Subscript, int]]:
    """The subscripts that take one item of a value by a constant number, with that number."""
    for place in stands:
        match place.around:
            case ast.Subscript(value=value, slice=ast.Constant(value=int() as number)) if value is place.node:
                yield place.around, number
            case ast.Subscript(value=value, slice=ast.UnaryOp(ast.USub(), ast.Constant(value=int() as number))) if (
                value is place.node
            ):
                yield place.around, -number
