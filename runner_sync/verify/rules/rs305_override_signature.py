"""RS305 override-signature: inherited code calls an NPU override in a way that only the overridden method accepts.

What: a method of an NPU runner or worker that hides one of vllm-ascend, the omni GPU runner or vLLM, where a call
from inherited code (`self.m(...)` in any method of the MRO that can still run, `partial(self.m, ...)` and calls of
what that makes, or `self.model_runner.m(...)` in the worker) fits the hidden method and does not fit the override.

Example: vllm-ascend's worker calls `self.model_runner.initialize_kv_cache(config,
kv_cache_allocation_context=...)`; omni's override still has the signature `(self, kv_cache_config)`.

Why: a `TypeError` from code that nobody in omni wrote or reads. 10 of the 156 recorded breakages; checking
against vLLM alone misses those that come from vllm-ascend.

Fix: give the override the target's parameters and hand them on to `super()`.

Leaves alone: calls that the hidden method does not accept either (they are not meant for it, or never run),
overrides with `*args, **kwargs`, parameters that no caller passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runner_sync import signatures
from runner_sync.model import Finding, Severity
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.virtual import VirtualCall, hidden_by, virtual_calls
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS305"
NAME = "override-signature"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Overrides in ``module`` that a call from inherited code no longer fits."""
    for info in program.own_classes(module):
        for name in info.methods:
            for mro in program.mros(info):
                yield from _check(program, info, mro, name=name)


def _check(program: Program, info: ClassInfo, mro: Mro, *, name: str) -> Iterator[Finding]:
    own = [c for c in program.method(mro, name) if c.info is info]
    if not own:
        return
    for call in virtual_calls(program, mro, name):
        arguments = signatures.of_call(call.node)
        reasons = [signatures.misfits(callee.signature, arguments) for callee in own]
        hidden = hidden_by(program, mro, own[0], project=call.frame.module.project) if all(reasons) else []
        if any(not signatures.misfits(callee.signature, arguments) for callee in hidden):
            yield _finding(program, info, own[0], hidden=hidden[0], call=call, reason=reasons[0][0])


def _finding(
    program: Program, info: ClassInfo, own: Callee, *, hidden: Callee, call: VirtualCall, reason: signatures.Misfit
) -> Finding:
    assert own.function is not None
    keyword = "=" if reason.kind == "unknown keyword" else ""
    return program.frame(info, own.function).finding(
        CODE,
        SEVERITY,
        own.function,
        symbol=f"{own.name}({reason.name}{keyword})",
        message=f"This override {reason.text}, but {call.place} calls it so, as {hidden.place} accepts.",
        fix=f"Give the override the parameters of {hidden.place} and pass them on.",
    )
