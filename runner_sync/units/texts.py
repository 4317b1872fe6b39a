"""Units of a module as texts; each module text is cut only once.

Comes in: module text, and its path for error messages. Goes out: ``{name: text}`` maps in file order. May touch:
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from runner_sync.errors import InputError
from runner_sync.model import Unit
from runner_sync.naming import Import
from runner_sync.references import Binding
from runner_sync.units import beside, listing
from runner_sync.units.bases import BaseClass, BaseOrigin, class_bases, find_origins, group_bindings
from runner_sync.units.listing import has_class
from runner_sync.units.pieces import Module
from runner_sync.units.splitting import parse, split


def parsed(text: str, path: str) -> Module:
    """Return ``split`` of the text, cached regardless of ``path``. An ``InputError`` names the path."""
    try:
        return replace(_split(text), path=path)
    except InputError:
        return split(text, path=path)


@lru_cache(maxsize=512)
def _split(text: str) -> Module:
    return split(text)


def unit_table(text: str, path: str) -> Mapping[str, Unit]:
    """Return `units.listing.unit_table` of a module, cached."""
    return _unit_table(text, path)


# Plain functions wrap the caches, because a type checker does not check the arguments of a cached function.
@lru_cache(maxsize=512)
def _unit_table(text: str, path: str) -> Mapping[str, Unit]:
    return listing.unit_table(parsed(text, path))


def unit_texts(text: str, path: str) -> Mapping[str, str]:
    """Return ``{qualname: text}`` of the units in ``unit_table``."""
    return _unit_texts(text, path)


@lru_cache(maxsize=512)
def _unit_texts(text: str, path: str) -> Mapping[str, str]:
    return {name: unit.text for name, unit in unit_table(text, path).items()}


def beside_units(text: str, path: str) -> Mapping[str, int]:
    """Return `units.beside.beside_units` of a module, cached."""
    return _beside_units(text, path)


@lru_cache(maxsize=512)
def _beside_units(text: str, path: str) -> Mapping[str, int]:
    return beside.beside_units(parsed(text, path), parse(text, path=path))


def members(text: str, class_name: str, path: str) -> dict[str, str]:
    """Return ``{member name: text}`` of one class."""
    return select_members(unit_texts(text, path), class_name)


def select_members(units: Mapping[str, str], class_name: str) -> dict[str, str]:
    """Select the members of one class from ``units``, by their plain names; none without a ``class_name``."""
    prefix = f"{class_name}."
    return {name.removeprefix(prefix): text for name, text in units.items() if name.startswith(prefix)}


def whole_definitions(text: str, path: str) -> dict[str, str]:
    """Return ``{name: text}`` of module-level functions and classes, each class as one text."""
    module = parsed(text, path)
    return {piece.name: piece.text for piece in module.pieces if piece.kind in ("class", "function")}


def outside_definitions(text: str, path: str) -> str:
    """Return the text of a module without its functions and classes."""
    return _outside_definitions(text, path)


@lru_cache(maxsize=512)
def _outside_definitions(text: str, path: str) -> str:
    return "".join(piece.text for piece in parsed(text, path).pieces if piece.kind not in ("class", "function"))


def origins_of(text: str, name: str, path: str) -> tuple[BaseOrigin, ...]:
    """Return the origins of a dotted name of a module, as in `class_bases`."""
    return find_origins(name, _bound_names(text, path))


def star_imports(text: str, path: str) -> tuple[str, ...]:
    """Return the modules, as written, from which a module imports ``*``."""
    found = _bound_names(text, path).get("*", ())
    return tuple(binding.to.module for binding in found if isinstance(binding.to, Import))


@lru_cache(maxsize=512)
def _bound_names(text: str, path: str) -> Mapping[str, list[Binding]]:
    return group_bindings(parsed(text, path))


def bases_of(text: str, class_name: str, path: str) -> tuple[BaseClass, ...]:
    """Return the bases of a class, or ``()`` if the module does not define it."""
    return _bases_of(text, class_name, path)


@lru_cache(maxsize=512)
def _bases_of(text: str, class_name: str, path: str) -> tuple[BaseClass, ...]:
    module = parsed(text, path)
    return class_bases(module, class_name) if has_class(module, class_name) else ()
