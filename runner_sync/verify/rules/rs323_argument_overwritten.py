"""RS323 argument-overwritten: a function overwrites what a call gives it, for an argument that is new and that the
call leaves out.

What: a call gives a value for a parameter that the function read in the old target. In the new one each way through
the function sets the name anew before anything reads it, and there are optional parameters that the old one had not;
vllm-ascend's own method, which the override hides, passes them, and the override does not.

Example: `self._pad_query_start_loc_for_fia(num_tokens_padded, num_reqs_padded, num_reqs)` since vllm-ascend 0.17: what
`num_reqs_padded` is comes from `batch_desc_num_reqs` there, `None` by default, and the value that is passed is lost.

Why: the call fits, and nothing raises. Requests of a padded batch were one more than there are, and not as many as the
graph was captured for, in the runners of 0.16.0; those of 0.18.0 pass both new arguments.

Fix: pass what the hidden method passes.

Leaves alone: new parameters that the hidden method does not pass in each of its calls; names that a function reads
first, or sets under a condition without another branch; parameters that are not read at all any more; calls with
`*args` or `**kwargs`; calls that expect to fail.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify.trees.left_out import LeftOut, left_out
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS323"
NAME = "argument-overwritten"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Calls in overrides of ``module`` whose values are lost since ``old``."""
    return (_make_finding(row, name) for row in left_out(program, module, old) if (name := row.overwritten()))


def _make_finding(row: LeftOut, name: str) -> Finding:
    hidden, callee = row.hidden, row.now[0]
    told = " and ".join(f"`{one}`" for one in row.names)
    return row.frame.finding(
        CODE,
        SEVERITY,
        row.call,
        symbol=f"{callee.name}({name})",
        message=f"`{callee.name}` ({callee.place}) overwrites `{name}` before it reads it now: {hidden.unit} "
        f"({hidden.module.path}:{row.theirs[0].lineno}) passes the new {told}.",
        fix=f"Pass {told} as {hidden.unit} does.",
    )
