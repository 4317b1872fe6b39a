"""RS317 frozen-object: an attribute is assigned on an object that refuses it, or a dataclass derives from a frozen one.

What: `x.attribute = value` or `del x.attribute` where each class that `x` can be is a frozen dataclass or
`msgspec.Struct`, or a `NamedTuple`, with that field, or is constructed in sight with `__slots__` that leave no room for
it, as structs have them. Also an `@dataclass` that derives from a struct, one without `frozen=True` that derives from a
frozen one (or the reverse), or a field without a default behind one of a base that has one, in any omni module that is
imported with a runner.

Example: `output = copy(EMPTY_MODEL_RUNNER_OUTPUT)` and `output.kv_connector_output = …` after vLLM declares
`ModelRunnerOutput` with `@dataclass(frozen=True)`, from which omni's `OmniModelRunnerOutput` derives.

Why: the assignment is a `FrozenInstanceError` at the first request that takes this path; the class statement is a
`TypeError`, so the runner's module cannot even be imported. Name and arguments are as before, so no other rule sees it.

Fix: make the object anew (`dataclasses.replace`), declare the class as its base is declared.

Leaves alone: classes with a `__setattr__` (for `del`, a `__delattr__`) of their own, a base outside the trees or a
decorator's argument that is no constant, `__dict__` among the slots, objects whose class cannot be told or is a
property's to decide, what stands in a `try`, a version switch or under a condition that asks `hasattr` for it. Of
annotated classes of vLLM, and of those that others derive from, only fields count: a subclass may have room for others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, Severity
from runner_sync.signatures import class_option, option
from runner_sync.syntax import decorator_name
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
    """Assignments that fail and class statements that do. The old program is not needed."""
    for frame in program.frames(module):
        nodes = frame.nodes()
        declared = {id(node.target) for node in nodes if isinstance(node, ast.AnnAssign) and node.value is None}
        for node in nodes:
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and id(node) not in declared:
                yield from _check(program, frame, node)
    yield from find_at_start(program, module)


def find_at_start(program: Program, module: Module) -> Iterable[Finding]:
    """Dataclasses of ``module`` that cannot derive from what they derive from."""
    for info in program.own_classes(module):
        for mro in program.classes.mros(info):
            base = _other_kind(mro)
            if base is not None:
                kind, other = ("frozen", "not") if _option(info, "frozen") else ("not frozen", "frozen")
                reason = (
                    f"The dataclass `{info.name}` is {kind}, and `{base.name}` ({base.place}), from which it derives, "
                    f"is {other}"
                )
                yield _class_finding(info, base.name, reason, fix=f"Declare it as `{base.name}` is declared.")
            struct = next((part for part in mro.classes[1:] if is_struct(part)), None)
            if struct is not None and generated.is_dataclass(info):
                reason = (
                    f"The dataclass `{info.name}` derives from `{struct.name}` ({struct.place}), which is a "
                    "`msgspec.Struct`"
                )
                yield _class_finding(info, struct.name, reason, fix="Drop the decorator, and declare it as a struct.")
                continue
            is_made = generated.is_dataclass(info) or info in generated.structs(mro.classes)
            found = generated.fields(mro.classes) if is_made and not mro.is_foreign else None
            wrong = generated.misplaced(found or ())
            if wrong is not None:
                field, owner, before = wrong
                reason = (
                    f"`{info.name}.{field.name}` has no default, and stands behind `{before.name}` of "
                    f"`{owner.name}` ({owner.place}), which has one"
                )
                yield _class_finding(info, field.name, reason, fix=f"Give `{field.name}` a default.")


def _check(program: Program, frame: Frame, node: ast.Attribute) -> Iterator[Finding]:
    is_own = frame.is_self(node.value)
    if is_own or frame.is_guarded(node) or frame.is_tested(node):
        return
    kept, how = ("__delattr__", "deleted") if isinstance(node.ctx, ast.Del) else ("__setattr__", "assigned")
    instances = program.infer(frame, node.value) or []
    sealed = [Instance(i.info, i.exact or program.is_last(i.info)) for i in instances]
    reasons = [_refusal(mro, i, node.attr, own=kept) for i in sealed for mro in program.classes.mros(i.info)]
    if reasons and all(reasons):
        info = instances[0].info
        yield frame.finding(
            CODE,
            SEVERITY,
            node,
            symbol=f"{info.name}.{node.attr}",
            message=f"`{ast.unparse(node)}` cannot be {how}: {reasons[0]}.",
            fix=f"Make a `{info.name}` with the new value instead.",
        )


def _refusal(mro: Mro, instance: Instance, name: str, *, own: str) -> str:
    """Why an object refuses to have ``name`` assigned or deleted, empty when it may not, as with an ``own`` method
    for that."""
    if mro.open or any(not info.methods.keys().isdisjoint({own, name}) for info in mro.classes):
        return ""
    structs = generated.structs(mro.classes)
    for number, info in enumerate(mro.classes):
        if is_record(info) and name in info.fields:
            return f"`{info.name}` ({info.place}) is a NamedTuple"
        is_own = instance.exact and info is mro.head
        is_frozen = class_option(info.node, "frozen") if info in structs else _option(info, "frozen")
        if is_frozen and (is_own or any(name in c.fields for c in mro.classes[number:])):
            return f"`{info.name}` ({info.place}) is frozen"
    if not instance.exact or any(name in info.written for info in mro.classes):
        return ""
    has_none = all(info in structs or _has_slots(info, name) is False for info in mro.classes)
    return f"`{mro.head.name}` ({mro.head.place}) has no slot for it" if has_none else ""


def _option(info: ClassInfo, word: str) -> bool | None:
    """Whether ``@dataclass`` is given an option; ``None`` for other classes, and where it cannot be told."""
    made = [d for d in info.node.decorator_list if decorator_name(d) == "dataclass"]
    if len(made) != 1:
        return False if made else None
    return option(made[0], word, default=False)


def _has_slots(info: ClassInfo, name: str) -> bool | None:
    """Whether the ``__slots__`` of a class have room for ``name``; ``None`` where they cannot be told."""
    if _option(info, "slots") or is_record(info):
        return name in info.fields
    told = [assignment.value for assignment in info.written.get("__slots__", ())]
    slots = told[0] if len(told) == 1 else None
    if not isinstance(slots, ast.Tuple | ast.List) or not all(isinstance(e, ast.Constant) for e in slots.elts):
        return None
    return any(isinstance(element, ast.Constant) and element.value in (name, "__dict__") for element in slots.elts)


def _other_kind(mro: Mro) -> ClassInfo | None:
    """The dataclass behind the first class of an MRO that is frozen where this one is not, or the reverse."""
    own = _option(mro.head, "frozen")
    kinds = [(info, _option(info, "frozen")) for info in mro.classes[1:]]
    known = [(info, kind) for info, kind in kinds if kind is not None]
    others = [info for info, kind in known if kind is not own]
    if own is None or (own and len(others) != len(known)):
        return None
    return others[0] if others else None


def _class_finding(info: ClassInfo, symbol: str, reason: str, *, fix: str) -> Finding:
    return class_finding(CODE, SEVERITY, info, symbol=symbol, message=f"{reason}: the class statement fails.", fix=fix)
