"""RS324 field-unread: the method that an override hides reads a field that is new, and nothing that runs does.

What: an override does not call the method of vllm-ascend or vLLM that it hides. The hidden method reads `thing.field`,
a field that the class of the thing has only since the old target. No method that runs in the MRO, and none of the
worker that holds the runner, reads a field of that name.

Example: vLLM 0.18's scheduler lists in `SchedulerOutput.new_block_ids_to_zero` the blocks of the cache that have to be
cleared; its `_update_states` clears them. Omni's `_update_states` of 0.16.0 does not know the field.

Why: nothing raises; the work that the field asks for is not done. Blocks kept the data of another request until the
runners of 0.18.0. Omni's `init_device` of 0.22.0 does not read the `assigned_physical_gpu_ids` of vLLM 0.24, so a
worker counts devices from the first one, whatever is assigned to it (0.24.0 reads it). Until 0.32.0rc1 no
`_update_states` of omni's passed on the `prompt_is_token_ids` that a request has since vLLM 0.21.

Fix: do in the override what the hidden method does with the field.

Leaves alone: fields that the old class had, also as a method; fields of classes that the old target had elsewhere or
not at all; fields that a function called by the override may read; fields that are only logged; switches (`name: bool =
False`), which ask for nothing until somebody turns one on; the new name of a field that the override reads (RS308).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from runner_sync.model import Finding, Severity
from runner_sync.syntax import Function, dotted_name, is_name, walk
from runner_sync.verify.answers import answered_once
from runner_sync.verify.trees.classes import Assignment, ClassInfo, Mro, classes_in
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import calls_of, nodes_of, reads_of, words_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS324"
NAME = "field-unread"
SEVERITY: Severity = "warning"


@dataclass(frozen=True, slots=True)
class _Unread:
    """A read of a new field in a ``hidden`` method, and the override that hides it."""

    override: Frame
    hidden: Frame
    node: ast.Attribute
    kind: ClassInfo


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield overrides in ``module`` that hide the only reads of a field that upstream has since ``old``."""
    reported: set[tuple[str, str]] = set()
    for mro in program.leaves():
        for row in _find_unread_once(program, mro, old) if old is not None else ():
            key = (row.override.unit, row.node.attr)
            if row.override.module is module and key not in reported:
                reported.add(key)
                yield _make_finding(row)


@answered_once
def _find_unread_once(program: Program, mro: Mro, old: Program) -> list[_Unread]:
    return list(_find_unread(program, mro, old))


def _find_unread(program: Program, mro: Mro, old: Program) -> Iterator[_Unread]:
    known = _collect_words(old)
    mentioned = frozenset().union(*(program.mentioned(other) for other in program.leaves()))
    for hidden, override in _find_hidden(program, mro):
        name = hidden.function.name
        if name not in known or words_of(hidden.function) <= mentioned | known[name]:
            continue
        for node in reads_of(hidden.function):
            is_own = hidden.is_of_self(node)
            if node.attr in mentioned | known[name] or is_own or _is_logged(hidden.function, node):
                continue
            kind = _find_new_owner(program, hidden, node, old)
            if kind is not None and not _is_reached(program, override, node.attr, kind):
                yield _Unread(override, hidden, node, kind)


@answered_once
def _collect_words(old: Program) -> Mapping[str, frozenset[str]]:
    """Return the words of upstream's methods in the old trees, by method name."""
    found: dict[str, frozenset[str]] = {}
    for info in classes_in(old.leaves()):
        for name, functions in info.methods.items() if not info.is_omnis else ():
            found[name] = found.get(name, frozenset()).union(*map(words_of, functions))
    return found


def _find_hidden(program: Program, mro: Mro) -> Iterator[tuple[Frame, Frame]]:
    """Yield upstream's methods that cannot run, each with omni's override that hides it."""
    live = program.live(mro)
    for info in mro.classes if not mro.open else ():
        functions = (f for fs in info.methods.values() for f in fs if id(f) not in live)
        for function in functions if not info.is_omnis else ():
            override = program.omnis_override(mro, function)
            if override is not None:
                yield program.frame(info, function), override


def _find_new_owner(program: Program, frame: Frame, node: ast.Attribute, old: Program) -> ClassInfo | None:
    """Return the upstream class that a field is read from, if it has the field only since ``old``."""
    found = program.infer(frame, node.value) or []
    kinds = [instance.info for instance in found if _is_field(program, instance.info, node.attr)]
    is_new = bool(kinds) and len(kinds) == len(found) and all(_is_new_member(old, kind, node.attr) for kind in kinds)
    return kinds[0] if is_new else None


def _is_field(program: Program, info: ClassInfo, name: str) -> bool:
    """Whether an upstream class body declares the attribute, and not as a switch that is off."""
    classes = classes_in(program.classes.mros(info))
    declared = [a for c in classes if not c.is_omnis for a in c.written_in_body(name) if a.annotation is not None]
    return bool(declared) and not all(_is_off(assignment) for assignment in declared)


def _is_off(declared: Assignment) -> bool:
    """Whether the declaration is ``name: bool = False``."""
    is_false = isinstance(declared.value, ast.Constant) and declared.value.value is False
    return is_false and declared.annotation is not None and is_name(declared.annotation, "bool")


def _is_new_member(old: Program, info: ClassInfo, name: str) -> bool:
    """Whether the old trees had the same class without a member of that name."""
    module = old.world.module(info.module.name)
    bindings = module.bindings.get(info.name, ()) if module is not None else ()
    before = [old.classes.info_of(module, b.node) for b in bindings if module and isinstance(b.node, ast.ClassDef)]
    mros = [mro for one in before for mro in old.classes.mros(one)]
    return bool(mros) and not any(mro.is_foreign or mro.has(name) for mro in mros)


def _is_reached(program: Program, override: Frame, name: str, kind: ClassInfo) -> bool:
    """Whether a function that the override calls may read the field of this class."""
    calls = calls_of(override.function)
    found = {id(callee.function): callee for call in calls for callee in program.reached(override, call)}
    for callee in found.values():
        function = callee.function
        for node in reads_of(function) if function is not None and name in words_of(function) else ():
            kinds = program.infer(program.frame_of_callee(callee), node.value) if node.attr == name else []
            if kinds is None or any(instance.info is kind for instance in kinds):
                return True
    return False


def _is_logged(function: Function, node: ast.Attribute) -> bool:
    calls = (n for n in nodes_of(function) if isinstance(n, ast.Call))
    logged = (call for call in calls if (dotted_name(call.func) or "").startswith("logger."))
    return any(inner is node for call in logged for inner in walk(call))


def _make_finding(row: _Unread) -> Finding:
    hidden, field = row.hidden, f"{row.kind.name}.{row.node.attr}"
    return row.override.finding(
        (CODE, SEVERITY),
        row.override.function,
        symbol=field,
        message=f"{hidden.label_at(row.node)}, which this override hides, reads the new "
        f"`{field}`, and nothing that runs does.",
        fix=f"Do here what {hidden.unit} does with `{row.node.attr}`.",
    )
