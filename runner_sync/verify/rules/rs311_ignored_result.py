"""RS311 ignored-result: a call drops a value that the target newly returns.

What: a call as a statement of its own where the callee returned nothing in the old target and always returns a
value in the new one.

Example: `self._update_states(scheduler_output)` after vLLM made it return a callback that must be run later.

Why: nothing raises; the deferred work just never happens. Only the old tree tells it from a value that never
mattered.

Fix: look at what the target's own caller does with the value.

Leaves alone: everything without an old tree; callees that return a value only sometimes; generators and coroutines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify import returns
from runner_sync.verify.frames import Frame
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Callee, Program

CODE = "RS311"
NAME = "ignored-result"
SEVERITY: Severity = "warning"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Bare calls whose callee began to return a value since ``old``."""
    for frame in program.frames(module):
        before = old.twin(frame) if old is not None else None
        if old is None or before is None:
            continue
        for node in frame.nodes():
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                callee = _newly_returns(program, frame, node.value, old=old, before=before)
                if callee is not None:
                    yield _finding(frame, node, callee)


def _newly_returns(program: Program, frame: Frame, call: ast.Call, *, old: Program, before: Frame) -> Callee | None:
    new = [callee for group in program.callees(frame, call) for callee in group]
    was = [callee for group in old.callees(before, call) for callee in group]
    if not new or not was or not all(_value(c) is True for c in new) or not all(_value(c) is False for c in was):
        return None
    return new[0]


def _value(callee: Callee) -> bool | None:
    return returns.returns_value(callee.function) if callee.function is not None else None


def _finding(frame: Frame, node: ast.Expr, callee: Callee) -> Finding:
    return frame.finding(
        CODE,
        SEVERITY,
        node,
        symbol=callee.name,
        message=f"`{callee.name}` ({callee.place}) now returns a value, which this call drops.",
        fix="Use the value as the target's own caller does.",
    )
