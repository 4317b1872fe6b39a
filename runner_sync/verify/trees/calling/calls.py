"""Which calls of a frame cannot bind.

Comes in: a `Program` and a module of it. Goes out: calls, each with the callee that it does not fit and why. May touch:
nothing.

``**options`` counts as the keywords in the dictionary where that is made in the same function and used nowhere else. A
dictionary from elsewhere may supply any missing parameter, except one that the callee requires only since the old tree:
whoever filled the dictionary did not know of it.

A call on an object of one of several classes must fit at least one of them. Where all of them accepted it in the old
tree, it must still fit all, unless a condition around the call may choose among them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from runner_sync import signatures
from runner_sync.signatures import Arguments, Misfit
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.aliases import meant
from runner_sync.verify.trees.calling.asked import is_asked_for
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.guards import is_chosen


@dataclass(frozen=True, slots=True)
class Unfitting:
    """A call in its frame, what it calls, and why it does not bind."""

    frame: Frame
    call: ast.Call
    callee: Callee
    misfit: Misfit


def unfitting(program: Program, module: Module, old: Program | None = None, *, keywords: bool) -> Iterator[Unfitting]:
    """The unguarded calls in ``module`` that cannot bind: with ``keywords`` those with an unknown keyword, without it
    those that fail for any other reason."""
    for frame in program.frames(module):
        for node in frame.nodes():
            call = meant(frame, node) if isinstance(node, ast.Call) else None
            if call is None or (keywords and not call.keywords) or frame.is_guarded(node, CALL_ERRORS):
                continue
            for callee, misfit in _misfits(program, frame, call, old, at=node):
                is_meant = (misfit.kind == "unknown keyword") == keywords
                if is_meant and not is_asked_for(frame, node, misfit, function=call.func):
                    yield Unfitting(frame, call, callee, misfit)


def _misfits(
    program: Program, frame: Frame, call: ast.Call, old: Program | None, *, at: ast.AST
) -> list[tuple[Callee, Misfit]]:
    """Why ``call``, written as node ``at`` (an alias may stand there), fits no member of one of its callee groups, or
    no longer fits every class; empty when it may fit."""
    made = signatures.of_call(call, frame.function)
    required = _required_before(frame, call, old) if made.open_keyword and old is not None and at is call else None
    groups = program.callees(frame, call)
    for group in groups:
        found = [(callee, _reasons(callee, made, required)) for callee in group]
        if found and all(misfit for _, misfit in found):
            # Patched or conditional: the first definition speaks for the group.
            callee, reasons = found[0]
            return [(callee, reason) for reason in reasons]
    accepted = (
        _accepting(frame, call, made, old) if old is not None and any(len(g) > 1 for g in groups) else frozenset()
    )
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    for own in _by_class(groups) if accepted and not is_chosen(frame.function, at, receiver) else ():
        refused = [signatures.misfits(callee.signature, made) for callee in own]
        if all(refused) and _class_of(own[0]) in accepted:
            return [(own[0], reason) for reason in refused[0]]
    return []


def _accepting(frame: Frame, call: ast.Call, made: Arguments, old: Program) -> frozenset[tuple[str, str]]:
    """The classes whose methods a call could reach in the old tree; empty unless all of them accepted it."""
    before = old.twin(frame)
    was = [callee for group in old.callees(before, call) for callee in group] if before is not None else []
    if any(signatures.misfits(callee.signature, made) for callee in was):
        return frozenset()
    return frozenset(_class_of(callee) for callee in was if callee.info is not None)


def _by_class(groups: list[list[Callee]]) -> list[list[Callee]]:
    """The callees grouped by class: a class may define the method more than once, or have it patched."""
    found: dict[tuple[str, str], list[Callee]] = {}
    for callee in (callee for group in groups for callee in group):
        found.setdefault(_class_of(callee), []).append(callee)
    return list(found.values())


def _class_of(callee: Callee) -> tuple[str, str]:
    return callee.module.name, callee.info.name if callee.info is not None else ""


def _reasons(callee: Callee, made: Arguments, required: frozenset[str] | None) -> list[Misfit]:
    """Why a call does not bind. A parameter that ``**options`` of unknown content may supply counts as missing only if
    it is not in ``required``, the parameters that the callee had before."""
    found = signatures.misfits(callee.signature, made)
    if required is None or not made.keywords:
        return found
    closed = signatures.misfits(callee.signature, replace(made, open_keyword=False))
    return found + [one for one in closed if one.kind == "missing" and one.name not in required]


def _required_before(frame: Frame, call: ast.Call, old: Program) -> frozenset[str] | None:
    """The parameters that the callees of a call in the old tree had; ``None`` where they are not known."""
    before = old.twin(frame)
    groups = old.callees(before, call) if before is not None else []
    known = [callee.signature for group in groups for callee in group]
    return frozenset(name for one in known for name in (*one.positional, *one.keyword_only)) if known else None
