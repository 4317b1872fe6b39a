"""The door of a room: names that are imported from its parts when they are first asked for.

Comes in: a package's name, and for each name the part that defines it. Goes out: the package's ``__getattr__``
(PEP 562). May touch: nothing. No part is imported before it is used: ``check``, run on every pull request, needs no
libcst.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def part_loader(package: str, parts: Mapping[str, str]) -> Callable[[str], object]:
    """A ``__getattr__`` for ``package``: imports each name from its part; raises ``AttributeError`` for any other."""

    def load(name: str) -> object:
        if name not in parts:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{parts[name]}"), name)

    return load
