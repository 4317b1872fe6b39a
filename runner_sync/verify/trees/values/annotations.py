"""The classes that annotations name.

Comes in: the classes of a world, a module and an annotation in it. Goes out: `Instance`s, or ``None`` if the classes
are unknown. May touch: nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync.syntax import Function, decorator_name, dotted_name, is_none, last_word
from runner_sync.verify.trees.classes import Classes, ClassInfo, is_record
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.world import Definition

_GENERATORS = frozenset({"Generator", "Iterable", "Iterator"})
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
    annotation = unquote(annotation)
    if is_none(annotation):
        return []
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = (annotation.left, annotation.right)
        return unite([resolve_annotation(classes, module, side, through=through) for side in sides])
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).endswith("Optional"):
        return resolve_annotation(classes, module, annotation.slice, through=through)
    dotted = dotted_name(annotation) if annotation is not None else None
    found = classes.world.resolve(module, dotted) if dotted else []
    return unite([_resolve_definition(classes, definition, through) for definition in found]) if found else None


def tuple_parts(annotation: ast.expr | None) -> list[ast.expr] | None:
    """Return ``A`` and ``B`` for ``tuple[A, B]``; ``None`` for any other annotation and for ``tuple[A, ...]``."""
    annotation = unquote(annotation)
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value).split(".")[-1].lower() != "tuple":
        return None
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return None if any(isinstance(part, ast.Constant) and part.value is ... for part in parts) else parts


def find_entered_type(function: Function | None) -> ast.expr | None:
    """Return ``A`` for a ``contextmanager`` function with ``-> Generator[A, None, None]`` or ``Iterator[A]``."""
    names = {decorator_name(decorator) for decorator in function.decorator_list} if function is not None else set()
    returned = unquote(function.returns) if function is not None and "contextmanager" in names else None
    if not isinstance(returned, ast.Subscript) or last_word(returned.value) not in _GENERATORS:
        return None
    return returned.slice.elts[0] if isinstance(returned.slice, ast.Tuple) and returned.slice.elts else returned.slice


def excludes_tuples(classes: Classes, module: Module, annotation: ast.expr | None) -> bool:
    """Whether a value of this annotation is certainly no tuple: ``int``, ``np.ndarray | None``, ``list[int]``."""
    annotation = unquote(annotation)
    if is_none(annotation):
        return True
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return all(excludes_tuples(classes, module, side) for side in (annotation.left, annotation.right))
    if isinstance(annotation, ast.Subscript):
        return ast.unparse(annotation.value).lower() in {"list", "dict", "set"}
    dotted = dotted_name(annotation) if annotation is not None else None
    if dotted is None or dotted.split(".")[-1] in _MAYBE_TUPLES:
        return False
    infos = [(definition, classes.info(definition)) for definition in classes.world.resolve(module, dotted)]
    # A module-level value may be a type variable, or an alias of any type.
    return all(d.kind == "external" or (info is not None and not is_record(info)) for d, info in infos)


def unquote(annotation: ast.expr | None) -> ast.expr | None:
    """Return the expression in a quoted annotation, ``None`` if it does not parse; any other annotation unchanged."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    return annotation


def _resolve_definition(
    classes: Classes, definition: Definition, through: tuple[ast.expr, ...]
) -> list[Instance] | None:
    """Return the classes that a definition stands for: a class, or an alias of one (``Base = Base_V1``)."""
    info = classes.info(definition)
    if info is not None:
        return [Instance(info, False)]
    value = definition.binding.value if definition.binding is not None else None
    if definition.module is None or not isinstance(value, ast.Name | ast.Attribute | ast.BinOp) or value in through:
        return None
    return resolve_annotation(classes, definition.module, value, through=(*through, value))
