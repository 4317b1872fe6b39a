"""The syntax tree of one statement of a side, or of a module made of it.

Comes in: a text. Goes out: its tree, which is nobody else's and may be edited. May touch: nothing.
"""

from __future__ import annotations

import ast


def parsed(text: str) -> ast.Module:
    """The tree of a text; an empty one where it is no Python by itself, as the head of a clause or half of a call."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def statement_of(text: str) -> ast.stmt | None:
    """The one statement that a text is."""
    body = parsed(text).body
    return body[0] if len(body) == 1 else None
