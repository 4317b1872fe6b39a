"""RS317 frozen-object: an attribute is assigned on an object that refuses it, or a dataclass derives from a frozen one.

What: `x.attribute = value` or `del x.attribute` where each class that `x` can be is a frozen dataclass (also by vLLM's
`@config(config=ConfigDict(frozen=True))`) or `msgspec.Struct`, or a `NamedTuple`, with that field, or where `x` is
constructed in sight and its `__slots__` (or struct fields) leave no room for the attribute. Also three class statements
in any omni module that is imported with a runner: an `@dataclass` that derives from a struct; one without `frozen=True`
that derives from a frozen one, or the reverse; and a field without a default behind a base's field that has one.

Example: `output = copy(EMPTY_MODEL_RUNNER_OUTPUT)` and `output.kv_connector_output = …` after vLLM declares
`ModelRunnerOutput` with `@dataclass(frozen=True)`, from which omni's `OmniModelRunnerOutput` derives.

Why: the assignment is a `FrozenInstanceError` at the first request that takes this path; the class statement is a
`TypeError`, so the runner's module cannot even be imported. Name and arguments are unchanged, so no other rule sees it.

Fix: make a new object (`dataclasses.replace`), or declare the class as its base is declared.

Leaves alone: classes with an own `__setattr__` (for `del`, `__delattr__`), with a base outside the trees, with a
decorator argument that is no constant, or with `__dict__` among the slots; objects of unknown class; attributes that
are properties; code in a `try`, in a version switch or under a `hasattr` test. For annotated classes of vLLM, and for
those with subclasses, only fields count: a subclass may have room for other attributes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, Severity
from runner_sync.signatures import class_option, decorator_names, find_dataclass_decorators, option
from runner_sync.syntax import Function, decorator_name, dotted_name
from runner_sync.verify.trees.classes import ClassInfo, Mro, is_record, is_struct
from runner_sync.verify.trees.frames import Frame, class_finding
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values import generated
from runner_sync.verify.trees.values.annotations import Instance

CODE = "RS317"
NAME = "frozen-object"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Yield assignments and class statements that fail."""
    for frame in program.frames(module):
        for node in frame.assigned_attributes():
            yield from _check(program, frame, node)
    yield from find_at_start(program, module)


def find_at_start(program: Program, module: Module) -> Iterable[Finding]:
    """Yield dataclasses of ``module`` whose class statement fails."""
    for info in program.own_classes(module):
        for mro in program.classes.mros(info):
            base = _find_other_kind(mro)
            if base is not None:
                kind, other = ("frozen", "not") if _read_option(info, "frozen") else ("not frozen", "frozen")
                reason = f"The dataclass `{info.name}` is {kind}, and {base.label}, from which it derives, is {other}"
                yield _make_class_finding(info, base.name, reason, fix=f"Declare it as `{base.name}` is declared.")
            struct = next((part for part in mro.classes[1:] if is_struct(part)), None)
            if struct is not None and generated.is_dataclass(info):
                reason = f"The dataclass `{info.name}` derives from {struct.label}, which is a `msgspec.Struct`"
                yield _make_class_finding(
                    info, struct.name, reason, fix="Drop the decorator, and declare it as a struct."
                )
                continue
            is_made = generated.is_dataclass(info) or info in generated.find_structs(mro.classes)
            found = generated.collect_fields(mro.classes) if is_made and not mro.is_foreign else None
            wrong = generated.find_misplaced_field(found or ())
            if wrong is not None:
                field, owner, before = wrong
                reason = (
                    f"`{info.name}.{field.name}` has no default, and stands behind `{before.name}` of "
                    f"{owner.label}, which has one"
                )
                yield _make_class_finding(info, field.name, reason, fix=f"Give `{field.name}` a default.")


def _check(program: Program, frame: Frame, node: ast.Attribute) -> Iterator[Finding]:
    if frame.is_self(node.value) or frame.may_lack(node):
        return
    kept, how = ("__delattr__", "deleted") if isinstance(node.ctx, ast.Del) else ("__setattr__", "assigned")
    instances = program.infer(frame, node.value) or []
    sealed = [Instance(i.info, i.exact or program.is_last(i.info)) for i in instances]
    mros = [(i, mro) for i in sealed for mro in program.classes.mros(i.info)]
    reasons = [_describe_refusal(program, mro, i, node.attr, own=kept) for i, mro in mros]
    if reasons and all(reasons):
        info = instances[0].info
        yield frame.finding(
            (CODE, SEVERITY),
            node,
            symbol=f"{info.name}.{node.attr}",
            message=f"`{ast.unparse(node)}` cannot be {how}: {reasons[0]}.",
            fix=f"Make a `{info.name}` with the new value instead.",
        )


def _describe_refusal(program: Program, mro: Mro, instance: Instance, name: str, *, own: str) -> str:
    """Return why an object refuses to have ``name`` assigned or deleted; empty when it may accept that.

    ``own`` is the special method by which a class decides that itself.
    """
    if mro.open or any(not info.methods.keys().isdisjoint({own, name}) for info in mro.classes):
        return ""
    structs = generated.find_structs(mro.classes)
    for number, info in enumerate(mro.classes):
        if is_record(info) and name in info.fields:
            return f"{info.label} is a NamedTuple"
        is_own = instance.exact and info is mro.head
        is_frozen = class_option(info.node, "frozen") if info in structs else _is_frozen(program, info)
        if is_frozen and (is_own or any(name in c.fields for c in mro.classes[number:])):
            return f"{info.label} is frozen"
    if not instance.exact or any(name in info.written for info in mro.classes):
        return ""
    has_none = all(info in structs or _has_slots(info, name) is False for info in mro.classes)
    return f"{mro.head.label} has no slot for it" if has_none else ""


def _read_option(info: ClassInfo, word: str) -> bool | None:
    """Return the value of an ``@dataclass`` option; ``None`` for other classes and for an unknown value."""
    made = find_dataclass_decorators(info.node)
    if len(made) != 1:
        return False if made else None
    return option(made[0], word, default=False)


def _is_frozen(program: Program, info: ClassInfo) -> bool | None:
    """Whether a decorator freezes the objects of a class; ``None`` for other classes and for an unknown value."""
    made = _read_option(info, "frozen")
    return made or any(_freezes(program, info, decorator) for decorator in info.node.decorator_list) or made


def _freezes(program: Program, info: ClassInfo, decorator: ast.expr) -> bool:
    """Whether a decorator that makes a dataclass freezes it: ``@config(config=ConfigDict(frozen=True))``."""
    if not isinstance(decorator, ast.Call):
        return False
    given = [decorator, *(keyword.value for keyword in decorator.keywords if keyword.arg == "config")]
    holders = [one for one in given if isinstance(one, ast.Call) and (one is decorator or _is_config(one))]
    name = dotted_name(decorator.func) or ""
    if not any(option(holder, "frozen", default=False) for holder in holders):
        return False
    found = (one.node for one in program.world.resolve(info.module, name)) if name else ()
    is_made_here = any(isinstance(f, Function) and "dataclass_transform" in decorator_names(f) for f in found)
    return is_made_here or decorator_name(decorator) == "dataclass"


def _is_config(call: ast.Call) -> bool:
    return decorator_name(call) == "ConfigDict"


def _has_slots(info: ClassInfo, name: str) -> bool | None:
    """Whether the ``__slots__`` of a class have room for ``name``; ``None`` when unknown."""
    if _read_option(info, "slots") or is_record(info):
        return name in info.fields
    values = [assignment.value for assignment in info.written.get("__slots__", ())]
    slots = values[0] if len(values) == 1 else None
    if not isinstance(slots, ast.Tuple | ast.List) or not all(isinstance(e, ast.Constant) for e in slots.elts):
        return None
    return any(isinstance(element, ast.Constant) and element.value in (name, "__dict__") for element in slots.elts)


def _find_other_kind(mro: Mro) -> ClassInfo | None:
    """Return the first dataclass behind the MRO's first class that is frozen while the first is not, or the reverse."""
    own = _read_option(mro.head, "frozen")
    kinds = [(info, _read_option(info, "frozen")) for info in mro.classes[1:]]
    known = [(info, kind) for info, kind in kinds if kind is not None]
    others = [info for info, kind in known if kind is not own]
    if own is None or (own and len(others) != len(known)):
        return None
    return others[0] if others else None


def _make_class_finding(info: ClassInfo, symbol: str, reason: str, *, fix: str) -> Finding:
    return class_finding(
        (CODE, SEVERITY), info, symbol=symbol, message=f"{reason}: the class statement fails.", fix=fix
    )
