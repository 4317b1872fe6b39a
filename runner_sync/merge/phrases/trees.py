"""The syntax tree of a statement, or of a module made of it.

Comes in: a text. Goes out: its tree, which is not shared and may be edited. May touch: nothing.
"""

from __future__ import annotations

import ast


def parsed(text: str) -> ast.Module:
    """The tree of a text; an empty one if it is no Python by itself, like the head of a clause or half of a call."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def statement_of(text: str) -> ast.stmt | None:
    """The statement that a text consists of; ``None`` if that is not exactly one."""
    body = parsed(text).body
    return body[0] if len(body) == 1 else None
