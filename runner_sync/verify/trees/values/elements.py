"""The classes of elements, by the annotation of their container: ``Row`` for ``rows: dict[str, Row]``.

Comes in: a `CallGraph`, a frame of it and a subscript or ``get``, a loop, or an assignment that unpacks a value. Goes
out: `Instance`s, or ``None`` if the classes are unknown. May touch: nothing else.
"""

from __future__ import annotations

import ast
from typing import Literal, NamedTuple

from runner_sync.statements.hints import generic_arguments
from runner_sync.syntax import is_name, is_none, last_word
from runner_sync.verify.trees.calling.call_graph import CallGraph
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import ClassInfo, Mro, is_record
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import is_plain
from runner_sync.verify.trees.known import join_known
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.values.annotations import (
    Instance,
    find_property_type,
    members_of,
    resolve_annotation,
    tuple_parts,
    unite,
)

Loop = ast.For | ast.AsyncFor | ast.comprehension
_Wanted = Literal["each", "item", "key", "value"]
_Annotated = tuple[Module, ast.expr | None]

_SEQUENCES = frozenset({"list", "deque", "sequence", "mutablesequence"})
_COLLECTIONS = _SEQUENCES | {"set", "frozenset", "iterable", "iterator", "collection"}
_MAPPINGS = frozenset({"dict", "defaultdict", "ordereddict", "mapping", "mutablemapping"})
# Builtins that yield the elements of their argument.
_PASSING_BUILTINS = frozenset({"list", "tuple", "set", "sorted", "reversed", "iter"})
# Methods of containers that return one element, and its kind.
_TAKING_METHODS: dict[str, _Wanted] = {"get": "value", "setdefault": "value", "pop": "item", "popleft": "item"}

_MAX_DEPTH = 6
"""Expressions followed in a chain to find an annotation for the first."""


def infer_item(program: CallGraph, frame: Frame, node: ast.Subscript | ast.Call, depth: int) -> list[Instance] | None:
    """Return the classes of ``rows[key]`` or ``rows.get(key)``."""
    found = _resolve(program, find_annotations(program, frame, node, depth))
    return (
        found
        if found is not None or not isinstance(node, ast.Subscript)
        else _infer_by_getitem(program, frame, node, depth)
    )


def _infer_by_getitem(program: CallGraph, frame: Frame, node: ast.Subscript, depth: int) -> list[Instance] | None:
    """Return the classes in the return annotation of the object's own ``__getitem__``."""
    if depth > _MAX_DEPTH or isinstance(node.slice, ast.Slice):
        return None
    callees = join_known(program.method(mro, "__getitem__") for mro in program.mros_of(frame, node.value, depth + 1))
    return _resolve(program, join_known(map(_find_return_annotation, callees)))


def infer_loop_variable(
    program: CallGraph, frame: Frame, loop: Loop, name: str, *, depth: int
) -> list[Instance] | None:
    """Return the classes of a variable of a loop."""
    return _resolve(program, find_loop_annotations(program, frame, loop, name, depth=depth))


def find_loop_annotations(
    program: CallGraph, frame: Frame, loop: Loop, name: str, *, depth: int = 0
) -> list[_Annotated] | None:
    """Return the annotations of a variable of a loop, or ``None`` if it has none."""
    parts = _find_yielded(program, frame, loop.iter, depth)
    if is_name(loop.target, name):
        return parts[0] if len(parts) == 1 else None
    part = _find_part(loop.target, name)
    if part is None:
        return None
    if len(parts) == 1:
        return _select_part(parts[0], part)
    return parts[part.number] if len(parts) == part.size else None


def find_key_annotations(program: CallGraph, frame: Frame, node: ast.expr) -> list[_Annotated] | None:
    """Return the annotations of the keys of a dictionary, or ``None`` if an annotation names none."""
    return _find_elements(program, frame, node, "key", depth=0)


def infer_unpacked(
    program: CallGraph, frame: Frame, node: ast.Assign, name: str, *, depth: int
) -> list[Instance] | None:
    """Return the classes of a variable of ``a, b = value``."""
    part = _find_part(node.targets[0], name) if len(node.targets) == 1 else None
    if part is None:
        return None
    if isinstance(node.value, ast.Call):
        called = program.reached(frame, node.value, depth + 1)
        return _resolve(program, _select_part([program.declared_return(callee) for callee in called], part))
    owners = program.infer(frame, node.value, depth + 1) or []
    return _resolve(program, [one for owner in owners for one in _select_field(owner.info, part)])


class _Part(NamedTuple):
    """One of several names that a value is unpacked into: ``b`` in ``a, b = value`` is number 1 of 2."""

    number: int
    size: int


def _find_part(target: ast.expr, name: str) -> _Part | None:
    """Return which part of a tuple target ``name`` is, or ``None`` unless all its parts are names."""
    names = target.elts if isinstance(target, ast.Tuple) else []
    places = [number for number, part in enumerate(names) if is_name(part, name)]
    return _Part(places[0], len(names)) if places and all(isinstance(part, ast.Name) for part in names) else None


def _resolve(program: CallGraph, found: list[_Annotated] | None) -> list[Instance] | None:
    return unite([resolve_annotation(program.classes, *one) for one in found]) if found else None


def _select_part(found: list[_Annotated] | None, part: _Part) -> list[_Annotated] | None:
    """Return the part of each annotation ``tuple[A, B]``, or ``None`` unless all have as many parts as there are
    names."""
    types = [(module, tuple_parts(annotation)) for module, annotation in found or ()]
    fitting: list[_Annotated] = [
        (module, parts[part.number]) for module, parts in types if parts and len(parts) == part.size
    ]
    return fitting if len(fitting) == len(types) else None


def _select_field(info: ClassInfo, part: _Part) -> list[_Annotated]:
    """Return the annotation of the field of a ``NamedTuple``; empty for another class or another number of fields."""
    if not is_record(info) or len(info.fields) != part.size:
        return []
    name = [*info.fields][part.number]
    return [(info.module, info.written[name][0].annotation)]


def _find_yielded(program: CallGraph, frame: Frame, iterable: ast.expr, depth: int) -> list[list[_Annotated] | None]:
    """Return the annotations of what an iterable yields: one entry, or one per tuple part, such as two for
    ``x.items()``."""
    match iterable:
        case ast.Call(func=ast.Attribute(value, "items"), args=[]):
            return [_find_elements(program, frame, value, wanted, depth=depth) for wanted in ("key", "value")]
        case ast.Call(func=ast.Attribute(value, "values"), args=[]):
            return [_find_elements(program, frame, value, "value", depth=depth)]
        case ast.Call(func=ast.Name(id=name), args=[inner, *others]) if not frame.binds(name):
            if name == "enumerate":
                return [None, *_find_yielded(program, frame, inner, depth)]
            if name == "zip":
                through = [_find_yielded(program, frame, one, depth) for one in (inner, *others)]
                return [parts[0] if len(parts) == 1 else None for parts in through]
            if name in _PASSING_BUILTINS:
                return _find_yielded(program, frame, inner, depth)
    return [_find_elements(program, frame, iterable, "each", depth=depth)]


def _find_elements(
    program: CallGraph, frame: Frame, node: ast.expr, wanted: _Wanted, *, depth: int
) -> list[_Annotated] | None:
    containers = find_annotations(program, frame, node, depth)
    found = [(module, _read_element_type(annotation, wanted)) for module, annotation in containers or ()]
    known: list[_Annotated] = [(module, part) for module, part in found if part is not None]
    return known if known and len(known) == len(found) else None


def _read_element_type(annotation: ast.expr | None, wanted: _Wanted) -> ast.expr | None:
    """Return the element type in a container's annotation, or ``None`` if it names none or is of another container."""
    members = [one for one in members_of(annotation) if not is_none(one)]
    container = members[0] if len(members) == 1 else None
    if not isinstance(container, ast.Subscript):
        return None
    kind = last_word(container.value).lower()
    parts = generic_arguments(container)
    if kind in _MAPPINGS and len(parts) == 2:
        return parts[0] if wanted in ("each", "key") else parts[1]
    fits = (wanted == "item" and kind in _SEQUENCES) or (wanted == "each" and kind in _COLLECTIONS)
    return parts[0] if fits and len(parts) == 1 else None


def find_annotations(program: CallGraph, frame: Frame, node: ast.expr, depth: int) -> list[_Annotated] | None:
    """Return the annotations of everything that an expression can be, or ``None`` if one of them has none."""
    if depth > _MAX_DEPTH:
        return None
    match node:
        case ast.Name(id=name):
            return _find_name_annotations(program, frame, node, depth) if frame.bound.get(name) else None
        case ast.Attribute(value=value, attr=name):
            mros = program.mros_of(frame, value, depth + 1)
            return join_known(_find_attribute_annotations(program, mro, name) for mro in mros) or None
        case ast.Subscript(value=value, slice=key) if not isinstance(key, ast.Slice):
            return _find_elements(program, frame, value, "item", depth=depth + 1)
        case ast.Subscript(value=value):
            return find_annotations(program, frame, value, depth + 1)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=given) if (
            name in _TAKING_METHODS and _has_no_default(given)
        ):
            return _find_elements(program, frame, value, _TAKING_METHODS[name], depth=depth + 1)
        case ast.Call():
            return join_known(map(_find_return_annotation, program.reached(frame, node, depth + 1))) or None
    return None


def _has_no_default(arguments: list[ast.expr]) -> bool:
    """Whether ``get(key)`` has no default but ``None`` that it could return instead of an element."""
    return not arguments[1:] or ast.unparse(arguments[1]) == "None"


def _find_name_annotations(program: CallGraph, frame: Frame, read_at: ast.Name, depth: int) -> list[_Annotated] | None:
    found: list[list[_Annotated] | None] = []
    for node in frame.bound_before(read_at):
        match node:
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                found.append([(frame.module, annotation)])
            case ast.Assign(targets=[ast.Name()], value=value) | ast.NamedExpr(value=value):
                found.append(find_annotations(program, frame, value, depth + 1))
            case _:
                return None
    return (join_known(found) or None) if read_at.id not in frame.imports else None


def _find_attribute_annotations(program: CallGraph, mro: Mro, name: str) -> list[_Annotated] | None:
    """Return the annotations of an attribute in the first class of an MRO that has any, or that of a property; ``None``
    if it is a method."""
    if (given := find_property_type(mro, name)) is not None:
        return [given]
    if mro.open or mro.has_method(name):
        return None
    annotated = [(i, a) for i, a in program.assignments(mro, name) if a.annotation is not None]
    # A mixin's bare annotation says what it needs of its host. An annotation with a value is more exact.
    annotated = [(i, a) for i, a in annotated if not a.is_bare] or annotated
    pairs = [(i, a.annotation) for i, a in annotated if a.annotation is not None]
    return [(info.module, annotation) for info, annotation in pairs if info is pairs[0][0]]


def _find_return_annotation(callee: Callee) -> list[_Annotated] | None:
    function = callee.function
    if function is None or function.returns is None or not is_plain(function):
        return None
    return [(callee.module, function.returns)]
