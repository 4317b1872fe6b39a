"""Which built-in types an attribute holds, by its assigned values and its annotations.

Comes in: the assignments of an attribute. Goes out: types, or ``None`` if they are unknown. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from runner_sync.syntax import is_none
from runner_sync.verify.trees.classes import Assignment
from runner_sync.verify.trees.values.annotations import members_of

_BY_NAME: dict[str, type] = {
    "list": list, "dict": dict, "set": set, "frozenset": frozenset, "tuple": tuple, "int": int, "float": float,
    "bool": bool, "str": str, "bytes": bytes,
}  # fmt: skip
_BY_DISPLAY: dict[type[ast.expr], type] = {
    ast.List: list, ast.ListComp: list, ast.Dict: dict, ast.DictComp: dict, ast.Set: set, ast.SetComp: set,
    ast.Tuple: tuple, ast.JoinedStr: str,
}  # fmt: skip


def find_builtin_types(assignments: Iterable[Assignment]) -> frozenset[type] | None:
    """Return the types of all assigned values (a value ``None`` adds none), or ``None`` if one is unknown or not built
    in."""
    found: set[type] = set()
    for assignment in assignments:
        kinds = (
            _read_annotation(assignment.annotation)
            if assignment.annotation is not None
            else _read_value(assignment.value)
        )
        if kinds is None:
            return None
        found |= kinds
    return frozenset(found) or None


def _read_annotation(annotation: ast.expr | None) -> set[type] | None:
    kinds = [_read_member(one) for one in members_of(annotation) if not is_none(one)]
    known = {kind for kind in kinds if kind is not None}
    return known if None not in kinds and members_of(annotation) else None


def _read_member(annotation: ast.expr) -> type | None:
    base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return _BY_NAME.get(base.id) if isinstance(base, ast.Name) else None


def _read_value(value: ast.expr | None) -> set[type] | None:
    if isinstance(value, ast.Constant):
        return set() if value.value is None else {type(value.value)}
    kind = _BY_DISPLAY.get(type(value)) if value is not None else None
    return {kind} if kind is not None else None
