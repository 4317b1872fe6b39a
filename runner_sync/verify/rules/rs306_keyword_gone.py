"""RS306 keyword-gone: a call passes a keyword that the target no longer accepts.

What: `f(..., name=value)` where no definition of `f` that the call can reach in the target has a parameter `name` or
takes `**kwargs`. A call that also leaves out one required parameter is one finding, because the parameter may only have
a new name. If an object may have one of several classes (`self.drafter`), then with the old trees one class that
no longer takes the keyword is enough, unless a condition may choose the class. With the old trees also
`dataclasses.replace(x, name=value)`: it calls the constructor of the class of `x`.

Example: `set_ascend_forward_context(..., input_ids=input_ids)` after vllm-ascend dropped `input_ids`.

Why: accepted keywords of `set_ascend_forward_context`, `_build_attention_metadata` and the graph wrappers change in
almost every vllm-ascend release; a stale one is a `TypeError` in the first forward pass, on hardware.

Fix: drop or rename the keyword as the target's own call does. If the keyword was a field, change omni's modules that
read the field, too; the finding names them.

Leaves alone: the same as RS302 (call-arguments).
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.listing import at_most
from runner_sync.model import Finding, Severity
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.calls import find_misfits
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS306"
NAME = "keyword-gone"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield keywords in ``module`` that no reachable definition accepts, each at the keyword itself."""
    for found in find_misfits(program, module, old, keywords=True):
        callee, misfit = found.callee, found.misfit
        fix = f"Drop or rename `{misfit.name}=` as {callee.place} declares it"
        text = misfit.text
        if found.missing:
            text += f", and requires `{found.missing}`, which is not given"
            fix = (
                f"Write `{found.missing}=` for `{misfit.name}=` if that is its new name, as {callee.place} declares it"
            )
        yield found.frame.finding(
            (CODE, SEVERITY),
            next((keyword.value for keyword in found.call.keywords if keyword.arg == misfit.name), found.call),
            symbol=f"{callee.name}({misfit.name}=)",
            message=f"{callee.label} {text}.",
            fix=f"{fix}{_name_readers(program, callee, misfit.name)}.",
        )


def _name_readers(program: Program, callee: Callee, name: str) -> str:
    """Name omni's modules that read the field which a constructor got; empty for other calls."""
    paths = program.world.surroundings.reading(name) if callee.function is None else []
    if not paths:
        return ""
    return f"; `.{name}` is read in {at_most(NAMED, paths)}"


NAMED = 3
"""The most modules that a fix names."""
