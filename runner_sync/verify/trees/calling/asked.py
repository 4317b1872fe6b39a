"""Calls that only run if the callee has been asked for the parameter: ``if "a" in signature(f).parameters: f(a=1)``.

Comes in: a call of a frame that does not bind, and why. Goes out: whether it can run. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.signatures import Misfit
from runner_sync.syntax import walk
from runner_sync.verify.expecting import find_after_yes, is_answered
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import nodes_of

_MOST_STEPS = 3
"""Names followed in a chain: ``known = signature(f).parameters``, ``has = "a" in known``."""


def is_guarded_by_signature_test(frame: Frame, node: ast.AST, misfit: Misfit, *, function: ast.expr) -> bool:
    """Whether ``node``, a call of ``function``, runs only under a condition that excludes the ``misfit``.

    It must show that the function has the unknown keyword, or lacks the missing parameter.
    """
    if misfit.kind not in ("unknown keyword", "missing") or f'"{misfit.name}"' not in _normalise_quotes(
        frame.module.text
    ):
        return False
    question = _Question(frame, ast.unparse(function), misfit.name, is_had=misfit.kind == "unknown keyword")
    return any(inner is node for part in find_after_yes(nodes_of(frame.function), question) for inner in walk(part))


def _normalise_quotes(text: str) -> str:
    return text.replace("'", '"')


class _Question:
    """Whether a condition asks a function for a parameter, by a quoted name beside the function's own name."""

    def __init__(self, frame: Frame, function: str, name: str, *, is_had: bool) -> None:
        self._frame = frame
        self._function = function
        self._name = name
        self._is_had = is_had
        self._names: set[str] = set()

    def __call__(self, part: ast.expr) -> bool | None:
        """Whether ``part``, if true, is the answer that the call needs; ``None`` for other questions."""
        if isinstance(part, ast.Name):
            return self._answer_for_name(part)
        nodes = walk(part)
        is_named = any(isinstance(node, ast.Constant) and node.value == self._name for node in nodes)
        if not is_named or not self._mentions(part):
            return None
        is_not = isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.NotIn | ast.NotEq)
        return self._is_had != is_not

    def _answer_for_name(self, name: ast.Name) -> bool | None:
        """Answer for a name by the values that it is set to, without values made from the name itself."""
        if name.id in self._names:
            return None
        self._names.add(name.id)
        values = list(self._find_values(name))
        answers = [by for by in (True, False) if values and all(is_answered(v, self, by=by) for v in values)]
        self._names.remove(name.id)
        return answers[0] if len(answers) == 1 else None

    def _mentions(self, part: ast.expr, steps: int = _MOST_STEPS) -> bool:
        """Whether an expression, or a value of a name in it, mentions the function."""
        nodes = [node for node in walk(part) if isinstance(node, ast.Name | ast.Attribute)]
        if any(ast.unparse(node) == self._function for node in nodes):
            return True
        names = [node for node in nodes if steps and isinstance(node, ast.Name)]
        return any(self._mentions(value, steps - 1) for name in names for value in self._find_values(name))

    def _find_values(self, name: ast.Name) -> Iterator[ast.expr]:
        """Yield the values that a name is set to, in the function or else in its module."""
        if name.id in self._frame.bound:
            yield from self._frame.values_of(name.id)
        else:
            found = self._frame.module.bindings.get(name.id, ())
            yield from (binding.value for binding in found if binding.value is not None)
