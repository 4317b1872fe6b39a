"""The kinds of value that an annotation allows: `dict`, `np.ndarray`, a class of the trees.

Comes in: a `Classes`, a module and an annotation in it. Goes out: a `Declared`, or ``None`` if the annotation may allow
anything. May touch: nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_sync.syntax import dotted_name, generic_of, is_none, last_word
from runner_sync.verify.trees.classes import Classes, ClassInfo, is_protocol, is_record
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.values.annotations import members_of
from runner_sync.verify.trees.world import Definition

# Kinds by the last part of the name, in lower case. Numbers are one kind, because they can replace each other.
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("dict", "defaultdict", "ordereddict", "mapping", "mutablemapping"), "dict"),
    **dict.fromkeys(("int", "float", "bool"), "number"),
    **{name: name for name in ("tuple", "list", "set", "frozenset", "str", "bytes")},
}
_ARRAYS = frozenset({"torch.Tensor", "numpy.ndarray"})

_MAX_DEPTH = 4
"""Type aliases (``Rows = dict[str, Row]``) that are followed."""


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """The kinds that a value can have, without ``None``, and the classes of the trees among them."""

    kinds: frozenset[str]
    classes: tuple[ClassInfo, ...] = ()


def kinds_of(classes: Classes, module: Module, annotation: ast.expr | None, depth: int = 0) -> Declared | None:
    """Return the kinds that an annotation allows, or ``None`` if they are unknown."""
    members = members_of(annotation)
    if not members or depth > _MAX_DEPTH:
        return None
    return unite([_read_member(classes, module, one, depth) for one in members if not is_none(one)])


def _read_member(classes: Classes, module: Module, annotation: ast.expr, depth: int) -> Declared | None:
    dotted = dotted_name(generic_of(annotation)) or ""
    kind = _KINDS.get(dotted.rpartition(".")[2].lower())
    if kind is not None:
        return Declared(frozenset({kind}))
    found = classes.world.resolve(module, dotted) if dotted else []
    return unite([_read_definition(classes, definition, depth) for definition in found]) if found else None


def is_another(was: Declared, now: Declared) -> bool:
    """Whether no value of the old kinds can have a new one."""
    if not was.kinds or not now.kinds or was.kinds & now.kinds:
        return False
    related = [(one, other) for one in was.classes for other in now.classes]
    if any(_may_derive(one, other) or _may_derive(other, one) for one, other in related):
        return False
    return not any(is_record(info) for info in (*was.classes, *now.classes))


def _may_derive(one: ClassInfo, other: ClassInfo) -> bool:
    """Whether a class has the name of ``other``, or a base of that name; by name, because their trees differ."""
    bases = {last_word(base) for base in one.node.bases}
    return one.name == other.name or other.name in bases


def unite(parts: Sequence[Declared | None]) -> Declared | None:
    """Return the union of several `Declared`, or ``None`` if one of them may be anything."""
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    return Declared(frozenset().union(*(p.kinds for p in known)), tuple(info for p in known for info in p.classes))


def _read_definition(classes: Classes, definition: Definition, depth: int) -> Declared | None:
    info = classes.info(definition)
    if info is not None:
        is_known = not is_protocol(info) and not any(mro.open for mro in classes.mros(info))
        return Declared(frozenset({f"{info.module.name}.{info.name}"}), (info,)) if is_known else None
    if definition.kind == "external":
        return Declared(frozenset({definition.name})) if definition.name in _ARRAYS else None
    if definition.module is None or definition.kind != "value" or isinstance(definition.value, ast.Call):
        return None
    return kinds_of(classes, definition.module, definition.value, depth + 1)
