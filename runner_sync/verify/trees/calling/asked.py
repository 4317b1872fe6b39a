"""Calls that only run where the callee has been asked for the parameter: ``if "a" in signature(f).parameters: f(a=1)``.

Comes in: a call of a frame that does not bind, and why. Goes out: whether it can run. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.signatures import Misfit
from runner_sync.statements.assigning import assignments_of
from runner_sync.syntax import walk
from runner_sync.verify.expecting import holding, tells
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import nodes_of

_MOST_STEPS = 3
"""Names that are followed one after the other: ``known = signature(f).parameters``, ``has = "a" in known``."""


def is_asked_for(frame: Frame, node: ast.AST, misfit: Misfit, *, function: ast.expr) -> bool:
    """Whether ``node``, a call of ``function``, runs only where that has the keyword which it lacks, or lacks the
    parameter which it requires."""
    if misfit.kind not in ("unknown keyword", "missing") or f'"{misfit.name}"' not in _normal(frame.module.text):
        return False
    question = _Question(frame, ast.unparse(function), misfit.name, is_had=misfit.kind == "unknown keyword")
    return any(inner is node for part in holding(nodes_of(frame.function), question) for inner in walk(part))


def _normal(text: str) -> str:
    return text.replace("'", '"')


class _Question:
    """Whether a condition asks a function for a parameter, by the name in quotes beside the function's own."""

    def __init__(self, frame: Frame, function: str, name: str, *, is_had: bool) -> None:
        self._frame = frame
        self._function = function
        self._name = name
        self._is_had = is_had
        self._names: set[str] = set()

    def __call__(self, part: ast.expr) -> bool | None:
        """Whether the answer is the one that the call needs where ``part`` is true; ``None`` for other questions."""
        if isinstance(part, ast.Name):
            return self._of_name(part)
        nodes = walk(part)
        is_named = any(isinstance(node, ast.Constant) and node.value == self._name for node in nodes)
        if not is_named or not self._mentions(part):
            return None
        is_not = isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.NotIn | ast.NotEq)
        return self._is_had != is_not

    def _of_name(self, name: ast.Name) -> bool | None:
        """The same of a name, by what it is set to; not where that is made from the name itself."""
        if name.id in self._names:
            return None
        self._names.add(name.id)
        values = list(self._values(name))
        told = [by for by in (True, False) if values and all(tells(v, self, by=by) for v in values)]
        self._names.remove(name.id)
        return told[0] if len(told) == 1 else None

    def _mentions(self, part: ast.expr, steps: int = _MOST_STEPS) -> bool:
        """Whether an expression, or what a name in it was set to, names the function."""
        nodes = [node for node in walk(part) if isinstance(node, ast.Name | ast.Attribute)]
        if any(ast.unparse(node) == self._function for node in nodes):
            return True
        names = [node for node in nodes if steps and isinstance(node, ast.Name)]
        return any(self._mentions(value, steps - 1) for name in names for value in self._values(name))

    def _values(self, name: ast.Name) -> Iterator[ast.expr]:
        """What a name is set to, in the function or else in its module."""
        bound = self._frame.bound.get(name.id)
        if bound is None:
            found = self._frame.module.bindings.get(name.id, ())
            yield from (binding.value for binding in found if binding.value is not None)
            return
        pairs = (pair for node in bound for pair in assignments_of(node))
        yield from (v for target, v, _ in pairs if isinstance(target, ast.Name) and target.id == name.id and v)
