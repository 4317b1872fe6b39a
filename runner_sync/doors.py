"""The door of a room: names that are imported from its parts when they are first asked for.

Comes in: a package's name, and the part that has each name. Goes out: the package's ``__getattr__`` (PEP 562). May
touch: nothing. Who asks for one part pays for no other: ``check``, run on every pull request, needs no libcst.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def part_loader(package: str, parts: Mapping[str, str]) -> Callable[[str], object]:
    """What gives a name that ``parts`` finds in a part of ``package``; ``AttributeError`` for any other name."""

    def load(name: str) -> object:
        if name not in parts:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{parts[name]}"), name)

    return load
