"""List the suites of a compound statement, each with its canonical head.

Comes in: a syntax node. Goes out: ``(head, body, line)`` rows. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.statements.hints import normalise_hint, unparse_arguments
from runner_sync.syntax import Function


def list_suites(statement: ast.stmt) -> list[tuple[str, list[ast.stmt], int]]:
    """Return ``(canonical head, body, head line)`` of each suite of a compound statement; empty for a simple one.

    For ``else`` and ``finally``, whose line ``ast`` does not keep, the line is the negated last line of the preceding
    suite.
    """
    match statement:
        case ast.If():
            return _split_if(statement)
        case ast.For() | ast.AsyncFor():
            word = "async for" if isinstance(statement, ast.AsyncFor) else "for"
            head = f"{word} {ast.unparse(statement.target)} in {ast.unparse(statement.iter)}"
            return [(head, statement.body, statement.lineno), *_make_else(statement.body, statement.orelse)]
        case ast.While():
            head = f"while {ast.unparse(statement.test)}"
            return [(head, statement.body, statement.lineno), *_make_else(statement.body, statement.orelse)]
        case ast.With() | ast.AsyncWith():
            word = "async with" if isinstance(statement, ast.AsyncWith) else "with"
            head = f"{word} {', '.join(ast.unparse(item) for item in statement.items)}"
            return [(head, statement.body, statement.lineno)]
        case ast.Try() | ast.TryStar():
            return _split_try(statement)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [(unparse_definition(statement), statement.body, statement.lineno)]
        case _:
            return []


def _split_if(statement: ast.If) -> list[tuple[str, list[ast.stmt], int]]:
    test = ast.unparse(statement.test)
    suites = [(f"if {test}", statement.body, statement.lineno)]
    while statement.orelse:
        inner = statement.orelse[0]
        if len(statement.orelse) == 1 and isinstance(inner, ast.If) and inner.col_offset == statement.col_offset:
            suites.append((f"elif {ast.unparse(inner.test)}", inner.body, inner.lineno))
            statement = inner
            continue
        return [*suites, *_make_else(statement.body, statement.orelse)]
    return suites


def _make_else(body: list[ast.stmt], orelse: list[ast.stmt]) -> list[tuple[str, list[ast.stmt], int]]:
    if not orelse:
        return []
    return [("else", orelse, -(body[-1].end_lineno or 0))]


def _split_try(statement: ast.Try | ast.TryStar) -> list[tuple[str, list[ast.stmt], int]]:
    suites: list[tuple[str, list[ast.stmt], int]] = [("try", statement.body, statement.lineno)]
    body = statement.body
    for handler in statement.handlers:
        word = "except*" if isinstance(statement, ast.TryStar) else "except"
        head = " ".join([word, ast.unparse(handler.type) if handler.type else ""]).strip()
        suites.append((f"{head} as {handler.name}" if handler.name else head, handler.body, handler.lineno))
        body = handler.body
    suites += _make_else(body, statement.orelse)
    body = statement.orelse or body
    if statement.finalbody:
        suites.append(("finally", statement.finalbody, -(body[-1].end_lineno or 0)))
    return suites


def unparse_definition(node: Function | ast.ClassDef) -> str:
    """Return the canonical head of a function or class: decorators and signature on one line, annotations
    normalised."""
    decorators = "".join(f"@{ast.unparse(d)} " for d in node.decorator_list)
    if isinstance(node, ast.ClassDef):
        parts = [*map(ast.unparse, node.bases), *map(ast.unparse, node.keywords)]
        return f"{decorators}class {node.name}({', '.join(parts)})"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returned = normalise_hint(node.returns)
    returns = f" -> {ast.unparse(returned)}" if returned is not None else ""
    return f"{decorators}{word} {node.name}({unparse_arguments(node.args)}){returns}"
