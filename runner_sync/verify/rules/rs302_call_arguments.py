"""RS302 call-arguments: a call passes too many positional arguments, or leaves out one that the target requires.

What: a call of a function, constructor, `self.method(...)`, `super().method(...)` or `Base.method(self, ...)` whose
arguments fit no definition that it can reach in the target; a keyword-only parameter passed by position, or the
reverse, counts. Methods are looked up through the real MRO (omni GPU → vllm-ascend → vLLM), so the rule finds a call
that fits vLLM but not vllm-ascend's override. For a module's `f = lambda …` and `f = Class()` its parameters and those
of `Class.__call__` count. Constructors are checked behind an `__init__` that only passes its arguments on, methods
behind an override that does (`super().m(*args, **kwargs)`), and a class that a class body names
(`self.model_runner_cls(...)`). If an object may have one of several classes (`self.drafter`), then with the old trees
one class that no longer accepts the call is enough, unless a condition may choose the class. A parameter with the
default `None` is required if the function asserts that it is given, or raises without it. With the old trees also a
`TypedDict` that is called without a key which it newly requires, and a local function or lambda that is passed to a
function which newly calls it with other arguments.

Example: `NPUModelRunner._update_states_after_model_execute(self, output)` after the target added a required parameter.

Why: a `TypeError` at the first request, often only in one mode (speculative decoding, a profile run). Arity and
keywords are behind 18 of the 156 recorded breakages, imported functions and constructors behind 9 more.

Fix: pass what the target's signature asks for; `runner-sync upgrade` takes the new call from vllm-ascend's own body.

Leaves alone: calls whose `*args`/`**kwargs` may supply what is missing (a dictionary built for the call in the same
function counts as its visible content), callables that cannot be resolved, functions under a decorator without a
visible wrapper (of a visible wrapper its parameters count, and those of the function that it passes on and does not
fill), attributes that are assigned instead of defined, a `TypedDict` in a module that sets the key itself. RS306
reports keywords, and with the only unknown one the only parameter that is left out: it may be the new name.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.model import Finding, Severity
from runner_sync.signatures import join_quoted
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.callbacks import find_unfitting_callbacks
from runner_sync.verify.trees.calling.calls import Unfitting, find_misfits
from runner_sync.verify.trees.functions import find_asserted
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps
from runner_sync.verify.trees.values.typed_dicts import required_keys_of

CODE = "RS302"
NAME = "call-arguments"
SEVERITY: Severity = "error"

_REFUSED = ": it refuses the default `None`"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield calls in ``module`` whose arguments no reachable definition accepts."""
    misfits = find_misfits(program, module, old, keywords=False)
    for _, group in itertools.groupby(misfits, key=_describe_group):
        yield _make_finding(list(group))
    for step in steps(program, module, old):
        for node in step.frame.nodes():
            if isinstance(node, ast.Call) and not step.frame.is_guarded(node, CALL_ERRORS):
                yield from _check_keys(step, node)
                yield from _check_callbacks(step, node)


def _describe_group(found: Unfitting) -> tuple[object, ...]:
    """Return what misfits that make one finding agree in: the parameters that a call leaves out make one."""
    return found.call, found.misfit.kind == "missing" or found.misfit, _is_none_refused(found)


def _is_none_refused(found: Unfitting) -> bool:
    return found.callee.function is not None and found.misfit.name in find_asserted(found.callee.function)


def _make_finding(group: Sequence[Unfitting]) -> Finding:
    found, callee = group[0], group[0].callee
    names = [one.misfit.name for one in group]
    text = found.misfit.text if len(names) == 1 else f"requires {join_quoted(names)}, which are not given"
    return found.frame.finding(
        (CODE, SEVERITY),
        found.call,
        symbol=f"{callee.name}({', '.join(names)})",
        message=f"{callee.label} {text}{_REFUSED if _is_none_refused(found) else ''}.",
        fix=f"Call `{callee.name}` as {callee.place} declares it.",
    )


def _check_callbacks(step: Step, call: ast.Call) -> Iterator[Finding]:
    """Yield a finding for each local function that a callee newly calls with arguments which it does not accept."""
    for found in find_unfitting_callbacks(step, call):
        what = f"`{ast.unparse(found.value)}`" if isinstance(found.value, ast.Name) else "This function"
        yield step.frame.finding(
            (CODE, SEVERITY),
            found.value,
            symbol=f"{found.callee.name}({found.parameter}=)",
            message=f"{what} {found.misfit.text}, and `{found.callee.name}` calls it so ({found.place}).",
            fix=f"Give it the parameters with which {found.place} calls it.",
        )


def _check_keys(step: Step, call: ast.Call) -> Iterator[Finding]:
    """Yield a finding for a call of a `TypedDict` without a newly required key; the call itself does not fail."""
    made = step.program.named_classes(step.frame, call.func)
    if len(made) != 1 or call.args or any(keyword.arg is None for keyword in call.keywords):
        return
    required = required_keys_of(step.program.classes, made[0].info)
    was = [i.info for i in step.old.named_classes(step.before, call.func)] if required else []
    before = required_keys_of(step.old.classes, was[0]) if len(was) == 1 else None
    if required is None or before is None:
        return
    for key in sorted(required - before - {keyword.arg for keyword in call.keywords}):
        # timid: a key that the module sets anywhere may be set on this dictionary.
        if f'["{key}"] =' not in step.frame.module.text and f"['{key}'] =" not in step.frame.module.text:
            name, place = made[0].info.name, made[0].info.place
            yield step.frame.finding(
                (CODE, SEVERITY),
                call,
                symbol=f"{name}({key})",
                message=f"`{name}` ({place}) requires the key `{key}` now, which is not given.",
                fix=f"Call `{name}` as {place} declares it.",
            )
