"""What a name means in an omni file: a class of omni's, something from outside, or nobody knows.

Comes in: a `Reading`, a name as it is written, and functions that give modules and classes. Goes out: a `Meaning`. May
touch: nothing. A file in which the name is plainly a class or an import is not parsed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from runner_sync.naming import Import
from runner_sync.verify.runners.reading import ClassText, Reading, dotted


class Meaning(NamedTuple):
    """A class of omni's, if the name means one. ``is_open``: it may mean one that cannot be followed."""

    found: ClassText | None = None
    is_open: bool = False


_OUTSIDE = Meaning()
_OPEN = Meaning(is_open=True)
_Seen = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """The names of the files of one package. ``module`` reads one by its dotted name; ``class_in`` and ``origins`` find
    the class of a name in a file, and its imports."""

    package: str
    module: Callable[[str], Reading | None]
    class_in: Callable[[Reading, str], ClassText | None]
    origins: Callable[[Reading, str], list[Import]]
    _known: dict[tuple[str, str], Meaning] = field(default_factory=dict)

    def meaning(self, reading: Reading, name: str) -> Meaning:
        """What ``name`` (``a`` or ``a.b.c``; ``""`` for any other expression) means at the top level of ``reading``."""
        key = (reading.path, name)
        if key not in self._known:
            # What nothing binds is no class that could be followed anywhere.
            self._known[key] = self._of(reading, name, frozenset()) or _OUTSIDE
        return self._known[key]

    def _of(self, reading: Reading, name: str, seen: _Seen) -> Meaning | None:
        """The meaning of a name, ``None`` where nothing in the file binds it."""
        if not name or (reading.path, name) in seen:
            return None if name else _OPEN
        head, _, rest = name.partition(".")
        inner = seen | {(reading.path, name)}
        if rest:
            return _first(self._imported(_member(origin, rest), inner) for origin in self.origins(reading, head))
        own = self.class_in(reading, name)
        if own is not None:
            return Meaning(own)
        found = _first(self._imported(origin, inner) for origin in self.origins(reading, name))
        if found is None and hasattr(builtins, name):
            return _OUTSIDE
        return found or self._assigned(reading, name, inner) or self._from_stars(reading, name, inner)

    def _imported(self, origin: Import, seen: _Seen) -> Meaning | None:
        if origin.module.partition(".")[0] != self.package or not origin.name:
            return _OUTSIDE
        source = self.module(origin.module)
        return (self._of(source, origin.name, seen) if source is not None else None) or _OPEN

    def _assigned(self, reading: Reading, name: str, seen: _Seen) -> Meaning | None:
        values = (part for value in reading.values(name) for part in _branches(value))
        return _first(self._of(reading, dotted(value), seen) for value in values)

    def _from_stars(self, reading: Reading, name: str, seen: _Seen) -> Meaning | None:
        stars = [origin for origin in self.origins(reading, "*") if origin.module.partition(".")[0] == self.package]
        sources = [self.module(star.module) for star in stars]
        found = _first(self._of(source, name, seen) for source in sources if source is not None)
        return found or (_OPEN if None in sources else None)


def _first(meanings: Iterator[Meaning | None]) -> Meaning | None:
    """The first that is a class of omni's; else one that may be, or one from outside."""
    known = []
    for meaning in meanings:
        if meaning is not None and meaning.found is not None:
            return meaning
        known.append(meaning)
    return next((m for m in known if m is not None and m.is_open), next((m for m in known if m is not None), None))


def _member(origin: Import, rest: str) -> Import:
    """The import that binds what ``rest`` is in what ``origin`` imports: ``from a import b`` and ``c`` of ``b.c``."""
    module, _, name = f"{origin.dotted}.{rest}".rpartition(".")
    return Import(module, name, name)


def _branches(value: ast.expr) -> list[ast.expr]:
    return [*_branches(value.body), *_branches(value.orelse)] if isinstance(value, ast.IfExp) else [value]
