"""What a module imports, as values.

Comes in: module text and statements. Goes out: ``Import`` values. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync.naming import absolute, module_name
from runner_sync.syntax import module_of


@dataclass(frozen=True, slots=True, order=True)
class Import:
    """``from module import name as bound`` (``name`` empty: ``import module``)."""

    module: str
    name: str
    bound: str

    def statement(self) -> str:
        if not self.name:
            alias = "" if self.bound in (self.module, self.module.split(".")[0]) else f" as {self.bound}"
            return f"import {self.module}{alias}"
        return f"from {self.module} import {self.item}"

    @property
    def binds_package(self) -> bool:
        """Whether it is an ``import a.b`` that binds ``a``, which says nothing of what is read of it."""
        return not self.name and self.bound != self.module and self.bound == self.module.split(".")[0]

    def means_other(self, than: Import) -> bool:
        """Whether the bound name surely is another thing than by ``than``: of another name, or a module by one of them
        and by the other not. The same name in another module may well be the same thing, or takes its place."""
        here, there = (one.module.split(".")[0] if one.binds_package else one._dotted for one in (self, than))
        is_named_alike = here.rpartition(".")[2] == there.rpartition(".")[2]
        return here != there and not (is_named_alike and bool(self.name) == bool(than.name))

    @property
    def _dotted(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module

    @property
    def item(self) -> str:
        return self.name if self.name == self.bound else f"{self.name} as {self.bound}"


@lru_cache(maxsize=256)
def imports(text: str) -> Mapping[str, Import]:
    """``{bound name: Import}`` of every import at module level, under ``if`` and ``try`` too; the first one wins."""
    found: dict[str, Import] = {}
    for statement in import_statements(module_of(text).body):
        for entry in entries_of(statement):
            found.setdefault(entry.bound, entry)
    return found


def absolute_imports(text: str, path: str) -> dict[str, Import]:
    """The same of the module at ``path`` as any other module can make them: without leading dots."""
    name, is_package = module_name(path), path.endswith("/__init__.py")
    return {
        bound: replace(entry, module=absolute(entry.module, name, is_package=is_package))
        for bound, entry in imports(text).items()
    }


def import_statements(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a suite, under ``if`` and ``try`` too."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If):
            yield from import_statements([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            yield from import_statements(
                [*statement.body, *(s for h in statement.handlers for s in h.body), *statement.orelse]
            )


def entries_of(statement: ast.Import | ast.ImportFrom) -> Iterator[Import]:
    """What a statement imports, name by name."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield Import(alias.name, "", alias.asname or alias.name.split(".")[0])
        return
    module = "." * statement.level + (statement.module or "")
    for alias in statement.names:
        yield Import(module, alias.name, alias.asname or alias.name)
