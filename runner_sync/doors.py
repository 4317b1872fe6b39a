"""Lazy imports for a package: each name is imported from its submodule on first access.

Comes in: a package's name, and the names that each of its submodules defines. Goes out: the package's ``__getattr__``
(PEP 562). May touch: nothing.

Lazy imports keep ``check``, which runs on every pull request, from loading libcst.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def part_loader(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return a ``__getattr__`` for ``package`` that imports each name from its submodule and raises ``AttributeError``
    for any other.

    ``modules`` maps each submodule to the names that it defines, separated by blanks.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
