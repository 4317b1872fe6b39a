"""Reads what a module imports, as values.

Comes in: module text and statements. Goes out: ``Import`` values. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from runner_sync.naming import Import, imported_by
from runner_sync.syntax import Try, module_of


@lru_cache(maxsize=256)
def read_imports(text: str, path: str = "") -> Mapping[str, Import]:
    """Return ``{bound name: Import}`` of every module-level import, under ``if`` and ``try`` too; the first one wins.

    With the ``path`` of the module, relative imports are made absolute, so that any other module can make them.
    """
    found: dict[str, Import] = {}
    for statement in import_statements(module_of(text).body):
        for entry in imported_by(statement, path):
            found.setdefault(entry.bound, entry)
    return found


def list_always_imported(text: str) -> frozenset[str]:
    """Return the names that a module imports outside of every ``if`` and ``try``."""
    body = module_of(text).body
    statements = [one for one in body if isinstance(one, IMPORTS)]
    return frozenset(entry.bound for one in statements for entry in imported_by(one))


IMPORTS = (ast.Import, ast.ImportFrom)


def import_statements(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports of a suite, under ``if`` and ``try`` too."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If):
            yield from import_statements([*statement.body, *statement.orelse])
        elif isinstance(statement, Try):
            yield from import_statements(
                [*statement.body, *(s for h in statement.handlers for s in h.body), *statement.orelse]
            )
