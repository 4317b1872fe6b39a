"""RS326 default-changed: a call leaves out an argument whose default changed, and which upstream passes now.

What: a parameter of an upstream function has another default than in the old target. A call in an override leaves the
parameter out, as the vllm-ascend or vLLM method that it hides did before. In the new target the hidden method passes it
in each of its calls of that function.

Example: `set_ascend_forward_context(…, skip_compiled=False)` becomes `skip_compiled=True` by default, and the
`_dummy_run` of vllm-ascend passes `skip_compiled=False` from then on. A copy of the old method leaves it out.

Why: the call fits, and nothing raises. The copy silently runs with the other value, here without compiled code.

Fix: pass what the hidden method passes.

Leaves alone: a default that upstream's own method takes, too, or passes; arguments that it passed before; defaults that
were only respelt in the same words; functions of omni's; calls with `*args` or `**kwargs`; calls that expect to fail.
Needs the old trees.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify.trees.left_out import OtherDefault, find_other_defaults
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS326"
NAME = "default-changed"
SEVERITY: Severity = "warning"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield calls in overrides of ``module`` that get another default than in ``old``."""
    return (_make_finding(row) for row in find_other_defaults(program, module, old))


def _make_finding(row: OtherDefault) -> Finding:
    return row.frame.finding(
        (CODE, SEVERITY),
        row.call,
        symbol=f"{row.callee.name}({row.name})",
        message=f"{row.callee.label} takes `{row.now}` for `{row.name}` where it took `{row.was}`: this call leaves it "
        f"out, and {row.hidden.label_at(row.hidden_call)} passes it now.",
        fix=f"Pass `{row.name}` as {row.hidden.unit} does.",
    )
