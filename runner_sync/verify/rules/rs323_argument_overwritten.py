"""RS323 argument-overwritten: a function overwrites what a call gives it, for an argument that is new and that the call
leaves out.

What: a call passes a value for a parameter that the function read in the old target. In the new one every path through
the function assigns the name before it reads it, and there are new optional parameters. The vllm-ascend method that the
override hides passes them, and the override does not.

Example: `self._pad_query_start_loc_for_fia(num_tokens_padded, num_reqs_padded, num_reqs)` since vllm-ascend 0.17: the
function takes `num_reqs_padded` from `batch_desc_num_reqs`, `None` by default, and loses the value that is passed.

Why: the call fits, and nothing raises. In the runners of 0.16.0 a padded batch had one request too many, not the number
for which the graph was captured; those of 0.18.0 pass both new arguments.

Fix: pass what the hidden method passes.

Leaves alone: new parameters that the hidden method does not pass in each of its calls; names that a function reads
first, or assigns under a condition without another branch; parameters that the function no longer reads at all; calls
with `*args` or `**kwargs`; calls that expect to fail.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify.trees.left_out import LeftOut, find_left_out
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS323"
NAME = "argument-overwritten"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield calls in overrides of ``module`` whose values are lost since ``old``."""
    return (_make_finding(row, name) for row in find_left_out(program, module, old) if (name := row.overwritten()))


def _make_finding(row: LeftOut, name: str) -> Finding:
    hidden, callee = row.hidden, row.now[0]
    names = " and ".join(f"`{one}`" for one in row.names)
    return row.frame.finding(
        (CODE, SEVERITY),
        row.call,
        symbol=f"{callee.name}({name})",
        message=f"{callee.label} overwrites `{name}` before it reads it now: "
        f"{hidden.label_at(row.hidden_calls[0])} passes the new {names}.",
        fix=f"Pass {names} as {hidden.unit} does.",
    )
