"""Finds the hooks of models that a GPU class asks for only on GPU, or only where another hook is there.

Comes in: a GPU class with its twin, names of hooks. Goes out: answers. May touch: what `without_gpu` touches.

For example, ``eager_output`` says nothing about a model without ``async_output``, whoever asks for it::

    def uses_async_output(self):
        if not getattr(self.model, "async_output", False):
            return False
        return not self.has_postprocess or getattr(self.model, "eager_output", False)

    def sample_tokens(self, output):
        if self.uses_async_output():
            self.postprocess_early(output)          # asks for ``eager_output``, too
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from runner_sync.syntax import walk
from runner_sync.verify.runners.callees import Scope
from runner_sync.verify.runners.model_hooks import find_model_hooks
from runner_sync.verify.runners.parity import Pair
from runner_sync.verify.runners.without_gpu import WithoutGpu


def is_asked_on_gpu_only(pair: Pair, hook: str) -> bool:
    """Whether no model answers to a hook without a GPU, or all code that asks for it never runs or gets a no."""
    without = pair.without_gpu
    if without.is_silent(hook) or _is_idle(pair, hook, without):
        return True
    asking = [(scope, call) for scope in _list_scopes(pair, hook) for call in _find_calls(pair, scope, hook)]
    return bool(asking) and all(without.is_false(scope, call) for scope, call in asking)


def find_gates(pair: Pair, hooks: Sequence[str]) -> dict[str, str]:
    """Map each of the hooks to another one without which nothing asks for it; to an empty text if there is none."""
    gates = dict.fromkeys(hooks, "")
    for hook in hooks:
        others = (one for one in hooks if one != hook and not gates[one])
        if hook not in gates.values():
            gates[hook] = next((one for one in others if _is_idle(pair, hook, pair.without_hooks(one))), "")
    return gates


def _is_idle(pair: Pair, hook: str, without: WithoutGpu) -> bool:
    """Whether all code that asks for a hook is dead, or stands in methods of which every mention is."""
    asking = [(scope, call) for scope in _list_scopes(pair, hook) for call in _find_calls(pair, scope, hook)]
    return bool(asking) and all(
        without.is_dead_at(scope, call) or _is_uncalled(pair, scope.function.name, without) for scope, call in asking
    )


def _is_uncalled(pair: Pair, method: str, without: WithoutGpu) -> bool:
    """Whether the live methods of the GPU class mention a method in dead code only."""
    found = [
        without.is_dead_at(scope, node)
        for scope in _list_scopes(pair, method)
        for node in walk(scope.function)
        if isinstance(node, ast.Attribute) and node.attr == method
    ]
    return bool(found) and all(found)


def _find_calls(pair: Pair, scope: Scope, hook: str) -> Iterator[ast.Call]:
    return (call for name, call in find_model_hooks(scope.function, pair.asking) if name == hook)


def _list_scopes(pair: Pair, word: str) -> list[Scope]:
    """Return the live methods of the GPU class that contain a word."""
    receivers = (pair.gpu, pair.npu)
    return [
        Scope(owner.reading, function, receivers)
        for owner, function in pair.gpu_mro.live()
        if word in owner.reading.text_of(function)
    ]
