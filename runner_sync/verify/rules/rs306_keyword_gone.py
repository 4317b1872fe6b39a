"""RS306 keyword-gone: a call passes a keyword that the target no longer accepts.

What: `f(..., name=value)` where no definition of `f` that the call can reach in the target has a parameter `name`
or takes `**kwargs`.

Example: `set_ascend_forward_context(..., input_ids=input_ids)` after vllm-ascend dropped `input_ids`.

Why: accepted keywords of `set_ascend_forward_context`, `_build_attention_metadata` and the graph wrappers change
in almost every vllm-ascend release; a stale one is a `TypeError` in the first forward pass, on hardware.

Fix: drop or rename the keyword as the target's own call does.

Leaves alone: the same as RS302 (call-arguments).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify import calls
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Program

CODE = "RS306"
NAME = "keyword-gone"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Keywords in ``module`` that no reachable definition accepts, each at the keyword itself."""
    for frame in program.frames(module):
        for node in frame.nodes():
            if not isinstance(node, ast.Call) or not node.keywords or frame.is_guarded(node, calls=True):
                continue
            for callee, misfit in calls.misfits(program, frame, node):
                if misfit.kind != "unknown keyword":
                    continue
                value = next(k.value for k in node.keywords if k.arg == misfit.name)
                yield frame.finding(
                    CODE,
                    SEVERITY,
                    value,
                    symbol=f"{callee.name}({misfit.name}=)",
                    message=f"`{callee.name}` ({callee.place}) {misfit.text}.",
                    fix=f"Drop or rename `{misfit.name}=` as {callee.place} declares it.",
                )
