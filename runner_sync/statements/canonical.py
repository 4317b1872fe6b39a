"""Turn the source of a statement, a head or an expression into its canonical text, once for each distinct source.

Comes in: source text. Goes out: the ``ast.unparse`` text. May touch: nothing.

The versions of a module have most of their lines in common, and printing a tree takes ten times as long as parsing it.
The caches are therefore by source, not by node.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from runner_sync.statements.hints import normalise_hint, unparse_arguments
from runner_sync.statements.keywords import spell_out_keywords
from runner_sync.syntax import Function, first_line


def canonical_statement(statement: ast.stmt, lines: Sequence[str]) -> str:
    """Return the canonical text of a simple statement, given the lines of its module."""
    return _unparse_statement(_cut(statement, lines))


def canonical_expression(expression: ast.expr, lines: Sequence[str]) -> str:
    """Return the canonical text of an expression in a head, given the lines of its module."""
    return _unparse_expression(_cut(expression, lines))


def canonical_definition(node: Function | ast.ClassDef, lines: Sequence[str]) -> str:
    """Return the canonical head of a function or class: decorators and signature on one line, annotations
    normalised."""
    top = first_line(node.body[0])
    begin = lines[top - 1].encode()[: node.body[0].col_offset].decode()
    try:
        return _unparse_definition("\n".join([*lines[first_line(node) - 1 : top - 1], begin]))
    except SyntaxError:  # a decorator in brackets begins on a line above its expression
        return _print_head(node)


def _cut(node: ast.stmt | ast.expr, lines: Sequence[str]) -> str:
    """Return the source of a node; ``ast.get_source_segment`` would split the module into lines for each node."""
    end = node.end_lineno or node.lineno
    if end == node.lineno:
        line = lines[end - 1]
        if line.isascii():
            return line[node.col_offset : node.end_col_offset]
        return line.encode()[node.col_offset : node.end_col_offset].decode()
    first = lines[node.lineno - 1].encode()[node.col_offset :].decode()
    last = lines[end - 1].encode()[: node.end_col_offset].decode()
    return "\n".join([first, *lines[node.lineno : end - 1], last])


@lru_cache(maxsize=16384)
def _unparse_statement(source: str) -> str:
    tree = ast.parse(source)
    spell_out_keywords(tree, source)
    (statement,) = tree.body
    if isinstance(statement, ast.AnnAssign):
        statement.annotation = normalise_hint(statement.annotation) or statement.annotation
    return ast.unparse(statement)


@lru_cache(maxsize=8192)
def _unparse_expression(source: str) -> str:
    # Inside brackets, an expression may extend over several lines.
    tree = ast.parse(f"({source})")
    spell_out_keywords(tree, source)
    (statement,) = tree.body
    assert isinstance(statement, ast.Expr)
    return ast.unparse(statement.value)


@lru_cache(maxsize=4096)
def _unparse_definition(head: str) -> str:
    # A form feed resets the column.
    is_inside = bool(head[: len(head) - len(head.lstrip())].rpartition("\f")[2])
    tree = ast.parse(f"{'if 1:' if is_inside else ''}\n{head}pass")
    spell_out_keywords(tree, head)
    (node,) = tree.body[0].body if is_inside else tree.body  # type: ignore[attr-defined]
    assert isinstance(node, Function | ast.ClassDef)
    return _print_head(node)


def _print_head(node: Function | ast.ClassDef) -> str:
    decorators = "".join(f"@{ast.unparse(d)} " for d in node.decorator_list)
    if isinstance(node, ast.ClassDef):
        parts = [*map(ast.unparse, node.bases), *map(ast.unparse, node.keywords)]
        return f"{decorators}class {node.name}({', '.join(parts)})"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returned = normalise_hint(node.returns)
    returns = f" -> {ast.unparse(returned)}" if returned is not None else ""
    return f"{decorators}{word} {node.name}({unparse_arguments(node.args)}){returns}"
