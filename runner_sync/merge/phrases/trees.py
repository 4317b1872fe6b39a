"""Parse a statement, or a module made of it.

Comes in: a text. Goes out: its tree, which is not shared and may be edited. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.syntax import calls_in, walk


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


def gives_twice(tree: ast.AST) -> bool:
    """Whether a call gives a keyword by name and once more in a dictionary behind ``**``, which is a ``TypeError``."""
    for call in calls_in(tree):
        named = {keyword.arg for keyword in call.keywords}
        mappings = [node for keyword in call.keywords if keyword.arg is None for node in walk(keyword.value)]
        keys = {getattr(key, "value", None) for node in mappings if isinstance(node, ast.Dict) for key in node.keys}
        if keys & (named - {None}):
            return True
    return False
