"""Which calls of a frame cannot bind.

Comes in: a `Program`, a `Frame` and a call in it. Goes out: (callee, misfit) pairs. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync import signatures
from runner_sync.signatures import Misfit
from runner_sync.verify.frames import Frame
from runner_sync.verify.program import Callee, Program


def misfits(program: Program, frame: Frame, call: ast.Call) -> list[tuple[Callee, Misfit]]:
    """Why ``call`` fits no member of one of its callee groups; empty when it fits or is unknown."""
    arguments = signatures.of_call(call)
    for group in program.callees(frame, call):
        found = [(callee, signatures.misfits(callee.signature, arguments)) for callee in group]
        if found and all(misfit for _, misfit in found):
            # Patched or conditional: the first definition speaks for the group.
            callee, reasons = found[0]
            return [(callee, reason) for reason in reasons]
    return []
