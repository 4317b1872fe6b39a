"""List the suites of a compound statement, each with its canonical head.

Comes in: a syntax node, and the lines of its module. Goes out: ``(head, body, line)`` rows. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from runner_sync.statements.canonical import canonical_definition, canonical_expression


def list_suites(statement: ast.stmt, lines: Sequence[str]) -> list[tuple[str, list[ast.stmt], int]]:
    """Return ``(canonical head, body, head line)`` of each suite of a compound statement; empty for a simple one.

    For ``else`` and ``finally``, whose line ``ast`` does not keep, the line is the negated last line of the preceding
    suite.
    """
    match statement:
        case ast.If():
            return _split_if(statement, lines)
        case ast.For() | ast.AsyncFor():
            word = "async for" if isinstance(statement, ast.AsyncFor) else "for"
            target, sequence = (
                canonical_expression(statement.target, lines),
                canonical_expression(statement.iter, lines),
            )
            head = f"{word} {target} in {sequence}"
            return [(head, statement.body, statement.lineno), *_make_else(statement.body, statement.orelse)]
        case ast.While():
            head = f"while {canonical_expression(statement.test, lines)}"
            return [(head, statement.body, statement.lineno), *_make_else(statement.body, statement.orelse)]
        case ast.With() | ast.AsyncWith():
            word = "async with" if isinstance(statement, ast.AsyncWith) else "with"
            head = f"{word} {', '.join(_make_item(item, lines) for item in statement.items)}"
            return [(head, statement.body, statement.lineno)]
        case ast.Try() | ast.TryStar():
            return _split_try(statement, lines)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [(canonical_definition(statement, lines), statement.body, statement.lineno)]
        case _:
            return []


def _make_item(item: ast.withitem, lines: Sequence[str]) -> str:
    context = canonical_expression(item.context_expr, lines)
    return f"{context} as {canonical_expression(item.optional_vars, lines)}" if item.optional_vars else context


def _split_if(statement: ast.If, lines: Sequence[str]) -> list[tuple[str, list[ast.stmt], int]]:
    suites = [(f"if {canonical_expression(statement.test, lines)}", statement.body, statement.lineno)]
    while statement.orelse:
        inner = statement.orelse[0]
        if len(statement.orelse) == 1 and isinstance(inner, ast.If) and inner.col_offset == statement.col_offset:
            suites.append((f"elif {canonical_expression(inner.test, lines)}", inner.body, inner.lineno))
            statement = inner
            continue
        return [*suites, *_make_else(statement.body, statement.orelse)]
    return suites


def _make_else(body: list[ast.stmt], orelse: list[ast.stmt]) -> list[tuple[str, list[ast.stmt], int]]:
    if not orelse:
        return []
    return [("else", orelse, -(body[-1].end_lineno or 0))]


def _split_try(statement: ast.Try | ast.TryStar, lines: Sequence[str]) -> list[tuple[str, list[ast.stmt], int]]:
    suites: list[tuple[str, list[ast.stmt], int]] = [("try", statement.body, statement.lineno)]
    body = statement.body
    for handler in statement.handlers:
        word = "except*" if isinstance(statement, ast.TryStar) else "except"
        head = " ".join([word, canonical_expression(handler.type, lines) if handler.type else ""]).strip()
        suites.append((f"{head} as {handler.name}" if handler.name else head, handler.body, handler.lineno))
        body = handler.body
    suites += _make_else(body, statement.orelse)
    body = statement.orelse or body
    if statement.finalbody:
        suites.append(("finally", statement.finalbody, -(body[-1].end_lineno or 0)))
    return suites
