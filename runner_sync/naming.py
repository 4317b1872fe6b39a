"""Dotted names of modules, the files that they stand in, and what imports bind of them.

Comes in: paths relative to a tree, names as imports say them, and import statements. Goes out: names, paths and
``Import`` values. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.model import PACKAGES, Project

_PROJECTS: dict[str, Project] = {package: project for project, package in PACKAGES.items()}


def module_name(path: str) -> str:
    """The name of the module at ``path``; a package's ``__init__.py`` goes by the name of the package."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def paths_of(name: str) -> tuple[str, str]:
    """Where a module of that name stands: as a file, or as a package's ``__init__.py``."""
    stem = name.replace(".", "/")
    return f"{stem}.py", f"{stem}/__init__.py"


def project_of(name: str) -> Project | None:
    """The project that a module or name belongs to, ``None`` for what no tree of ours holds."""
    return _PROJECTS.get(name.partition(".")[0])


def absolute(name: str, importer: str, *, is_package: bool = False) -> str:
    """The module that ``importer`` means by ``name``, which may begin with dots (PEP 328).

    ``is_package`` is whether ``importer`` is a package's ``__init__``. Dots that lead out of the tree, and those of an
    importer whose name is not known (empty), stay as they are.
    """
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    if not level:
        return name
    around = importer.split(".")
    package = around[: max(len(around) - level + is_package, 0)]
    return ".".join([*package, bare] if bare else package) if package and importer else name


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
        is_named_alike = self.dotted.rpartition(".")[2] == than.dotted.rpartition(".")[2]
        return self.dotted != than.dotted and not (is_named_alike and bool(self.name) == bool(than.name))

    @property
    def dotted(self) -> str:
        """The dotted name of what is bound."""
        if self.binds_package:
            return self.bound
        return f"{self.module}.{self.name}" if self.name else self.module

    @property
    def item(self) -> str:
        return self.name if self.name == self.bound else f"{self.name} as {self.bound}"


def imported_by(statement: ast.Import | ast.ImportFrom, path: str = "") -> Iterator[Import]:
    """What an import binds, name by name; in the module at ``path``, where that is told, without leading dots."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield Import(alias.name, "", alias.asname or alias.name.split(".")[0])
        return
    module = "." * statement.level + (statement.module or "")
    module = absolute(module, module_name(path), is_package=path.endswith("/__init__.py")) if path else module
    for alias in statement.names:
        yield Import(module, alias.name, alias.asname or alias.name)
