"""RS412 falls-off: a method that always ended in the `return` of a value now comes to its end without one.

What: a function of an NPU module that always ended in the `return` of a value where the branch began, and whose end is
reached now, although another `return value` or its annotation promises a value.

Example:

    if self.execute_model_state is None:
        return self._empty_output()
    async_output = self._async_output()
    -return async_output          # goes with a block that was taken out; the engine gets `None`

Why: `None` is a valid result of `execute_model`, so nothing fails where it happens: a step has no tokens.

Fix: return the value, or write `return None` where nothing is meant.

Leaves alone: functions that return no value any more and promise none, generators, functions whose end was reached
before, or that ended in `return None`. Needs the omni tree as it was (`check --changed-since`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.signatures import promises_value
from runner_sync.statements import always_leaves, yields
from runner_sync.syntax import Function, is_nothing, statements_of
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import find_definition
from runner_sync.verify.runners.reading import Reading

CODE = "RS412"
NAME = "falls-off"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per function, at its head."""
    before = subject.before
    if before is None or before.npu.text == subject.npu.text:
        return
    for name, function in _list_functions(subject.npu):
        was = find_definition(before.npu, name)
        if isinstance(was, Function) and _ends_in_value(was) and _may_fall_off(function):
            yield subject.npu.hit(
                (CODE, SEVERITY),
                function,
                symbol=function.name,
                message=f"`{function.name}` can reach its end now (line {function.body[-1].end_lineno}), where it "
                "returns nothing; before, it always ended in the `return` of a value.",
                fix="Return the value there, or write `return None` where nothing is meant.",
            )


def _list_functions(npu: Reading) -> Iterator[tuple[str, Function]]:
    for owner in npu.classes.values():
        yield from ((f"{owner.name}.{name}", functions[-1]) for name, functions in owner.methods.items())
    yield from npu.functions.items()


def _ends_in_value(function: Function) -> bool:
    """Whether the end of a function is unreachable, and its last statement returns more than ``None``."""
    return always_leaves(function.body) and bool(_list_returned_values(function.body[-1:]))


def _list_returned_values(body: list[ast.stmt]) -> list[ast.expr]:
    """Return the values of the ``return`` statements below some statements, except ``None``."""
    returned = [statement.value for statement in statements_of(body) if isinstance(statement, ast.Return)]
    return [value for value in returned if value is not None and not is_nothing(value)]


def _may_fall_off(function: Function) -> bool:
    """Whether the end of a function is reached although the function promises a value."""
    if always_leaves(function.body) or yields(function.body):
        return False
    return promises_value(function) or bool(_list_returned_values(function.body))
