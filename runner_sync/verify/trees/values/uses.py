"""How a frame uses the values of its calls.

Comes in: a `Frame`. Goes out: unpackings, and the places where the value of a call is used. May touch: nothing.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeGuard

from runner_sync.syntax import dotted_name, is_name
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.values.guards import is_identity

Use = Literal[
    "alternative", "argument", "asked", "attribute", "awaited", "bound", "called", "compared", "drained", "entered",
    "item", "iterated", "kept", "key", "length", "listed", "merged", "number", "operand", "ordered", "printed", "same",
    "searched", "special", "spread", "stored", "streamed", "truth", "unpacked",
]  # fmt: skip
"""What code does with a value, in one word for each place; `use_of` says which syntax each stands for."""

_ASKING = frozenset({"isinstance", "hasattr", "getattr", "callable", "type"})
_INSPECTING = frozenset({"isawaitable", "iscoroutine", "isgenerator"})
_LISTING = frozenset(
    {
        "all",
        "any",
        "dict",
        "enumerate",
        "frozenset",
        "iter",
        "list",
        "max",
        "min",
        "set",
        "sorted",
        "sum",
        "tuple",
        "zip",
    }
)
_BUILTINS: Mapping[str, Use] = {
    **dict.fromkeys(_LISTING, "listed"),
    **dict.fromkeys(("int", "float", "abs", "round"), "number"),
    "len": "length",
    "bool": "truth",
}

TAKEN_APART = frozenset[Use]({"item", "iterated", "length", "listed", "merged", "spread", "streamed", "unpacked"})
"""Uses of a value as a container."""
COMPARED = frozenset[Use]({"compared", "ordered", "same", "searched"})
_WHOLE = frozenset[Use](
    {"argument", "attribute", "bound", "called", "key", "number", "operand", "special", "stored", "truth"}
)
_FAILS_ON_NONE = frozenset[Use](
    {"attribute", "called", "entered", "item", "iterated", "length", "listed", "merged", "number", "operand", "spread"}
)


def use_of(node: ast.expr, around: ast.AST) -> Use:
    """Return what ``around``, the node that contains ``node``, does with its value; ``kept`` if no case here fits."""
    match around:
        case ast.Attribute(attr=name):
            return "special" if name.startswith("__") else "attribute"
        case ast.Subscript(value=value):
            return "item" if value is node else "key"
        case ast.Slice():
            return "bound"
        case ast.Call() as call:
            return _use_of_argument(node, call)
        case ast.Compare() as comparison:
            return _use_in_comparison(node, comparison)
        case ast.BinOp() | ast.AugAssign() | ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
            return "operand"
        case ast.BoolOp(values=values) if values[-1] is not node:
            return "alternative"
        case ast.For(iter=value) | ast.comprehension(iter=value, is_async=0) if value is node:
            return "iterated"
        case ast.AsyncFor(iter=value) | ast.comprehension(iter=value) if value is node:
            return "streamed"
        case ast.Assign(targets=[ast.Tuple() | ast.List(), *_]):
            return "unpacked"
        case ast.Assign(targets=[ast.Subscript(), *_]):
            return "stored"
        case ast.Dict(keys=keys, values=values) if any(
            key is None and value is node for key, value in zip(keys, values, strict=True)
        ):
            return "merged"
        case ast.keyword(arg=None):
            return "merged"
    return _BY_NODE.get(type(around), "kept")


_BY_NODE: Mapping[type[ast.AST], Use] = {
    ast.Starred: "spread",
    ast.YieldFrom: "drained",
    ast.Await: "awaited",
    ast.withitem: "entered",
    ast.FormattedValue: "printed",
    ast.Match: "asked",
}


def _use_of_argument(node: ast.expr, call: ast.Call) -> Use:
    match call.func:
        case called if called is node:
            return "called"
        case ast.Name(id=name) if name in _ASKING | _INSPECTING:
            return "asked"
        case ast.Attribute(attr=name) if name in _INSPECTING:
            return "asked"
        case ast.Name(id=name) if any(argument is node for argument in call.args):
            return _BUILTINS.get(name, "argument")
    return "argument"


def _use_in_comparison(node: ast.expr, comparison: ast.Compare) -> Use:
    if is_identity(comparison):
        return "same"
    match comparison:
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[searched]) if searched is node:
            return "searched"
    is_equality = all(isinstance(one, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) for one in comparison.ops)
    return "compared" if is_equality else "ordered"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of a call is used: the call itself, or a read of the name that it was assigned to.

    ``around`` is the node that contains it; for a named argument, the call. ``is_tested``: a condition tests its
    truth, alone or with others.
    """

    node: ast.expr
    around: ast.AST
    is_tested: bool

    @property
    def use(self) -> Use:
        """What the code there does with the value."""
        return use_of(self.node, self.around)

    @property
    def is_needed(self) -> bool:
        """Whether the code there does something with the value other than store or return it."""
        return self.is_tested or self.use in TAKEN_APART | COMPARED | _WHOLE | {"asked"}

    @property
    def is_stored(self) -> bool:
        """Whether the code there keeps the value in an attribute."""
        match self.around:
            case ast.Assign(targets=[ast.Attribute(), *_]) | ast.AnnAssign(target=ast.Attribute()):
                return True
        return False

    @property
    def fails_on_none(self) -> bool:
        """Whether the code there fails if the value is ``None``: an attribute, an item, a sum, a loop."""
        return self.use in _FAILS_ON_NONE

    @property
    def is_taken_apart(self) -> bool:
        """Whether the code there treats the value as a container: takes items or a length, unpacks or iterates.

        It may also ask for the value's class, and take it apart where that fits.
        """
        return self.use in TAKEN_APART or self._asks_for_class

    @property
    def is_whole(self) -> bool:
        """Whether the code there uses the value as a whole: an argument, an operand, an object with attributes."""
        return self.use in _WHOLE or (self.use == "asked" and not self._asks_for_class)

    @property
    def _asks_for_class(self) -> bool:
        return isinstance(self.around, ast.Call) and is_name(self.around.func, "isinstance")


def places(frame: Frame) -> Iterator[tuple[ast.Call, list[Place]]]:
    """Yield every call of the frame, with the places where its value is used; for a call assigned to a name, its reads.

    timid: the name counts as holding the value only until the next line that binds it.
    """
    for node in frame.nodes():
        if isinstance(node, ast.Call):
            yield node, _find_places(frame, node)


def find_entered(frame: Frame) -> Iterator[tuple[ast.Call, list[Place]]]:
    """Yield the calls in ``with f() as name``, with the places where the name is read."""
    for node in frame.nodes():
        for item in node.items if isinstance(node, ast.With) else ():
            match item:
                case ast.withitem(ast.Call() as call, ast.Name(id=name) as bound):
                    yield call, _find_read_places(frame, name, bound)


def places_of(frame: Frame, value: ast.expr, part: tuple[int, int] | None = None) -> list[Place]:
    """Return the places where the value of one expression is used, or a ``part`` of it: (number, size) of a returned
    tuple.

    A value is followed out of a conditional expression, and out of a tuple that is unpacked at once.
    """
    value = find_outermost_conditional(frame, value)
    outer = frame.parent(value)
    if part is None and isinstance(outer, ast.Tuple) and _find_unpack_targets(frame, outer):
        part = next((number, len(outer.elts)) for number, element in enumerate(outer.elts) if element is value)
        value = outer
    if part is None:
        return _find_places(frame, value)
    names = _find_unpack_targets(frame, value)
    name = names[part[0]] if len(names) == part[1] else None
    return _find_read_places(frame, name.id, frame.parent(value)) if isinstance(name, ast.Name) else []


def find_outermost_conditional(frame: Frame, value: ast.expr) -> ast.expr:
    """Return the outermost conditional expression that may have ``value`` as its result (``a if b else value``), or
    ``value``."""
    parent = frame.parent(value)
    while isinstance(parent, ast.IfExp) and parent.test is not value:
        value, parent = parent, frame.parent(parent)
    return value


def _find_places(frame: Frame, value: ast.expr) -> list[Place]:
    match frame.parent(value):
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) as statement:
            return _find_read_places(frame, name, statement)
    return [place_at(frame, value)]


def _find_read_places(frame: Frame, name: str, statement: ast.AST) -> list[Place]:
    """Return the places where ``name``, which ``statement`` binds, is read before it is bound again.

    ``name = copy(name)`` binds it to the same kind of value. The value of the next assignment still reads the old one.
    """
    end = getattr(statement, "end_lineno", 0)
    later = [node for node in frame.bound.get(name, ()) if getattr(node, "lineno", 0) > end]
    after = [node for node in later if not is_copied_to_itself(node, name)]
    first = min(after, key=lambda node: getattr(node, "lineno", 0), default=None)
    until = getattr(first, "lineno", math.inf)
    if isinstance(first, ast.Assign | ast.AnnAssign | ast.AugAssign):
        until = first.end_lineno or until
    return [place_at(frame, read) for read in frame.name_reads().get(name, ()) if end < read.lineno <= until]


# Functions of the standard library's `copy` and `dataclasses`.
_COPYING = frozenset({"copy", "copy.copy", "deepcopy", "copy.deepcopy", "replace", "dataclasses.replace"})


def is_copied_to_itself(node: ast.AST, name: str) -> bool:
    """Whether a node is ``name = copy(name)``, which keeps the class of the name."""
    if not isinstance(node, ast.Assign) or not any(is_name(target, name) for target in node.targets):
        return False
    return is_copy(node.value) and is_name(node.value.args[0], name)


def is_copy(node: ast.expr) -> TypeGuard[ast.Call]:
    """Whether a call copies its argument, so that the result has the argument's class."""
    return isinstance(node, ast.Call) and len(node.args) == 1 and dotted_name(node.func) in _COPYING


def _find_unpack_targets(frame: Frame, value: ast.expr) -> list[ast.expr]:
    """Return the targets that an assignment unpacks a value into; empty for any other use, or with a ``*`` target."""
    match frame.parent(value):
        case ast.Assign(targets=[target]) if _is_fixed(target):
            return target.elts
    return []


def place_at(frame: Frame, node: ast.expr) -> Place:
    """Return the place of one expression, wherever its value goes from there."""
    parent = frame.parent(node)
    is_named = isinstance(parent, ast.keyword) and parent.arg is not None
    return Place(node, frame.parent(parent) if is_named else parent, _is_tested(frame, node))


def _is_tested(frame: Frame, node: ast.expr) -> bool:
    match parent := frame.parent(node):
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test is node
        case ast.UnaryOp(op=operator):
            return isinstance(operator, ast.Not)
        case ast.comprehension(ifs=conditions):
            return any(condition is node for condition in conditions)
        case ast.BoolOp(op=operator, values=values):
            # `and` returns this value if it is falsy; `step() or 1` replaces it.
            return (isinstance(operator, ast.And) and values[-1] is not node) or _is_tested(frame, parent)
    return False


def find_unpackings(frame: Frame) -> Iterator[tuple[ast.Assign, ast.Tuple]]:
    """Yield the assignments to a tuple of fixed size, with that tuple."""
    for node in frame.nodes():
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if _is_fixed(target):
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
            if isinstance(value, ast.Call) and _is_fixed(target):
                yield value, target


def _is_fixed(target: ast.expr | None) -> TypeGuard[ast.Tuple]:
    return isinstance(target, ast.Tuple) and not any(isinstance(element, ast.Starred) for element in target.elts)


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
