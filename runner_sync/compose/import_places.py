"""Finds where a new import goes: in isort's order, above the code that needs it.

Comes in: the text or the statements of a module, and what is imported. Goes out: line positions, or the text with what
goes below its imports. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Sequence
from itertools import takewhile

from runner_sync.naming import imported_by
from runner_sync.syntax import Function, is_string, module_of, walk


def find_head_imports(text: str, needed: Collection[str]) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports above a module's first definition, and above any other statement that uses one of ``needed``.

    A new import goes among these; behind a later one (``noqa: E402``) it would come too late.
    """
    found = []
    for statement in module_of(text).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found.append(statement)
        elif _is_end_of_head(statement, needed):
            break
    return found


def _is_end_of_head(statement: ast.stmt, names: Collection[str]) -> bool:
    is_definition = isinstance(statement, Function | ast.ClassDef)
    return is_definition or any(isinstance(node, ast.Name) and node.id in names for node in walk(statement))


def find_position(
    tops: Sequence[ast.Import | ast.ImportFrom], module: str, is_from: bool, first_party: str
) -> tuple[int, bool, bool]:
    """Return the line index for a new import in isort's order, and whether a blank line goes above and below it."""
    own_key = _isort_module_key(module, is_from, first_party)
    keys = [
        (_isort_module_key(next(imported_by(s)).module, isinstance(s, ast.ImportFrom), first_party), s) for s in tops
    ]
    before = [s for key, s in keys if key < own_key]
    same_section = [s for key, s in keys if key[0] == own_key[0]]
    if same_section:
        earlier = [s for s in same_section if s in before]
        return (earlier[-1].end_lineno or 0 if earlier else same_section[0].lineno - 1), False, False
    if before:
        return before[-1].end_lineno or 0, True, False
    return tops[0].lineno - 1, False, True


def find_top_position(body: Sequence[ast.stmt], lines: Sequence[str]) -> tuple[int, bool, bool]:
    """Return the position in a module without imports: below its docstring, else below the comments at its top."""
    if body and is_string(body[0]):
        return body[0].end_lineno or 0, False, False
    comments = sum(1 for _ in takewhile(lambda line: line.startswith("#"), lines))
    return comments, bool(comments), False


def insert_below(text: str, block: str, line: int) -> str:
    """Return ``text`` with a block and a blank line below a line, or at the top if ``line`` is 0."""
    lines = text.split("\n")
    lines[line:line] = ["", *block.split("\n")] if line else [*block.split("\n"), ""]
    return "\n".join(lines)


def _isort_module_key(module: str, is_from: bool, first_party: str) -> tuple[int, bool, str]:
    package = module.split(".")[0]
    if module == "__future__":
        return (0, is_from, module)
    rank = 1 if package in sys.stdlib_module_names else 3 if package == first_party else 2
    return (rank, is_from, module.lower())


def isort_name_key(name: str) -> tuple[int, str]:
    """Return the key of isort's ``order_by_type``: CONSTANTS, then Classes, then the rest."""
    if re.fullmatch(r"[A-Z0-9_]+", name) and len(name) > 1:
        return (0, name)
    return (1, name) if name[:1].isupper() else (2, name)
