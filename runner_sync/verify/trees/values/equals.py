"""Constants that a declared field can no longer equal: ``"align"`` where a text became an enum.

Comes in: a `Step` and a comparison in it. Goes out: the read field, the constants and where the field is declared. May
touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.naming import module_name
from runner_sync.syntax import dotted_name, is_none, last_word
from runner_sync.verify.trees.classes import Assignment, Classes, ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step
from runner_sync.verify.trees.values.annotations import members_of
from runner_sync.verify.trees.world import Definition

_MAX_DEPTH = 6
"""Type aliases that are followed: vLLM's `SpeculativeMethod` is a `Literal` of others."""

_BUILTINS = {"str": str, "int": int, "float": float, "bool": bool}
# Classes whose members equal nothing but themselves; those of `str, Enum` equal texts.
_ENUMS = frozenset({"Enum", "Flag"})


@dataclass(frozen=True, slots=True)
class Unequal:
    """A read field that newly equals none of the ``constants``.

    ``members`` are those of an enum with such a value, ``instead`` the only constant that its declaration newly allows.
    """

    read: ast.Attribute
    constants: tuple[str | int, ...]
    declared: str
    place: str
    members: tuple[str, ...]
    instead: str


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What a field may hold: constants, or anything of some built-in types; the enums equal none of either."""

    constants: frozenset[object] = frozenset()
    types: frozenset[type] = frozenset()
    enums: tuple[ClassInfo, ...] = ()

    def may_equal(self, constant: str | int) -> bool:
        """Whether a value may equal a text or a number."""
        is_text = isinstance(constant, str)
        return constant in self.constants or any((kind is str) == is_text for kind in self.types)


def find_unequal(step: Step, node: ast.Compare) -> Unequal | None:
    """Return the field of a comparison that was declared so that it might equal a constant, and no longer is."""
    read, constants = _find_sides(step.frame, node)
    if read is None or not constants:
        return None
    now, was = _find_declared(step.program, step.frame, read), _find_declared(step.old, step.before, read)
    if not now or not was:
        return None
    allowed = _read(step.program, now)
    if allowed is None or any(allowed.may_equal(one) for one in constants):
        return None
    before = _read(step.old, was)
    if before is None or not any(before.may_equal(one) for one in constants):
        return None
    if _is_set_otherwise(step, read, constants):
        return None
    info, field = now[0]
    declared = ast.unparse(field.annotation) if field.annotation is not None else ""
    members = tuple(name for enum in allowed.enums for name in _find_members(enum, constants))
    fresh = sorted(repr(one) for one in allowed.constants - before.constants)
    instead = fresh[0] if len(fresh) == 1 and before.constants else ""
    return Unequal(read, constants, declared, info.place_of(field.node), members, instead)


def _find_sides(frame: Frame, node: ast.Compare) -> tuple[ast.Attribute | None, tuple[str | int, ...]]:
    """Return the field and the constants of ``x.field == "a"`` or ``x.field in ("a", "b")``."""
    match node:
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()], left=ast.Constant() as one, comparators=[other]):
            return frame.find_attribute(other), tuple(_list_constants([one]))
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()], left=other, comparators=[ast.Constant() as one]):
            return frame.find_attribute(other), tuple(_list_constants([one]))
        case ast.Compare(
            ops=[ast.In() | ast.NotIn()], left=other, comparators=[ast.Tuple() | ast.List() | ast.Set() as rows]
        ):
            found = tuple(_list_constants(rows.elts))
            return frame.find_attribute(other), found if len(found) == len(rows.elts) else ()
    return None, ()


def _list_constants(nodes: Sequence[ast.expr]) -> Iterator[str | int]:
    yield from (n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str | int))


def _find_declared(program: Program, frame: Frame, read: ast.Attribute) -> list[tuple[ClassInfo, Assignment]]:
    """Return where each class that the object can have declares the field; empty if one does not."""
    found: list[tuple[ClassInfo, Assignment]] = []
    for mro in program.mros_of(frame, read.value):
        declared = [p for p in mro.written(read.attr) if p[1].function is None and p[1].annotation is not None]
        if mro.open or not declared or mro.has_method(read.attr):
            return []
        found.append(declared[0])
    return found


def _is_set_otherwise(step: Step, read: ast.Attribute, constants: Sequence[str | int]) -> bool:
    """Whether something may give the field one of the constants after all, whatever it is declared as.

    Upstream's own code may by a constant, omni's by any other value, and a subclass by a field of its own.
    """
    text = ast.unparse(read)
    if any(ast.unparse(node) == text for node in step.frame.assigned_attributes()):
        return True
    mros = step.program.mros_of(step.frame, read.value)
    written = (pair for mro in mros for pair in mro.written(read.attr))
    if any(_sets(one, constants) or (info.is_omnis and _is_unreadable(one)) for info, one in written):
        return True
    return any(_has_own_field(step.program, mro.head, read.attr) for mro in mros)


def _has_own_field(program: Program, info: ClassInfo, name: str) -> bool:
    """Whether a subclass in any module of the trees declares or sets the field anew."""
    paths = program.world.surroundings.deriving_anywhere(info.name, beside=name)
    modules = [module for path in paths if (module := program.world.module(module_name(path))) is not None]
    derived = (one for module in modules for one in program.own_classes(module) if name in one.written)
    return any(one is not info and info in mro for one in derived for mro in program.classes.mros(one))


def _sets(assignment: Assignment, constants: Sequence[str | int]) -> bool:
    """Whether an assignment gives the field one of the constants after all: ``"a"`` or ``field(default="a")``."""
    value = assignment.value
    given = [*value.args, *(keyword.value for keyword in value.keywords)] if isinstance(value, ast.Call) else [value]
    return any(isinstance(one, ast.Constant) and one.value in constants for one in given)


def _is_unreadable(assignment: Assignment) -> bool:
    return assignment.value is not None and not isinstance(assignment.value, ast.Constant)


def _read(program: Program, declared: Sequence[tuple[ClassInfo, Assignment]]) -> _Allowed | None:
    return _unite([_read_annotation(program.classes, info.module, field.annotation) for info, field in declared])


def _read_annotation(classes: Classes, module: Module, annotation: ast.expr | None, depth: int = 0) -> _Allowed | None:
    members = members_of(annotation)
    if not members or depth > _MAX_DEPTH:
        return None
    return _unite([_read_member(classes, module, one, depth) for one in members])


def _read_member(classes: Classes, module: Module, node: ast.expr, depth: int) -> _Allowed | None:
    if is_none(node):
        return _Allowed()
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_literal = last_word(node.value) == "Literal"
        return _unite([_read_part(classes, module, part, depth) for part in parts]) if is_literal else None
    dotted = dotted_name(node) or ""
    if dotted in _BUILTINS:
        return _Allowed(types=frozenset({_BUILTINS[dotted]}))
    found = classes.world.resolve(module, dotted) if dotted else []
    return _unite([_read_definition(classes, one, depth) for one in found]) if found else None


def _read_part(classes: Classes, module: Module, part: ast.expr, depth: int) -> _Allowed | None:
    if isinstance(part, ast.Constant):
        return _Allowed(frozenset({part.value}))
    return _read_member(classes, module, part, depth)


def _read_definition(classes: Classes, definition: Definition, depth: int) -> _Allowed | None:
    info = classes.info(definition)
    if info is not None:
        bases = [last_word(base) for base in info.node.bases]
        is_enum = len(bases) == 1 and bases[0] in _ENUMS and not _compares_itself(info)
        return _Allowed(enums=(info,)) if is_enum else None
    if definition.module is None or definition.kind != "value" or isinstance(definition.value, ast.Call):
        return None
    return _read_annotation(classes, definition.module, definition.value, depth + 1)


def _compares_itself(info: ClassInfo) -> bool:
    return "__eq__" in info.methods or any(one.value is not None for one in info.written.get("__eq__", ()))


def _unite(parts: Sequence[_Allowed | None]) -> _Allowed | None:
    """Return what any of the parts allows, or ``None`` if one of them may allow anything."""
    known = [part for part in parts if part is not None]
    if not known or len(known) != len(parts):
        return None
    return _Allowed(
        frozenset().union(*(part.constants for part in known)),
        frozenset().union(*(part.types for part in known)),
        tuple(info for part in known for info in part.enums),
    )


def _find_members(enum: ClassInfo, constants: Sequence[str | int]) -> Iterator[str]:
    """Yield the members of an enum whose value is one of the constants."""
    for name, assignments in enum.written.items():
        if any(_sets(assignment, constants) for assignment in assignments):
            yield f"{enum.name}.{name}"
