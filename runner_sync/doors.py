"""Lazy imports for a package: each name is imported from its submodule on first access.

Comes in: a package's name, and the submodule that defines each name. Goes out: the package's ``__getattr__`` (PEP 562).
May touch: nothing.

Lazy imports keep ``check``, which runs on every pull request, from loading libcst.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def part_loader(package: str, parts: Mapping[str, str]) -> Callable[[str], object]:
    """Return a ``__getattr__`` for ``package`` that imports each name from its submodule and raises ``AttributeError``
    for any other."""

    def load(name: str) -> object:
        if name not in parts:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{parts[name]}"), name)

    return load
