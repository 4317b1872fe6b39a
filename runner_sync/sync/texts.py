"""Members of classes as texts, memoised per module text.

Comes in: module text. Goes out: ``{name: text}`` maps in file order. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as replaced
from functools import lru_cache

from runner_sync.errors import InputError
from runner_sync.lock import FILE_NAME, digest
from runner_sync.model import BaseRef
from runner_sync.units import (
    Base,
    Module,
    class_bases,
    has_class,
    join,
    record_classes,
    replace,
    split,
    units,
)


def parsed(text: str, path: str = "") -> Module:
    """``split`` once per text, whatever ``path`` it goes by. Raises ``InputError`` that names the path."""
    try:
        return replaced(_parsed(text), path=path)
    except InputError:
        return split(text, path=path)


@lru_cache(maxsize=512)
def _parsed(text: str) -> Module:
    return split(text)


@lru_cache(maxsize=512)
def unit_texts(text: str, path: str = "") -> Mapping[str, str]:
    """``{qualname: text}`` of methods, functions, fields and record classes (whole) of a module."""
    module = parsed(text, path)
    whole = frozenset(record_classes(module))
    kinds = ("method", "function", "field")
    return {
        unit.qualname: unit.text
        for unit in units(module, whole=whole)
        if unit.kind in kinds or (unit.kind == "class" and unit.qualname in whole)
    }


def members(text: str, class_name: str, path: str = "") -> dict[str, str]:
    """``{member name: text}`` of one class, without the class's name."""
    prefix = f"{class_name}."
    return {name[len(prefix) :]: body for name, body in unit_texts(text, path).items() if name.startswith(prefix)}


def edited(text: str, edits: Mapping[str, str | None]) -> str:
    """``text`` with some of its units exchanged."""
    module = parsed(text)
    return join(replace(module, edits, whole=frozenset(record_classes(module))))


def whole_definitions(text: str) -> dict[str, str]:
    """``{name: text}`` of module-level functions and classes, each class as one text."""
    module = parsed(text)
    return {piece.name: piece.text for piece in module.pieces if piece.kind in ("class", "function")}


@lru_cache(maxsize=512)
def outside_definitions(text: str, path: str = "") -> str:
    """What a module does at its top level, its functions and classes left out."""
    return "".join(piece.text for piece in parsed(text, path).pieces if piece.kind not in ("class", "function"))


@lru_cache(maxsize=512)
def bases_of(text: str, class_name: str) -> tuple[Base, ...]:
    """The bases of a class, empty when the module does not define it."""
    module = parsed(text)
    return class_bases(module, class_name) if has_class(module, class_name) else ()


def unlike_locked(references: Iterable[BaseRef], text: str, path: str) -> str:
    """The first unit that reads otherwise in ``text`` than what was locked, or an empty string.

    A revision that is named by a folder or by a branch can be another one by now.
    """
    units_ = unit_texts(text, path)
    names = ((one.qualname, one.digest) for one in references if one.qualname in units_)
    return next((name for name, locked in names if digest(units_[name]) != locked), "")


ANEW = "make it anew with `runner-sync lock`, or name the base by option"


def require_locked(references: Sequence[BaseRef], text: str, path: str) -> None:
    """Raises ``InputError`` when ``text`` is another one than what was locked under the ref of the ``references``."""
    if name := unlike_locked(references, text, path):
        where = f"{references[0].project} {references[0].ref}"
        raise InputError(f"{FILE_NAME} was made with another {name} than {where} has now: {ANEW}.")


def dotted(path: str) -> str:
    """The dotted name of the module at ``path``."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
