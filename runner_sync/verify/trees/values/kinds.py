"""What kind of thing a name or an attribute stands for: a method, a property, a value, a context manager, a class.

Comes in: a `Program`, a frame of it and a name or attribute in it. Goes out: a `Member`, or ``None`` if the kind is
unknown or varies. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from runner_sync.signatures import TRANSPARENT, decorator_names
from runner_sync.syntax import Function, decorator_name, dotted_name, generic_of, is_name, is_none
from runner_sync.verify.trees.classes import Assignment, ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame, class_frame, module_frame
from runner_sync.verify.trees.functions import returns_of, yields
from runner_sync.verify.trees.known import all_known
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values import torch_objects
from runner_sync.verify.trees.values.annotations import members_of, resolve_annotation
from runner_sync.verify.trees.values.giving import can_create
from runner_sync.verify.trees.world import Definition

Kind = Literal[
    "function",
    "coroutine",
    "generator",
    "context manager",
    "asynchronous context manager",
    "property",
    "value",
    "class",
]

_MANAGERS: dict[str, Kind] = {
    "contextmanager": "context manager",
    "asynccontextmanager": "asynchronous context manager",
}
# What these calls or decorators make of a member. The result of any other call in a class body is unknown.
_MAKERS: dict[str, Kind] = {
    "property": "property",
    "cached_property": "property",
    "staticmethod": "function",
    "classmethod": "function",
    "partialmethod": "function",
    **_MANAGERS,
}
# Class decorators that add no member which a runner would use.
_PLAIN_DECORATORS = TRANSPARENT | {"dataclass", "runtime_checkable", "total_ordering"}
_BUILTIN_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "list", "dict", "tuple", "set", "frozenset"})
_ARRAYS = frozenset({"torch.Tensor", "np.ndarray", "numpy.ndarray"})
_NUMBERS = frozenset({"int", "float", "bool"})
# Methods of containers and arrays, and of all types in `_BUILTIN_TYPES` but numbers.
_CONTAINER_METHODS = frozenset({"__iter__", "__getitem__"})
_DISPLAYS = (
    ast.Constant | ast.JoinedStr | ast.Tuple | ast.List | ast.Dict | ast.Set | ast.Compare
    | ast.ListComp | ast.SetComp | ast.DictComp
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value comes from: an expression or an annotation, and the frame that contains it."""

    frame: Frame
    value: ast.expr | None
    annotation: ast.expr | None


@dataclass(frozen=True, slots=True)
class Member:
    """What a name stands for. ``sources`` are what a function or property returns, or what is assigned to an attribute.

    ``of_class``: it is a member of a class. ``fixed``: it cannot be assigned, as a property without a setter.
    ``cached``: it has the attributes that ``functools.lru_cache`` adds, ``cache_clear`` and the like.
    """

    kind: Kind
    place: str
    of_class: bool
    info: ClassInfo | None = None
    fixed: bool = False
    cached: bool = False
    sources: tuple[Source, ...] = ()

    @property
    def words(self) -> str:
        """The kind in words."""
        if self.kind == "function":
            return "a method" if self.of_class else "a function"
        if self.kind == "value":
            return "an attribute" if self.of_class else "a constant"
        return f"{'an' if self.kind.startswith('a') else 'a'} {self.kind}"

    @property
    def hands_out(self) -> frozenset[str]:
        """Its annotations and returned expressions as text: a property with those of a former method replaces it."""
        parts = [source.annotation or source.value for source in self.sources]
        return frozenset(ast.dump(part) for part in parts if part is not None)


def members(program: Program, frame: Frame, node: ast.expr) -> dict[frozenset[str], Member | None]:
    """Return what ``node``, a name or an attribute, stands for in ``frame``; for an attribute of ``self``, one entry
    per MRO.

    The key holds the classes that tell an MRO from the others, because programs may order the branches of a conditional
    base differently.
    """
    if isinstance(node, ast.Attribute):
        own = frame.is_self(node.value)
        if frame.info is not None and (own or frame.is_super(node.value)):
            after = None if own else frame.info
            mros = program.mros(frame.info)
            found = [member_of(program, mro, node.attr, after=after) for mro in mros]
            return dict(zip(program.branches(frame.info), found, strict=True))
    dotted = dotted_name(node)
    definitions = program.definitions(frame, dotted) if dotted else []
    if definitions and not all(definition.kind == "external" for definition in definitions):
        patched = [d for definition in definitions for d in program.world.patches_of(definition.name)]
        return {
            frozenset(): _unite_members(
                [_member_of_definition(program, definition) for definition in (*definitions, *patched)]
            )
        }
    if isinstance(node, ast.Attribute):
        mros = program.mros_of(frame, node.value)
        return {frozenset(): _unite_members([member_of(program, mro, node.attr) for mro in mros])}
    return {}


def provably_lacks(program: Program, held: Member, name: str) -> bool:
    """Whether a value, or the result of a property or function, provably has no method ``name``.

    Nothing is proved of an attribute that is only ever assigned ``None``, because unseen code must set it.
    """
    if held.info is not None:
        return is_lacked_by_all(program, [held.info], name)
    if held.kind == "value" and all(_is_none_source(source) for source in held.sources):
        return False
    return bool(held.sources) and all(_source_lacks(program, source, name) for source in held.sources)


def _unite_members(found: Sequence[Member | None]) -> Member | None:
    """Return the member of the kind that all have, with the sources of all; ``None`` if one is unknown or they
    differ."""
    known = all_known(found)
    if len({(one.kind, one.fixed) for one in known}) != 1:
        return None
    return replace(known[0], sources=tuple(source for one in known for source in one.sources))


def member_of(program: Program, mro: Mro, name: str, *, after: ClassInfo | None = None) -> Member | None:
    """Return what ``self.name`` stands for on an MRO, or ``super().name`` in the class ``after``.

    A property of the class precedes assignments to the object.
    """
    if mro.open or (after is not None and after not in mro):
        return None
    classes = mro.behind(after) if after is not None else mro.classes
    having = [c for c in classes if name in c.methods or c.written_in_body(name)]
    # A bare annotation overrides nothing.
    defining = next(
        (c for c in having if name in c.methods or _find_body_assignments(c, name)), having[0] if having else None
    )
    assigned = [(info, a) for info, a in program.assignments(mro, name) if a.function is not None]
    found = _member_of_class(program, defining, name) if defining is not None else None
    if found is not None and (found.kind == "property" or not assigned):
        return found
    if (defining is not None and (found is None or found.kind != "value")) or not assigned:
        return None
    sources = [
        Source(program.frame(info, a.function), a.value, a.annotation) for info, a in assigned if a.function is not None
    ]
    info, first = assigned[0]
    return Member(
        "value", info.place_of(first.node), True, sources=(*sources, *(found.sources if found is not None else ()))
    )


def _find_body_assignments(info: ClassInfo, name: str) -> list[Assignment]:
    return [assignment for assignment in info.written_in_body(name) if can_create(info, assignment, name)]


def _member_of_class(program: Program, info: ClassInfo, name: str) -> Member | None:
    """Return the member ``name`` as the body of a class defines it."""
    found: list[Member | None] = []
    roles = [(function, decorator_names(function)) for function in info.methods.get(name, ())]
    is_settable = any("setter" in names for _, names in roles)
    for function, names in roles:
        if not names & {"overload", "setter", "deleter"}:
            made = _member_of_function(program.frame(info, function), of_class=True)
            found.append(replace(made, fixed=made.fixed and not is_settable) if made is not None else None)
    declared = info.written_in_body(name) if not found else []
    for assignment in _find_body_assignments(info, name) or declared:
        found.append(_member_of_body(program, info, assignment.value, assignment.annotation, assignment.node))
    return _unite_members(found)


def _member_of_body(
    program: Program, info: ClassInfo, value: ast.expr | None, annotation: ast.expr | None, node: ast.AST
) -> Member | None:
    """Return the member that one assignment in a class body makes: a value, another name for a method, or
    ``property(…)``."""
    if isinstance(value, ast.Name) and value.id in info.methods:
        return _member_of_class(program, info, value.id)
    place = info.place_of(node)
    if isinstance(value, ast.Call):
        made = _MAKERS.get(decorator_name(value))
        fixed = made == "property" and is_name(value.func, "property") and len(value.args) + len(value.keywords) == 1
        return Member(made, place, True, fixed=fixed) if made is not None else None
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return None
    return Member("value", place, True, sources=(Source(class_frame(info), value, annotation),))


def _member_of_definition(program: Program, definition: Definition) -> Member | None:
    module, node = definition.module, definition.node
    info = program.classes.info(definition)
    if info is not None:
        return Member("class", info.place, False, info=info)
    if module is None or definition.kind not in ("function", "value"):
        return None
    if isinstance(node, Function):
        return _member_of_function(program.frame_of(module, node), of_class=False)
    binding = definition.binding
    if binding is None or (binding.value is None and binding.annotation is None):
        return None
    manager = _MANAGERS.get(decorator_name(binding.value)) if isinstance(binding.value, ast.Call) else None
    if manager is not None:
        return Member(manager, definition.place, False)
    source = Source(module_frame(module), binding.value, binding.annotation)
    return Member("value", definition.place, False, sources=(source,))


def _member_of_function(frame: Frame, *, of_class: bool) -> Member | None:
    """Return the member that a ``def`` makes, or ``None`` if a decorator may make anything of it."""
    function = frame.function
    names = decorator_names(function)
    is_coroutine = isinstance(function, ast.AsyncFunctionDef)
    place = frame.place_of(function)
    returned = [Source(frame, value, None) for value in returns_of(function)] or [Source(frame, None, None)]
    sources = (Source(frame, None, function.returns),) if function.returns is not None else tuple(returned)
    if names & {"property", "cached_property"}:
        return Member("property", place, of_class, fixed="property" in names, sources=sources)
    if names - TRANSPARENT:
        return None
    kind: Kind = "coroutine" if is_coroutine else "generator" if yields(function) else "function"
    kind = next((_MANAGERS[name] for name in names if name in _MANAGERS), kind)
    return Member(kind, place, of_class, cached=bool(names & {"lru_cache", "cache"}), sources=sources)


def _is_none_source(source: Source) -> bool:
    return source.annotation is None and is_none(source.value)


def _source_lacks(program: Program, source: Source, name: str) -> bool:
    if source.annotation is not None:
        return _annotation_lacks(program, source.frame, source.annotation, name=name)
    value = source.value
    if value is None or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)):
        return True
    if isinstance(value, _DISPLAYS):
        return name not in _CONTAINER_METHODS or (isinstance(value, ast.Constant) and not hasattr(value.value, name))
    if torch_objects.made_lacks(value, name):
        return True
    found = program.infer(source.frame, value)
    return bool(found) and is_lacked_by_all(program, [instance.info for instance in found or ()], name)


def _annotation_lacks(program: Program, frame: Frame, annotation: ast.expr, *, name: str) -> bool:
    members = members_of(annotation)
    return bool(members) and all(_annotated_lacks(program, frame, one, name=name) for one in members)


def _annotated_lacks(program: Program, frame: Frame, annotation: ast.expr, *, name: str) -> bool:
    base = generic_of(annotation)
    kind = dotted_name(base) or ""
    if is_none(base) or kind in _BUILTIN_TYPES | _ARRAYS:
        return name not in _CONTAINER_METHODS or kind not in _BUILTIN_TYPES - _NUMBERS | _ARRAYS
    if torch_objects.annotated_lacks(base, name):
        return True
    infos = [instance.info for instance in resolve_annotation(program.classes, frame.module, annotation) or ()]
    if not infos or not is_lacked_by_all(program, infos, name):
        return False
    # The value may be of a subclass. This is tested last, because it searches all texts of the trees.
    return not any(program.world.surroundings.has_subclass(info.name) for info in infos)


def is_lacked_by_all(program: Program, infos: Sequence[ClassInfo], name: str) -> bool:
    """Whether no class of ``infos`` has the member ``name``, or may have it in a way that cannot be read."""
    mros = program.classes.mros_of(infos)
    return not any(mro.open or any(_may_define(c, name) for c in mro.classes) for mro in mros)


def _may_define(info: ClassInfo, name: str) -> bool:
    """Whether a class defines a member, or may get it from an unknown decorator."""
    return not decorator_names(info.node) <= _PLAIN_DECORATORS or info.has(name)
