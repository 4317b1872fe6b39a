"""Finds the optional hooks that runner code asks its model for.

Comes in: functions and calls. Goes out: the names of hooks, each with the call. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from runner_sync.profile.vllm import MODEL
from runner_sync.syntax import Function, calls_in
from runner_sync.verify.runners.reading import constant_text, dotted


def find_model_hooks(function: ast.AST, asking: Mapping[str, int]) -> Iterator[tuple[str, ast.Call]]:
    """Yield the optional model hooks that a function asks for, each with the call.

    A call asks by ``hasattr(self.model, "x")``, by ``getattr(self.model, "x", …)``, or by passing the name to an
    ``asking`` function.
    """
    for call in calls_in(function):
        at = find_hook_argument(call, asking)
        if at is not None and (name := constant_text(call.args[at])):
            yield name, call


def find_asking_functions(functions: Iterable[Function]) -> dict[str, int]:
    """Return functions that ask the model for a hook named by a parameter, with the parameter's position in calls.

    They ask by ``hasattr``, by ``getattr`` or through another such function.
    """
    found: dict[str, int] = {}
    # Each round looks at all functions again.
    known = [(function, calls_in(function)) for function in functions]
    while more := {
        f.name: at
        for f, calls in known
        if f.name not in found and (at := _find_hook_parameter(f, calls, found)) is not None
    }:
        found |= more
    return found


def _find_hook_parameter(function: Function, calls: Iterable[ast.Call], asking: Mapping[str, int]) -> int | None:
    """Return the position, without ``self``, of the parameter that names the asked-for hook; else ``None``."""
    names = [parameter.arg for parameter in function.args.args]
    passed = names[1:] if names[:1] in (["self"], ["cls"]) else names
    for call in calls:
        at = find_hook_argument(call, asking)
        name = dotted(call.args[at]) if at is not None else ""
        if name in passed:
            return passed.index(name)
    return None


def find_hook_argument(call: ast.Call, asking: Mapping[str, int]) -> int | None:
    """Return the position of the argument that names a hook in a call that asks the model; ``None`` for other calls."""
    name = dotted(call.func)
    if name in ("hasattr", "getattr"):
        return 1 if len(call.args) >= 2 and _is_model(call.args[0]) else None
    at = asking.get(name.removeprefix("self."))
    return at if at is not None and at < len(call.args) else None


_LOCAL = MODEL.rpartition(".")[2]
MODEL_NAMES = (_LOCAL, MODEL)
"""What code calls the model: an attribute of the runner, or a local variable of that name."""


def _is_model(node: ast.expr) -> bool:
    """Whether ``node`` is ``self.model``, ``model``, or ``getattr(self, "model", …)``."""
    if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) >= 2:
        return dotted(node.args[0]) == "self" and constant_text(node.args[1]) == _LOCAL
    return dotted(node) in MODEL_NAMES
