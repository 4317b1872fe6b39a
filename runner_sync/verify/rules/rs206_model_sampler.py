"""RS206 model-sampler: a `prefer_model_sampler` hook asks the model too early, or keeps the platform's sampler out.

What: an NPU method that asks a model's own `sample` must meet two conditions. (1) `update_async_output_token_ids()`
runs before the model is asked. (2) When the model declines, or has no sampler, the call goes on to
`super()._sample(…)`, never straight to `self.sampler(…)`.

Example:

    if getattr(self.model, "prefer_model_sampler", False):
        sampler_output = self.model.sample(logits, self._sampling_metadata_for_model_sampler(metadata))
        self.input_batch.update_async_output_token_ids()        # too late: the model saw -1 for the last token
        if sampler_output is not None:
            return sampler_output
    return self.sampler(logits=logits, sampling_metadata=metadata)   # skips vllm-ascend's _sample

Why: under async scheduling the token history holds `-1` until that call, so a model whose forced tag depends on the
history never emits it. vllm-ascend's `_sample` cuts the logits to the real requests under `lmhead_tp_enable()`; a hook
that calls the sampler itself samples padding rows.

Fix: call `self.input_batch.update_async_output_token_ids()` first, and end the hook with `return
super()._sample(logits, spec_decode_metadata)`.

Leaves alone: the fall-through of runners that follow vLLM itself (its `_sample` only calls the sampler), methods that
do not mention `prefer_model_sampler`, samplers called after `super()` was tried.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.profile import SamplerHook
from runner_sync.statements.parents import parents_called
from runner_sync.syntax import Function, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.hygiene import iter_functions
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading, constant_text, dotted

CODE = "RS206"
NAME = "model-sampler"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield at most two findings per hook, or one where vLLM is followed: its `_sample` only calls the sampler."""
    npu, hook = subject.npu, subject.profile.sampler_hook
    if hook.flag not in npu.text:
        return
    for function in iter_functions(npu):
        if hook.flag in npu.text_of(function):
            model_call = _find_model_call(function, hook)
            if model_call is not None:
                yield from _check_history(npu, function, model_call, hook=hook)
                if subject.profile.followed != "vllm":
                    yield from _check_fall_through(npu, function, hook)


def _find_model_call(function: Function, hook: SamplerHook) -> ast.Call | None:
    """Return the call that runs the model's sampler, directly or through a helper that gets it as an argument."""
    holders = {f"self.model.{hook.asks}", f"model.{hook.asks}"}
    for node in walk(function):
        value = node.value if isinstance(node, ast.Assign) else None
        is_lookup = isinstance(value, ast.Call) and dotted(value.func) == "getattr"
        if isinstance(node, ast.Assign) and isinstance(value, ast.Call) and is_lookup:
            holders.update(dotted(node.targets[0]) for name in value.args[1:2] if constant_text(name) == hook.asks)
    found = [
        node
        for node in walk(function)
        if isinstance(node, ast.Call)
        and dotted(node.func) != "callable"
        and any(dotted(part) in holders for part in (node.func, *node.args))
    ]
    return min(found, key=lambda call: call.lineno, default=None)


def _check_history(npu: Reading, function: Function, model_call: ast.Call, *, hook: SamplerHook) -> Iterator[Hit]:
    updates = [n for n in walk(function) if isinstance(n, ast.Call) and dotted(n.func).endswith(hook.update)]
    if any(call.lineno < model_call.lineno for call in updates):
        return
    late = f"runs only at line {updates[0].lineno}" if updates else "never runs here"
    yield npu.hit(
        (CODE, SEVERITY),
        model_call,
        symbol=hook.update,
        message=f"The model samples before the token history is real: `{hook.update}()` {late}, so the model sees -1.",
        fix=f"Call `{hook.history}` before the model is asked.",
    )


def _check_fall_through(npu: Reading, function: Function, hook: SamplerHook) -> Iterator[Hit]:
    results = _find_result_locals(function, hook)
    for node in walk(function):
        value = node.value if isinstance(node, ast.Return) else None
        if (isinstance(value, ast.Name) and value.id in results) or _is_sampler_call(value, hook):
            yield npu.hit(
                (CODE, SEVERITY),
                node,
                symbol=hook.sampler,
                message="When the model declines, this calls the sampler itself and skips vllm-ascend's "
                f"`{hook.method}`, which cuts padded logits under LM head parallelism.",
                fix=f"Fall through to `return super().{hook.method}(…)` instead.",
            )
            return


def _find_result_locals(function: Function, hook: SamplerHook) -> set[str]:
    """Return the locals that hold the sampler's result; none where the parent's method is asked first."""
    made = [node for node in walk(function) if isinstance(node, ast.Assign)]
    kept = {dotted(target) for node in made if _is_sampler_call(node.value, hook) for target in node.targets}
    return kept - {dotted(t) for node in made if parents_called(node.value, hook.method) for t in node.targets}


def _is_sampler_call(value: ast.AST | None, hook: SamplerHook) -> bool:
    return isinstance(value, ast.Call) and dotted(value.func) == hook.sampler
