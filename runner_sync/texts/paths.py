"""Tells under which conditions a statement of a method runs.

Comes in: the text of a method. Goes out: its statements with the tests above them. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from runner_sync.statements import always_leaves, parse_function
from runner_sync.syntax import blocks_of

Under = frozenset[tuple[str, bool]]
"""Tests, each with the result that it must have."""

MOST_WAYS = 100_000
"""The answer is no after this many ways; a thousand ways that differ in ten tests take eleven thousand."""


def statements_under(text: str) -> Iterator[tuple[ast.stmt, Under]]:
    """Yield each statement of a method with the tests that it runs under; nothing if the text is no single method.

    After an ``if`` that leaves the suite, the rest of the suite runs under the opposite. Loops and ``try`` count as
    always run.
    """
    function = parse_function(text)
    yield from _walk_suite(function.body, frozenset()) if function is not None else ()


def _walk_suite(body: Sequence[ast.stmt], under: Under) -> Iterator[tuple[ast.stmt, Under]]:
    for statement in body:
        yield statement, under
        if not isinstance(statement, ast.If):
            for block in blocks_of(statement):
                yield from _walk_suite(block, under)
            continue
        is_so, is_not = _split_outcomes(statement.test)
        yield from _walk_suite(statement.body, under | {is_so})
        yield from _walk_suite(statement.orelse, under | {is_not})
        under |= {is_not} if always_leaves(statement.body) else frozenset()
        under |= {is_so} if always_leaves(statement.orelse) else frozenset()


def _split_outcomes(test: ast.expr) -> tuple[tuple[str, bool], tuple[str, bool]]:
    """Return a test with the result true, and the same test with the result false; resolves ``not``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        holds, fails = _split_outcomes(test.operand)
        return fails, holds
    source = ast.unparse(test)
    return (source, True), (source, False)


def is_on_every_path(ways: Collection[Under]) -> bool:
    """Whether some way is open for all results of the tests; false if finding out takes too long (timid).

    Assumes a test true, then false, and repeats the question for the ways that remain.
    """
    todo, effort = [frozenset(ways)], 0
    while todo:
        left = todo.pop()
        effort += len(left)
        if frozenset() in left:
            continue
        if not left or effort > MOST_WAYS:
            return False
        counted = Counter(test for way in left for test, _ in way)
        test = max(counted, key=lambda one: (counted[one], one))
        for holds in (True, False):
            todo.append(frozenset(way - {(test, holds)} for way in left if (test, not holds) not in way))
    return True


def is_excluded(under: Under, way: Under) -> bool:
    """Whether code that runs under ``under`` never runs where ``way`` is taken."""
    return any((test, not holds) in under for test, holds in way)
