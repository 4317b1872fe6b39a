"""RS325 default-dereferenced: a call leaves out an argument that is new, and what it calls takes `None` for an object.

What: a function of the target has a new parameter, `None` by default. Upstream's own method, which the override hides,
passes it in each of its calls, and the override does not. The function, or one to which it passes the parameter, reads
an attribute or an item of it, or calls it, and never tests for `None`.

Example: `self.propose_draft_token_ids(..., batch_desc)` of vllm-ascend 0.18.0rc1, whose `target_model_batch_desc` is
`None` by default. It passes that to the drafter, which reads `target_model_batch_desc.uniform`.

Why: the call fits, and the first use of the value raises an `AttributeError` or a `TypeError`. The runners of 0.18.0
and 0.20.0rc1 fail so with EAGLE drafters, those of 0.20.0 pass the descriptor.

Fix: pass what the hidden method passes.

Leaves alone: parameters that a function compares, copies, assigns or tests in any way, also in the function that passed
them on; code that depends on another argument which the call leaves out or gives as a constant; arguments that the
hidden method does not pass in each of its calls, or passes as `None`; unknown functions, and constructors; calls with
`*args` or `**kwargs`; calls that expect to fail; whatever RS323 reports.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.syntax import is_none
from runner_sync.verify.trees.functions import find_none_defaults
from runner_sync.verify.trees.left_out import LeftOut, find_left_out
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.dereferenced import Dereference, find_dereference, is_expected

CODE = "RS325"
NAME = "default-dereferenced"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield calls in overrides of ``module`` without an argument that is new since ``old`` and cannot be ``None``."""
    for row in find_left_out(program, module, old):
        if not row.overwritten() and not is_expected(row.frame, row.call):
            for name in (name for name in row.names if _is_never_none(row, name)):
                use = find_dereference(program, row.now, row.call, name)
                if use is not None:
                    yield _make_finding(row, name, use)


def _is_never_none(row: LeftOut, name: str) -> bool:
    """Whether a parameter is ``None`` by default, and the hidden method passes something else."""
    functions = [callee.function for callee in row.now]
    is_default = all(function is not None and name in find_none_defaults(function) for function in functions)
    given = [row.now[0].placed(call)[name] for call in row.hidden_calls]
    return is_default and not any(is_none(value) for value in given)


def _make_finding(row: LeftOut, name: str, use: Dereference) -> Finding:
    hidden, callee = row.hidden, row.now[0]
    return row.frame.finding(
        (CODE, SEVERITY),
        row.call,
        symbol=f"{callee.name}({name})",
        message=f"{callee.label} takes `{name}` now, which this call leaves out and "
        f"{hidden.label_at(row.hidden_calls[0])} passes: {use.place} {use.what} a value that is `None` then.",
        fix=f"Pass `{name}` as {hidden.unit} does.",
    )
