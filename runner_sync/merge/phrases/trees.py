"""Parse a statement, or a module made of it.

Comes in: a text. Goes out: its tree, which is not shared and may be edited. May touch: nothing.
"""

from __future__ import annotations

import ast


def parse_or_empty(text: str) -> ast.Module:
    """Parse a text; an empty module if it is no Python by itself, like the head of a clause or half of a call."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def parse_statement(text: str) -> ast.stmt | None:
    """Return the statement that a text consists of; ``None`` if there is not exactly one."""
    body = parse_or_empty(text).body
    return body[0] if len(body) == 1 else None
