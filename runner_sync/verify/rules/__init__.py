"""One module per rule: `CODE`, `NAME`, `SEVERITY` and one pure `find`. `runner-sync rule` prints the docstring."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType


def load(names: Iterable[str]) -> tuple[ModuleType, ...]:
    """Import the rules by the names of their modules."""
    return tuple(import_module(f"{__name__}.{name}") for name in names)
