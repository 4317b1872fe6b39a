"""RS408 value-reset: a computed value is overwritten with an empty one before anybody reads it.

What: a local variable that gets a value from a call, and that a later statement of the same block sets to `None`, `[]`,
`{}`, `()`, `""` or `0` with no read in between.

Example:

    pooler_output = self._build_pooler_output(hidden_states)
    ...                                      # pooler_output is not read here
    pooler_output = []

Why: two ports of one block on top of each other, or vllm-ascend's default restored below omni's value. Nothing crashes:
the stage sends empty payloads.

Fix: delete the reset, or the computation if it is no longer wanted.

Leaves alone: (timid) variables that are read (also by `locals()`), deleted, captured by a nested function or bound by
tuple unpacking in between; resets inside a branch or loop; resets that a `break` or `continue` skips; values that no
call computed; bare annotations; names assigned in `try` bodies; `_`; `False` and `0.0`, which are ordinary answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import Function, blocks_of, is_name, statements_of, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.hygiene import iter_functions, iter_suites
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading, dotted

CODE = "RS408"
NAME = "value-reset"
SEVERITY: Severity = "warning"

_Scope = Function | ast.Lambda | ast.ClassDef


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per reset."""
    for function in iter_functions(subject.npu):
        yield from _check_function(subject.npu, function)


def _check_function(npu: Reading, function: Function) -> Iterator[Hit]:
    shared: set[str] | None = None
    for block in iter_suites(function.body, closed=(ast.Try, ast.TryStar)):
        for index, statement in enumerate(block):
            name = _find_reset_name(statement)
            computed = _find_computation(npu, block[:index], name) if name else None
            if computed is not None:
                shared = _find_shared_names(function) if shared is None else shared
                if name not in shared:
                    yield _make_hit(npu, statement, computed, name)


def _find_reset_name(statement: ast.stmt) -> str:
    """Return the name that ``statement`` sets to an empty value, or ``""``."""
    target, value = _split_assignment(statement)
    if not isinstance(target, ast.Name) or target.id == "_":
        return ""
    return target.id if value is not None and _is_empty(value) else ""


def _split_assignment(statement: ast.stmt) -> tuple[ast.AST, ast.expr | None]:
    """Return the one target of an assignment and its value; the value is ``None`` for any other statement."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0], statement.value
    return (statement.target, statement.value) if isinstance(statement, ast.AnnAssign) else (statement, None)


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is None or (type(value.value) in (str, int) and not value.value)
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return not value.elts
    return isinstance(value, ast.Dict) and not value.keys


def _find_computation(npu: Reading, block: list[ast.stmt], name: str) -> ast.stmt | None:
    """Return the statement that gave ``name`` a computed value which nothing in ``block`` reads afterwards."""
    for statement in reversed(block):
        if _may_leave_loop(statement) or _reads_all(npu, statement):
            return None
        if name not in npu.text_of(statement):
            continue
        uses = [n for n in walk(statement) if is_name(n, name)]
        if not uses:
            continue
        if any(not isinstance(use.ctx, ast.Store) for use in uses):
            return None
        return statement if _assigns_call(statement, name) else None
    return None


def _may_leave_loop(statement: ast.stmt) -> bool:
    """Whether ``statement`` may leave its loop, so that code behind the loop reads a value before its reset.

    A ``return`` does not count: no code reads the value after it.
    """
    inside = [*statements_of([statement])]
    loops = [part for part in inside if isinstance(part, ast.For | ast.AsyncFor | ast.While)]
    their_own = {id(part) for loop in loops for part in statements_of(loop.body)}
    return any(isinstance(part, ast.Break | ast.Continue) and id(part) not in their_own for part in inside)


def _reads_all(npu: Reading, statement: ast.stmt) -> bool:
    """Whether ``statement`` may read any local without naming it: ``locals()``, ``vars()``, ``eval(text)``."""
    if not any(f"{name}(" in npu.text_of(statement) for name in _READERS):
        return False
    calls = (node for node in walk(statement) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return any(dotted(call.func) in _READERS and bool(call.args) is _READERS[dotted(call.func)] for call in calls)


_READERS = {"locals": False, "vars": False, "eval": True, "exec": True}
"""Builtins that read the locals around them, and whether they do so with arguments: ``vars(x)`` reads ``x``."""


def _assigns_call(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.If | ast.With):
        inner = [s for block in blocks_of(statement) for s in block]
        return any(_assigns_call(s, name) for s in inner)
    target, value = _split_assignment(statement)
    return value is not None and dotted(target) == name and any(isinstance(node, ast.Call) for node in walk(value))


def _find_shared_names(function: Function) -> set[str]:
    """Return the names that a nested function may read, or that are not local at all."""
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, _Scope) and node is not function:
            found.update(inner.id for inner in walk(node) if isinstance(inner, ast.Name))
    return found


def _make_hit(npu: Reading, statement: ast.stmt, computed: ast.stmt, name: str) -> Hit:
    return npu.hit(
        (CODE, SEVERITY),
        statement,
        symbol=name,
        message=f"`{name}` was computed at line {computed.lineno} and is emptied here before anything reads it.",
        fix=f"Delete this reset, or the computation at line {computed.lineno}.",
    )
