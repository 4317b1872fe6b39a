"""Statements that never run on a platform outside vLLM's own tree, such as vllm-ascend's.

Comes in: the body of a module. Goes out: ids of statements. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from runner_sync.profile.vllm import PLATFORM, PLATFORM_ANSWERS
from runner_sync.syntax import last_word, statements_of
from runner_sync.verify.trees.versions import evaluate


def for_other_platforms(body: Iterable[ast.stmt]) -> set[int]:
    """Return the ids of the statements below ``if current_platform.is_cuda():`` and the like."""
    found: set[int] = set()
    for statement in statements_of(body):
        answer = evaluate(statement.test, _ask) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and answer is not None:
            found |= {id(inner) for inner in statements_of(statement.orelse if answer else statement.body)}
    return found


def _ask(call: ast.Call) -> bool | None:
    match call:
        case ast.Call(func=ast.Attribute(value=asked, attr=name), args=[]) if last_word(asked) == PLATFORM:
            return PLATFORM_ANSWERS.get(name)
    return None
