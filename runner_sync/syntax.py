"""Syntax trees of the standard library.

Comes in: ``ast`` nodes. Goes out: their nodes, and where they stand. May touch: nothing.
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


def first_line(statement: ast.stmt) -> int:
    """First line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def head_end(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
    """Line and column, as ``ast`` counts them, behind the last thing that the head of a class or function says."""
    said: list[ast.expr | ast.arg | ast.keyword | None]
    if isinstance(node, ast.ClassDef):
        said = [*node.bases, *node.keywords]
        word = "class "
    else:
        rows = node.args
        said = [*rows.posonlyargs, *rows.args, *rows.kwonlyargs, rows.vararg, rows.kwarg]
        said += [*rows.defaults, *rows.kw_defaults, node.returns]
        word = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    ends = [(part.end_lineno or 0, part.end_col_offset or 0) for part in said if part is not None]
    return max([(node.lineno, node.col_offset + len(f"{word}{node.name}".encode())), *ends])
