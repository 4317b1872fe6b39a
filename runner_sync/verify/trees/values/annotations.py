"""The classes that annotations name.

Comes in: the classes of a world, a module and an annotation in it. Goes out: `Instance`s, or ``None`` if the classes
are unknown. May touch: nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync.signatures import decorator_names
from runner_sync.statements.hints import generic_arguments
from runner_sync.syntax import Function, dotted_name, is_none, last_word, string_of
from runner_sync.verify.trees.classes import Classes, ClassInfo, Mro, is_record
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.world import Definition

_GENERATORS = frozenset({"Generator", "Iterable", "Iterator"})
_MANAGERS = frozenset({"AbstractContextManager", "ContextManager"})
_UNIONS = frozenset({"Optional", "Union"})
_MAYBE_TUPLES = frozenset({"Any", "Iterable", "Self", "Sequence", "Size", "Tuple", "object", "tuple"})


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """The class of an expression. ``exact``: the expression constructs it, so it is not of a subclass."""

    info: ClassInfo
    exact: bool


def unite(parts: Sequence[list[Instance] | None]) -> list[Instance] | None:
    """Return the classes of an expression that is one of several ``parts``, or ``None`` if one part is unknown."""
    if any(part is None for part in parts):
        return None
    unique: dict[tuple[int, bool], Instance] = {}
    for part in parts:
        for instance in part or ():
            unique.setdefault((id(instance.info), instance.exact), instance)
    return list(unique.values())


def resolve_annotation(
    classes: Classes, module: Module, annotation: ast.expr | None, *, through: tuple[ast.expr, ...] = ()
) -> list[Instance] | None:
    """Return the classes of an annotation: a name, a string, ``Optional[…]`` or a union.

    ``None`` for other generics, and for a name that is defined by itself. ``through`` are the values of the type
    aliases that led to this annotation.
    """
    # timid: the assignments tell which classes of a ``Union[…]`` there are.
    members = members_of(annotation, written_as=frozenset({"Optional"}))
    known = [one for one in members if not is_none(one)]
    return unite([_resolve_member(classes, module, one, through) for one in known]) if members else None


def _resolve_member(
    classes: Classes, module: Module, annotation: ast.expr, through: tuple[ast.expr, ...]
) -> list[Instance] | None:
    dotted = dotted_name(annotation)
    found = classes.world.resolve(module, dotted) if dotted else []
    return unite([_resolve_definition(classes, definition, through) for definition in found]) if found else None


def members_of(annotation: ast.expr | None, *, written_as: frozenset[str] = _UNIONS) -> list[ast.expr]:
    """Return the parts of a union, ``A``, ``B`` and ``None`` for ``Optional[A | B]``; any other annotation alone.

    ``written_as`` are the generics that count as unions, besides ``|``. A quoted annotation that does not
    parse stays quoted. Empty for no annotation.
    """
    match unquote(annotation):
        case None:
            return [annotation] if annotation is not None else []
        case ast.BinOp(left, ast.BitOr(), right):
            return [one for side in (left, right) for one in members_of(side, written_as=written_as)]
        case ast.Subscript(value, inner) if (word := last_word(value)) in written_as:
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            missing: list[ast.expr] = [ast.Constant(None)] if word == "Optional" else []
            return [member for part in parts for member in members_of(part, written_as=written_as)] + missing
        case node:
            return [node]


def tuple_parts(annotation: ast.expr | None) -> list[ast.expr] | None:
    """Return ``A`` and ``B`` for ``tuple[A, B]``; ``None`` for any other annotation and for ``tuple[A, ...]``."""
    annotation = unquote(annotation)
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value).split(".")[-1].lower() != "tuple":
        return None
    parts = generic_arguments(annotation)
    return None if any(isinstance(part, ast.Constant) and part.value is ... for part in parts) else parts


def find_entered_type(function: Function | None) -> ast.expr | None:
    """Return ``A`` for a ``contextmanager`` function with ``-> Generator[A, None, None]`` or ``Iterator[A]``, and for a
    plain one with ``-> AbstractContextManager[A]``."""
    returned = unquote(function.returns) if function is not None else None
    if function is None or not isinstance(returned, ast.Subscript):
        return None
    is_manager = "contextmanager" in decorator_names(function)
    if last_word(returned.value) not in (_GENERATORS if is_manager else _MANAGERS):
        return None
    return returned.slice.elts[0] if isinstance(returned.slice, ast.Tuple) and returned.slice.elts else returned.slice


def find_property_type(mro: Mro, name: str) -> tuple[Module, ast.expr] | None:
    """Return the annotation of what a property gives, with its module; ``None`` for anything but an annotated property
    that nothing assigns."""
    getters = [(info, one) for info, one in mro.reached(name) if "setter" not in decorator_names(one)]
    if mro.open or len(getters) != 1 or mro.written(name):
        return None
    info, getter = getters[0]
    is_property = bool(decorator_names(getter) & {"property", "cached_property"})
    return (info.module, getter.returns) if is_property and getter.returns is not None else None


def excludes_tuples(classes: Classes, module: Module, annotation: ast.expr | None) -> bool:
    """Whether a value of this annotation is certainly no tuple: ``int``, ``np.ndarray | None``, ``list[int]``."""
    members = members_of(annotation)
    return bool(members) and all(is_none(one) or _excludes_tuples(classes, module, one) for one in members)


def _excludes_tuples(classes: Classes, module: Module, annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Subscript):
        return ast.unparse(annotation.value).lower() in {"list", "dict", "set"}
    dotted = dotted_name(annotation)
    if dotted is None or dotted.split(".")[-1] in _MAYBE_TUPLES:
        return False
    infos = [(definition, classes.info(definition)) for definition in classes.world.resolve(module, dotted)]
    # A module-level value may be a type variable, or an alias of any type.
    return all(d.kind == "external" or (info is not None and not is_record(info)) for d, info in infos)


def unquote(annotation: ast.expr | None) -> ast.expr | None:
    """Return the expression in a quoted annotation, ``None`` if it does not parse; any other annotation unchanged."""
    text = string_of(annotation)
    if text is None:
        return annotation
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _resolve_definition(
    classes: Classes, definition: Definition, through: tuple[ast.expr, ...]
) -> list[Instance] | None:
    """Return the classes that a definition stands for: a class, or an alias of one (``Base = Base_V1``)."""
    info = classes.info(definition)
    if info is not None:
        return [Instance(info, False)]
    value = definition.value
    if definition.module is None or not isinstance(value, ast.Name | ast.Attribute | ast.BinOp) or value in through:
        return None
    return resolve_annotation(classes, definition.module, value, through=(*through, value))
