"""Which calls of a frame cannot bind.

Comes in: a `Program` and a module of it. Goes out: calls, each with the callee that it does not fit and why. May touch:
nothing.

``**options`` counts as the keywords in the dictionary if that is made in the same function and used nowhere else. A
dictionary from elsewhere may supply any missing parameter, except one required only since the old tree, which the code
that filled the dictionary did not know.

A call on an object of one of several classes must fit at least one of them. If all of them accepted it in the old tree,
it must still fit all, unless a condition around the call may choose among them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from runner_sync import signatures
from runner_sync.signatures import Arguments, Misfit
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.aliases import resolve_alias
from runner_sync.verify.trees.calling.asked import is_guarded_by_signature_test
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.replacing import find_lost_fields
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import find_asserted
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values.guards import is_chosen


@dataclass(frozen=True, slots=True)
class Unfitting:
    """A call in its frame, its callee, and why it does not bind.

    ``missing`` is the only required parameter that the call leaves out, if the misfit is its only unknown keyword.
    """

    frame: Frame
    call: ast.Call
    callee: Callee
    misfit: Misfit
    missing: str = ""


def find_misfits(program: Program, module: Module, old: Program | None, *, keywords: bool) -> Iterator[Unfitting]:
    """Yield the unguarded calls in ``module`` that cannot bind.

    With ``keywords`` only calls with an unknown keyword, without it calls that fail for any other reason. A call with
    one unknown keyword that leaves out one parameter is in the first group only: the parameter may have a new name.
    """
    for frame in program.frames(module):
        step = step_of(program, frame, old)
        for node in frame.nodes():
            call = resolve_alias(frame, node) if isinstance(node, ast.Call) else None
            if call is None or (keywords and not call.keywords) or frame.is_guarded(node, CALL_ERRORS):
                continue
            lost = find_lost_fields(step, call) if step is not None and keywords else ()
            found = [*_find_misfits(program, frame, call, step, at=node), *lost]
            missing = _find_missing_beside_unknown(found)
            for callee, misfit in found:
                is_meant = (misfit.kind == "unknown keyword") == keywords and (keywords or not missing)
                if is_meant and not is_guarded_by_signature_test(frame, node, misfit, function=call.func):
                    yield Unfitting(frame, call, callee, misfit, missing)


def _find_missing_beside_unknown(found: Sequence[tuple[Callee, Misfit]]) -> str:
    """Return the one parameter that a call leaves out if one unknown keyword is all else that does not fit."""
    kinds = {misfit.kind: (callee, misfit) for callee, misfit in found}
    if len(found) != 2 or kinds.keys() != {"unknown keyword", "missing"}:
        return ""
    callee, misfit = kinds["missing"]
    # A default that the function itself refuses is no new name.
    is_refused = callee.function is not None and misfit.name in find_asserted(callee.function)
    return "" if is_refused else misfit.name


def _find_misfits(
    program: Program, frame: Frame, call: ast.Call, step: Step | None, *, at: ast.AST
) -> list[tuple[Callee, Misfit]]:
    """Return why ``call`` fits no member of one of its callee groups, or no longer fits every class.

    Empty if it may fit. ``at`` is the node as written, which may call an alias.
    """
    arguments = signatures.of_call(call, frame.function)
    is_open = arguments.open_keyword and at is call
    old_parameters = _find_old_parameters(step.reached_before(call)) if step is not None and is_open else None
    groups = program.callees(frame, call)
    for group in groups:
        found = [(callee, _find_reasons(callee, arguments, old_parameters)) for callee in group]
        if found and all(misfit for _, misfit in found):
            # The first definition speaks for a patched or conditional group.
            callee, reasons = found[0]
            return [(callee, reason) for reason in reasons]
    was = step.reached_before(call) if step is not None and any(len(group) > 1 for group in groups) else []
    accepting = _find_accepting_classes(was, arguments)
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    for callees in _group_by_class(groups) if accepting and not is_chosen(frame.function, at, receiver) else ():
        misfits = [signatures.misfits(callee.signature, arguments) for callee in callees]
        if all(misfits) and _class_of(callees[0]) in accepting:
            return [(callees[0], reason) for reason in misfits[0]]
    return []


def _find_accepting_classes(was: Sequence[Callee], arguments: Arguments) -> frozenset[tuple[str, str]]:
    """Return the classes whose methods a call could reach in the old tree; empty unless all of them accepted it."""
    if any(signatures.misfits(callee.signature, arguments) for callee in was):
        return frozenset()
    return frozenset(_class_of(callee) for callee in was if callee.info is not None)


def _group_by_class(groups: list[list[Callee]]) -> list[list[Callee]]:
    """Return the callees grouped by class: a class may define the method more than once, or have it patched."""
    found: dict[tuple[str, str], list[Callee]] = {}
    for callee in (callee for group in groups for callee in group):
        found.setdefault(_class_of(callee), []).append(callee)
    return list(found.values())


def _class_of(callee: Callee) -> tuple[str, str]:
    return callee.module.name, callee.info.name if callee.info is not None else ""


def _find_reasons(callee: Callee, arguments: Arguments, old_parameters: frozenset[str] | None) -> list[Misfit]:
    """Return why a call does not bind.

    A missing parameter that ``**options`` of unknown content may supply counts only if it is not in ``old_parameters``.
    """
    found = signatures.misfits(callee.signature, arguments)
    if old_parameters is None or not arguments.keywords:
        return found
    closed = signatures.misfits(callee.signature, replace(arguments, open_keyword=False))
    return found + [one for one in closed if one.kind == "missing" and one.name not in old_parameters]


def _find_old_parameters(was: Sequence[Callee]) -> frozenset[str] | None:
    """Return the parameters that the callees of a call had in the old tree, or ``None`` if these are unknown."""
    return frozenset(name for callee in was for name in callee.signature.names) if was else None
