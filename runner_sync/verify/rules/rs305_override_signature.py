"""RS305 override-signature: inherited code calls an NPU override in a way that only the overridden method accepts.

What: a method of an NPU runner or worker that hides one of vllm-ascend, the omni GPU runner or vLLM, where a call from
inherited code fits the hidden method and does not fit the override. Such a call is `self.m(...)` in any method of the
MRO that can still run, `partial(self.m, ...)` and a call of the partial, `self.model_runner.m(...)` in the worker, or
any of these in a function to which such a method passes `self` or its runner. Methods of the omni GPU runner in that
MRO count, too, where vllm-ascend makes the call or has the hidden method. With the old trees also an override that asks
its `*args, **kwargs` for an argument which the hidden method had before, and has no more: by name
(`kwargs.get("mode")`), or by a number that is another parameter's now (`args[1]`).

Example: vllm-ascend's worker calls `self.model_runner.initialize_kv_cache(config, kv_cache_allocation_context=...)`;
omni's override still has the signature `(self, kv_cache_config)`. vLLM 0.27's `flashinfer_autotune(runner)` runs
`runner._dummy_run(**options)`, with a new `randomize_inputs`.

Why: a `TypeError` from code that nobody in omni wrote or reads. 10 of the 156 recorded breakages; a check against vLLM
alone misses those that come from vllm-ascend.

Fix: give the override the target's parameters and pass them on to `super()`.

Leaves alone: calls that do not fit the hidden method either (they are not meant for it, or never run), overrides with
`*args, **kwargs`, parameters that no caller passes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync import signatures
from runner_sync.model import Finding, Severity
from runner_sync.verify.trees.calling.asked_arguments import LostArgument, find_lost_arguments
from runner_sync.verify.trees.calling.by_name import NamedCall, find_named_calls
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.handed import find_handed_calls
from runner_sync.verify.trees.calling.virtual import VirtualCall, find_hidden_by, find_virtual_calls
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import steps

CODE = "RS305"
NAME = "override-signature"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield overrides in ``module`` that a call from inherited code no longer fits.

    In inherited omni code, only where vllm-ascend has a part: the GPU runners' own rebase finds the others.
    """
    for info in program.own_classes(module):
        for name in info.methods:
            for mro in program.mros(info):
                yield from _check(program, info, mro, name=name)
    for step in steps(program, module, old) if module in program.checked else ():
        for lost in find_lost_arguments(step):
            yield _make_lost_finding(step.frame, lost)


def _check(program: Program, info: ClassInfo, mro: Mro, *, name: str) -> Iterator[Finding]:
    own = [c for c in program.method(mro, name) if c.info is info]
    if not own:
        return
    for call in _find_calls(program, mro, own):
        arguments = call.arguments
        reasons = [signatures.misfits(callee.signature, arguments) for callee in own]
        hidden = find_hidden_by(program, mro, own[0], from_omni=call.project == "vllm-omni") if all(reasons) else []
        projects = {call.project, *(callee.module.project for callee in hidden)}
        if info.module not in program.checked and "vllm-ascend" not in projects:
            continue
        if any(not signatures.misfits(callee.signature, arguments) for callee in hidden):
            yield _make_finding(program, info, own[0], hidden=hidden[0], place=call.place, reason=reasons[0][0])


def _find_calls(program: Program, mro: Mro, own: list[Callee]) -> Iterator[VirtualCall | NamedCall]:
    """Yield the calls of a method in unchecked code."""
    yield from find_virtual_calls(program, mro, own[0].name)
    hidden = find_hidden_by(program, mro, own[0], from_omni=False)
    # An override that accepts everything the overridden method accepts fits every call meant for it.
    if any(not signatures.accepts(one.signature, other.signature) for one in own for other in hidden):
        yield from find_named_calls(program, own[0].name)
        yield from find_handed_calls(program, mro, own[0].name)


def _make_lost_finding(frame: Frame, lost: LostArgument) -> Finding:
    return frame.finding(
        (CODE, SEVERITY),
        lost.node,
        symbol=f"{lost.hidden.name}({lost.name})",
        message=f"`{ast.unparse(lost.node)}` was `{lost.name}`, which {lost.hidden.label} does not take there now.",
        fix=f"Ask for what {lost.hidden.place} takes now.",
    )


def _make_finding(
    program: Program, info: ClassInfo, own: Callee, *, hidden: Callee, place: str, reason: signatures.Misfit
) -> Finding:
    assert own.function is not None
    keyword = "=" if reason.kind == "unknown keyword" else ""
    return program.frame(info, own.function).finding(
        (CODE, SEVERITY),
        own.function,
        symbol=f"{own.name}({reason.name}{keyword})",
        message=f"This override {reason.text}, but {place} calls it that way, which {hidden.place} accepts.",
        fix=f"Give the override the parameters of {hidden.place} and pass them on.",
    )
