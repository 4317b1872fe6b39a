"""Determine whether code behind some statements can be reached.

Comes in: ``ast`` statements. Goes out: yes or no, and what cannot be reached. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.syntax import Function, children, last_name, walk


def always_leaves(body: Iterable[ast.stmt]) -> bool:
    """Whether the end of ``body`` is never reached, because a statement or all branches of one leave it.

    A loop counts only if it is endless, or if its ``else`` leaves; neither counts with a ``break`` out of the loop. Any
    other loop may not run at all.
    """
    return any(_leaves(statement) for statement in body)


def cut_off(suite: Sequence[ast.stmt]) -> list[tuple[ast.stmt, ast.stmt]]:
    """Return the statements of a suite that always leave it, each with the unreachable statement directly behind.

    Skips a statement above a ``yield``, which makes a function a generator (``raise NotImplementedError`` before it).
    """
    pairs = ((place, first) for place, first in enumerate(suite[:-1]) if _leaves(first))
    return [(first, suite[place + 1]) for place, first in pairs if not yields(suite[place + 1 :])]


def yields(body: Iterable[ast.stmt]) -> bool:
    """Whether ``body`` contains a ``yield``, except in nested functions and lambdas."""
    todo: list[ast.AST] = [*body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        todo += () if isinstance(node, _DEFINITION | ast.Lambda) else children(node)
    return False


def may_swallow(statement: ast.With | ast.AsyncWith, *, also: frozenset[str] = frozenset()) -> bool:
    """Whether execution may continue behind a ``with`` after an exception in it: ``with suppress(AttributeError):``.

    Any context manager could swallow exceptions, but those of runners hardly do (``set_forward_context``,
    ``record_function``, locks). So only known functions count. They also count when entered into a stack and in
    ``suppress(KeyError) if quiet else nullcontext()``. ``also`` adds a module's aliases of the known functions.
    """
    return any(True for _ in swallowing(statement, also=also))


def swallowing(statement: ast.With | ast.AsyncWith, *, also: frozenset[str] = frozenset()) -> Iterator[ast.Call]:
    """Yield the calls in a ``with`` that create such context managers, with the exceptions as arguments."""
    made = [*(item.context_expr for item in statement.items), *_find_entered(statement)]
    calls = (node for one in made for node in walk(one) if isinstance(node, ast.Call))
    return (call for call in calls if last_name(call.func) in _SWALLOWERS | also)


def swallowers_named(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the aliases under which imports among ``nodes`` bring functions whose context managers swallow
    exceptions."""
    imported = (alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names)
    return frozenset(alias.asname for alias in imported if alias.asname and alias.name in _SWALLOWERS)


def _find_entered(statement: ast.With | ast.AsyncWith) -> list[ast.expr]:
    """Return what the body of a ``with`` enters into its stack: ``s`` in ``with ExitStack() as s:``."""
    stacks = {item.optional_vars.id for item in statement.items if isinstance(item.optional_vars, ast.Name)}
    calls = [node for part in statement.body for node in walk(part) if stacks and isinstance(node, ast.Call)]
    return [
        argument
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("enter_context", "enter_async_context", "push", "push_async_exit")
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in stacks
        for argument in call.args
    ]


_SWALLOWERS = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
"""Functions of the standard library and pytest whose context managers swallow exceptions. No runner has others."""


def _leaves(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return always_leaves(body) and not may_swallow(statement)
        case ast.If(body=body, orelse=orelse):
            return always_leaves(body) and always_leaves(orelse)
        case ast.Try(finalbody=last) | ast.TryStar(finalbody=last):
            goes_on = not always_leaves([*statement.body, *statement.orelse])
            is_caught = any(not always_leaves(handler.body) for handler in statement.handlers)
            return always_leaves(last) or not (goes_on or is_caught)
        case ast.Match(cases=cases):
            return takes_all(cases[-1]) and all(always_leaves(case.body) for case in cases)
        case ast.For() | ast.AsyncFor() | ast.While():
            return (is_endless(statement) or always_leaves(statement.orelse)) and not is_broken_out_of(statement)
    return False


def is_endless(statement: ast.stmt) -> bool:
    """Whether a statement is a ``while`` whose condition always holds."""
    return isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and bool(statement.test.value)


def takes_all(case: ast.match_case) -> bool:
    """Whether a case matches everything, as ``case _`` does."""
    pattern: ast.pattern | None = case.pattern
    while isinstance(pattern, ast.MatchOr | ast.MatchAs) and pattern is not None:
        pattern = pattern.patterns[-1] if isinstance(pattern, ast.MatchOr) else pattern.pattern
    return pattern is None and case.guard is None


def is_broken_out_of(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a ``break`` ends this loop itself, not a nested loop."""
    return any(True for _ in breaks_of(loop))


def breaks_of(loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[ast.Break]:
    """Yield the ``break`` statements that end a loop."""
    todo: list[ast.AST] = [*loop.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Break):
            yield node
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            todo += node.orelse
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(node, _DEFINITION):
            todo += ast.iter_child_nodes(node)


def may_leave(part: ast.AST, *, is_looped: bool = False) -> bool:
    """Whether ``part`` may leave its block, so that what follows need not run; `always_leaves` is about certainty.

    ``is_looped``: ``part`` is in a loop of that block, which confines ``break`` and ``continue``.
    """
    match part:
        case ast.Return() | ast.Raise() | ast.Assert():
            return True
        case ast.Continue() | ast.Break():
            return not is_looped
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.expr():
            return False
    is_looped = is_looped or isinstance(part, ast.For | ast.AsyncFor | ast.While)
    return any(may_leave(inner, is_looped=is_looped) for inner in children(part))


_DEFINITION = Function | ast.ClassDef
