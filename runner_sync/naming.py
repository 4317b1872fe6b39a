"""Dotted names of modules, and the files that they stand in.

Comes in: paths relative to a tree, and names as imports say them. Goes out: names and paths. May touch: nothing.
"""

from __future__ import annotations

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
