"""Fits a ported hook to the parent method that it wraps on NPU.

Comes in: the text of a ported method. Goes out: the text, adapted to the hook's contract, and what was changed. May
touch: nothing.

This is about the sampler hook. A model with its own sampler is asked first, with the real token history. If it
declines, the call must go on to the parent, so that the platform keeps its own sampling (on NPU: logits slicing for the
LM head, the rejection sampler). The GPU runner updates the history after asking and calls its own sampler itself.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import takewhile

from runner_sync.profile import SamplerHook
from runner_sync.statements import tree_of
from runner_sync.statements.parents import parents_called
from runner_sync.syntax import walk

Lines = list[str]


def fit_sampler_hook(text: str, hook: SamplerHook) -> tuple[str, tuple[str, ...]]:
    """Update the token history in ``text`` before the model is asked, and end it in the ``super()`` call.

    Returns the text and sentences about the changes. The text stays unchanged if the method does not have that form.
    """
    function = _find_function(text, hook.method)
    if function is None:
        return text, ()
    changes = []
    for fit, done in (
        (_move_history_first, "the token history is updated before the model is asked"),
        (_drop_own_sampling, "when the model declines, the call goes to super()"),
    ):
        new = fit(text, function, hook)
        if new != text:
            changes.append(done)
            text = new
            function = _find_function(text, hook.method) or function
    return text, tuple(changes)


def describe_skipped_steps(parent: str, hook: SamplerHook) -> tuple[str, ...]:
    """Return a sentence for each conditional step of the platform's method ``parent`` that a model asked first misses.

    A step changes a parameter, or calls something for its effect on the way to the platform's sampler. The model gets
    such a parameter unchanged, and such a call is not made for it.
    """
    function = _find_function(parent, hook.method)
    if function is None:
        return ()
    names = {argument.arg for argument in function.args.args}
    found: dict[str, str] = {}
    for branch in [node for node in walk(function) if isinstance(node, ast.If)]:
        for stmt in branch.body:
            target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
            if isinstance(target, ast.Name) and target.id in names:
                found.setdefault(target.id, ast.unparse(branch.test))
    return (
        *(
            f"the model gets {name} unchanged, but the platform's own method changes it first if {test}"
            for name, test in found.items()
        ),
        *(
            f"{call} is not called for the model, but the platform's own method calls it first if {test}"
            for call, test in _find_calls_before_sampling(function, hook).items()
        ),
    )


def _find_calls_before_sampling(function: ast.FunctionDef, hook: SamplerHook) -> dict[str, str]:
    """Return ``{function: condition}`` of calls for effect under an ``if`` before a return of the sampler's result.

    The ``return`` is behind the ``if``, in the same suite or nested in it.
    """
    found: dict[str, str] = {}
    for suite in (suite for suite in _find_suites(function) if any(_is_sampling(stmt, hook) for stmt in suite)):
        before = takewhile(lambda stmt: not _is_sampling(stmt, hook), suite)
        for branch in (stmt for stmt in before if isinstance(stmt, ast.If)):
            for call in (stmt.value for stmt in branch.body if isinstance(stmt, ast.Expr)):
                if isinstance(call, ast.Call) and ast.unparse(call) != hook.history:
                    found.setdefault(ast.unparse(call.func), ast.unparse(branch.test))
    return found


def _is_sampling(statement: ast.stmt, hook: SamplerHook) -> bool:
    """Whether a statement returns the result of the platform's sampler, itself or somewhere inside."""
    returns = (node.value for node in walk(statement) if isinstance(node, ast.Return))
    return any(isinstance(value, ast.Call) and ast.unparse(value.func) == hook.sampler for value in returns)


def _find_function(text: str, name: str) -> ast.FunctionDef | None:
    return next((n for n in walk(tree_of(text)) if isinstance(n, ast.FunctionDef) and n.name == name), None)


def _move_history_first(text: str, function: ast.FunctionDef, hook: SamplerHook) -> str:
    """Return ``text`` with the update of the token history moved in front of the statement that asks the model."""
    for suite in _find_suites(function):
        request = next((s for s in suite if _is_model_request(s, hook)), None)
        update = next((s for s in suite if isinstance(s, ast.Expr) and ast.unparse(s) == hook.history), None)
        if request is not None and update is not None and suite.index(update) > suite.index(request):
            lines = text.split("\n")
            moved = _cut_out(lines, update)
            first = request.lineno - 1
            return "\n".join([*lines[:first], *moved, *lines[first:]])
    return text


def _drop_own_sampling(text: str, function: ast.FunctionDef, hook: SamplerHook) -> str:
    """Return ``text`` without the last statement of an ``if`` that returns the result of the GPU runner's own sampler.

    Only if the final ``return super()…`` directly follows that ``if``.
    """
    final = function.body[-1]
    if not (isinstance(final, ast.Return) and "super()" in parents_called(final, hook.method)):
        return text
    for statement in function.body[:-1]:
        suite = statement.body if isinstance(statement, ast.If) and not statement.orelse else []
        last = suite[-1] if len(suite) > 1 else None
        if isinstance(last, ast.Return) and ast.unparse(last).startswith(f"return {hook.sampler}("):
            if statement is not function.body[-2]:
                return text
            lines = text.split("\n")
            _cut_out(lines, last)
            return "\n".join(lines)
    return text


def _is_model_request(statement: ast.stmt, hook: SamplerHook) -> bool:
    return hook.flag in ast.unparse(statement) and isinstance(statement, ast.If)


def _find_suites(function: ast.FunctionDef) -> Sequence[list[ast.stmt]]:
    return [n.body for n in walk(function) if isinstance(n, ast.FunctionDef | ast.If)]


def _cut_out(lines: Lines, statement: ast.stmt) -> Lines:
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    taken = lines[first:last]
    del lines[first:last]
    return taken
