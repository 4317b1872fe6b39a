"""What a name means in an omni file: a class of omni's, something from outside, or nobody knows.

Comes in: a `Reading`, a base expression or a name as it is written, and functions that give modules and classes. Goes
out: a `Meaning`. May touch: nothing. A file in which the name is plainly a class or an import is not parsed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from runner_sync.naming import Import
from runner_sync.references import Reference, alternatives, followed
from runner_sync.syntax import dotted_name
from runner_sync.verify.runners.reading import ClassText, Reading


class Meaning(NamedTuple):
    """A class of omni's, if the name means one. ``is_open``: it may mean one that cannot be followed."""

    found: ClassText | None = None
    is_open: bool = False


_OUTSIDE = Meaning()
_OPEN = Meaning(is_open=True)


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """The names of the files of one package. ``module`` reads one by its dotted name; ``class_in`` and ``origins`` find
    the class of a name in a file, and its imports."""

    package: str
    module: Callable[[str], Reading | None]
    class_in: Callable[[Reading, str], ClassText | None]
    origins: Callable[[Reading, str], list[Import]]
    _known: dict[tuple[str, str], Meaning] = field(default_factory=dict)

    def meaning(self, reading: Reading, name: ast.expr | str) -> Meaning:
        """What a base expression or a name (``a``, ``a.b.c``; ``""``: any other expression) means at the top level of
        ``reading``."""
        key = (reading.path, name if isinstance(name, str) else ast.unparse(name))
        if key not in self._known:
            found = followed(Reference(reading, name), self._meanings)
            # What nothing binds is no class that could be followed anywhere.
            self._known[key] = _first(meaning for meaning, _ in found)
        return self._known[key]

    def _meanings(self, reading: Reading, name: str) -> Iterator[tuple[_Step, str]]:
        for step in self._steps(reading, name):
            yield step, ""

    def _steps(self, reading: Reading, name: str) -> Iterator[_Step]:
        """What one file says about a name. What would have it parsed comes last."""
        head, _, rest = name.partition(".")
        if not name:
            yield _OPEN
        elif not rest and (own := self.class_in(reading, name)) is not None:
            yield Meaning(own)
        elif imported := self.origins(reading, head):
            yield from (self._imported(_member(origin, rest) if rest else origin) for origin in imported)
        elif hasattr(builtins, name):
            yield _OUTSIDE
        elif values := reading.values(head):
            yield from self._assigned(reading, values, rest)
        elif not rest:
            yield from self._from_stars(reading, name)

    def _imported(self, origin: Import) -> _Step:
        if origin.module.partition(".")[0] != self.package or not origin.name:
            return _OUTSIDE
        source = self.module(origin.module)
        return Reference(source, origin.name, _OPEN) if source is not None else _OPEN

    def _assigned(self, reading: Reading, values: list[ast.expr], rest: str) -> Iterator[_Step]:
        for part, _ in (alternative for value in values for alternative in alternatives(value)):
            name = dotted_name(part)
            yield Reference(reading, f"{name}.{rest}" if name and rest else name or "")

    def _from_stars(self, reading: Reading, name: str) -> Iterator[_Step]:
        for star in self.origins(reading, "*"):
            if star.module.partition(".")[0] == self.package:
                source = self.module(star.module)
                yield Reference(source, name) if source is not None else _OPEN


_Step = Meaning | Reference[Reading, Meaning]


def _first(meanings: Iterator[Meaning]) -> Meaning:
    """The first that is a class of omni's; else one that may be, or one from outside."""
    is_open = False
    for meaning in meanings:
        if meaning.found is not None:
            return meaning
        is_open = is_open or meaning.is_open
    return _OPEN if is_open else _OUTSIDE


def _member(origin: Import, rest: str) -> Import:
    """The import that binds what ``rest`` is in what ``origin`` imports: ``from a import b`` and ``c`` of ``b.c``."""
    module, _, name = f"{origin.dotted}.{rest}".rpartition(".")
    return Import(module, name, name)
