"""Dotted module names, the file paths of modules, and the names that imports bind.

Comes in: paths relative to a tree, module names as written in imports, and import statements. Goes out: dotted names,
paths and ``Import`` values. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.model import PACKAGES, Project

_PROJECTS: dict[str, Project] = {package: project for project, package in PACKAGES.items()}


def module_name(path: str) -> str:
    """Return the name of the module at ``path``; for ``__init__.py``, the name of the package."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def paths_of(name: str) -> tuple[str, str]:
    """Return the two possible paths of a module: its own file, or a package's ``__init__.py``."""
    stem = name.replace(".", "/")
    return f"{stem}.py", f"{stem}/__init__.py"


def project_of(name: str) -> Project | None:
    """Return the project whose package a dotted name begins with; ``None`` for any other package."""
    return _PROJECTS.get(name.partition(".")[0])


def absolute(name: str, importer: str, *, is_package: bool = False) -> str:
    """Return the full name of the module that ``name``, which may begin with dots (PEP 328), means in ``importer``.

    ``is_package``: ``importer`` is a package's ``__init__``. ``name`` is returned unchanged if its dots lead out of the
    tree, or if the importer is unknown (empty).
    """
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    if not level:
        return name
    parts = importer.split(".")
    package = parts[: max(len(parts) - level + is_package, 0)]
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
        """Whether this is an ``import a.b``, which binds ``a``: what is then read from ``a`` may be another module."""
        return not self.name and self.bound != self.module and self.bound == self.module.split(".")[0]

    def means_other(self, other: Import) -> bool:
        """Whether this import certainly binds something other than ``other``.

        Either the dotted names end differently, or one binds a module and one a member. The same name in another module
        may be the same object or its replacement.
        """
        is_named_alike = self.dotted.rpartition(".")[2] == other.dotted.rpartition(".")[2]
        return self.dotted != other.dotted and not (is_named_alike and bool(self.name) == bool(other.name))

    @property
    def dotted(self) -> str:
        """The full dotted name of the bound object."""
        return self.bound if self.binds_package else self.source

    @property
    def source(self) -> str:
        """The full dotted name of the module or member that is imported."""
        return f"{self.module}.{self.name}" if self.name else self.module

    @property
    def item(self) -> str:
        return self.name if self.name == self.bound else f"{self.name} as {self.bound}"


def imported_by(statement: ast.Import | ast.ImportFrom, path: str = "") -> Iterator[Import]:
    """Yield what an import statement binds. If the ``path`` of the importing module is given, leading dots are
    resolved."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield Import(alias.name, "", alias.asname or alias.name.split(".")[0])
        return
    module = "." * statement.level + (statement.module or "")
    module = absolute(module, module_name(path), is_package=path.endswith("/__init__.py")) if path else module
    for alias in statement.names:
        yield Import(module, alias.name, alias.asname or alias.name)
