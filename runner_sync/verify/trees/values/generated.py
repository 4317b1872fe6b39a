"""The constructor that ``@dataclass`` or ``msgspec.Struct`` generates, and whether it can generate one.

Comes in: classes as their statements show them. Goes out: signatures, ``None`` for what cannot be told. May touch:
nothing. The rules are those of the documentation of ``dataclasses`` and of msgspec: a struct's ``kw_only`` is about the
fields of that class alone, a subclass of a struct is one without saying so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner_sync.signatures import Signature
from runner_sync.verify.trees.classes import ClassInfo, is_struct
from runner_sync.verify.trees.functions import decorator_name

_DEFAULTS = frozenset({"default", "default_factory"})


@dataclass(frozen=True, slots=True)
class Field:
    """One field. ``is_given`` is whether the constructor takes it, ``by_keyword`` whether so only."""

    name: str
    has_default: bool
    by_keyword: bool
    is_given: bool
    owner: ClassInfo


def is_dataclass(info: ClassInfo) -> bool:
    """Whether a class is decorated as one itself."""
    return any(decorator_name(decorator) == "dataclass" for decorator in info.node.decorator_list)


def structs(classes: Sequence[ClassInfo]) -> list[ClassInfo]:
    """Those classes of an MRO that are a ``msgspec.Struct``, by their own bases or those that these derive from."""
    found: list[ClassInfo] = []
    for info in reversed(classes):
        bases = {ast.unparse(base).rpartition(".")[2] for base in info.node.bases}
        if is_struct(info) or any(one.name in bases for one in found):
            found.append(info)
    return found


def constructor(classes: Sequence[ClassInfo]) -> Signature | None:
    """The signature of the dataclass or struct ``classes[0]``, which inherits from the others."""
    found = fields(classes)
    made = [d for d in classes[0].node.decorator_list if decorator_name(d) == "dataclass"]
    if found is None or any(option(decorator, "init", default=True) is not True for decorator in made):
        return None
    given = [field for field in found if field.is_given]
    return Signature(
        tuple(field.name for field in given if not field.by_keyword),
        frozenset(),
        tuple(field.name for field in given if field.by_keyword),
        frozenset(field.name for field in given if not field.has_default),
        False,
        False,
    )


def fields(classes: Sequence[ClassInfo]) -> list[Field] | None:
    """The fields of the dataclass or struct ``classes[0]`` in order: one that is declared again keeps its place."""
    found: dict[str, Field] = {}
    made = structs(classes)
    for info in reversed(classes):
        if is_dataclass(info) or info in made:
            own = _own_fields(info)
            if own is None:
                return None
            found.update((field.name, field) for field in own)
    return list(found.values())


def misplaced(found: Iterable[Field]) -> tuple[Field, Field] | None:
    """A field that must be given and stands behind one with a default, with that one: Python refuses the class."""
    with_default = None
    for field in found:
        if field.is_given and not field.by_keyword:
            if with_default is not None and not field.has_default:
                return field, with_default
            with_default = field if field.has_default else with_default
    return None


def _own_fields(info: ClassInfo) -> list[Field] | None:
    """The fields that a class body declares; ``None`` where an option of one is no constant."""
    by_keyword = class_option(info, "kw_only")
    if by_keyword is None:
        return None
    found: list[Field] = []
    for statement in info.node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        annotation = ast.unparse(statement.annotation)
        if annotation.split(".")[-1].strip("'\"") == "KW_ONLY":
            by_keyword = True
        elif "ClassVar" not in annotation:
            one = _field(info, statement, by_keyword=by_keyword)
            if one is None:
                return None
            found.append(one)
    return found


def _field(info: ClassInfo, statement: ast.AnnAssign, *, by_keyword: bool) -> Field | None:
    assert isinstance(statement.target, ast.Name)
    name, value = statement.target.id, statement.value
    if not isinstance(value, ast.Call) or decorator_name(value) != "field":
        return Field(name, value is not None, by_keyword, True, info)
    given = {keyword.arg for keyword in value.keywords}
    keyword, is_given = option(value, "kw_only", default=by_keyword), option(value, "init", default=True)
    if keyword is None or is_given is None:
        return None
    return Field(name, not given.isdisjoint(_DEFAULTS), keyword, is_given, info)


def class_option(info: ClassInfo, word: str) -> bool | None:
    """An option that a class is declared with, of ``@dataclass(…)`` or in the head of a struct; ``None`` where it is no
    constant."""
    made = [d for d in info.node.decorator_list if decorator_name(d) == "dataclass"]
    if made:
        return option(made[0], word, default=False)
    value = next((keyword.value for keyword in info.node.keywords if keyword.arg == word), ast.Constant(False))
    return bool(value.value) if isinstance(value, ast.Constant) else None


def option(call: ast.expr, word: str, *, default: bool) -> bool | None:
    """An option of ``@dataclass(…)`` or ``field(…)``; ``None`` where it is no constant."""
    if not isinstance(call, ast.Call):
        return default
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    value = given.get(word, ast.Constant(None if None in given else default))
    return bool(value.value) if isinstance(value, ast.Constant) and value.value is not None else None
