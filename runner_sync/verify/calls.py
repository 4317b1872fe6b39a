"""Which calls of a frame cannot bind.

Comes in: a `Program` and a module of it. Goes out: calls, each with the callee that it misses and why. May touch:
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync import signatures
from runner_sync.signatures import Misfit
from runner_sync.verify.frames import Frame
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Callee, Program


@dataclass(frozen=True, slots=True)
class Unfitting:
    """A call in its frame, what it calls, and why it does not bind."""

    frame: Frame
    call: ast.Call
    callee: Callee
    misfit: Misfit


def unfitting(program: Program, module: Module, *, keywords: bool) -> Iterator[Unfitting]:
    """The unguarded calls in ``module`` that cannot bind: for an unknown keyword with ``keywords``, else for any other
    reason."""
    for frame in program.frames(module):
        for node in frame.nodes():
            if not isinstance(node, ast.Call) or (keywords and not node.keywords) or frame.is_guarded(node, calls=True):
                continue
            for callee, misfit in _misfits(program, frame, node):
                if (misfit.kind == "unknown keyword") == keywords:
                    yield Unfitting(frame, node, callee, misfit)


def _misfits(program: Program, frame: Frame, call: ast.Call) -> list[tuple[Callee, Misfit]]:
    """Why ``call`` fits no member of one of its callee groups; empty when it fits or is unknown."""
    arguments = signatures.of_call(call)
    for group in program.callees(frame, call):
        found = [(callee, signatures.misfits(callee.signature, arguments)) for callee in group]
        if found and all(misfit for _, misfit in found):
            # Patched or conditional: the first definition speaks for the group.
            callee, reasons = found[0]
            return [(callee, reason) for reason in reasons]
    return []
