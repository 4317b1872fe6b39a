"""Resolves what a name means in an omni file: an omni class, something from outside, or unknown.

Comes in: a `Reading`, a base expression or a name as written, and functions that return modules and classes. Goes out:
a `Meaning`. May touch: nothing.
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
    """The omni class that a name means, if any. ``is_open``: it may mean an omni class that cannot be followed."""

    found: ClassText | None = None
    is_open: bool = False


_OUTSIDE = Meaning()
_OPEN = Meaning(is_open=True)


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Resolves names in the files of one package, which ``module`` reads by dotted name."""

    package: str
    module: Callable[[str], Reading | None]
    _known: dict[tuple[str, str], Meaning] = field(default_factory=dict)

    def meaning(self, reading: Reading, name: ast.expr | str) -> Meaning:
        """Return what a base expression or a name means at the top level of ``reading``.

        A name is ``a`` or ``a.b.c``; ``""`` stands for any other expression.
        """
        key = (reading.path, name if isinstance(name, str) else ast.unparse(name))
        if key not in self._known:
            found = followed(Reference(reading, name), self._find_meanings)
            # A name that nothing binds means no class.
            self._known[key] = _choose_meaning(meaning for meaning, _ in found)
        return self._known[key]

    def _find_meanings(self, reading: Reading, name: str) -> Iterator[tuple[_Step, str]]:
        for step in self._find_steps(reading, name):
            yield step, ""

    def _find_steps(self, reading: Reading, name: str) -> Iterator[_Step]:
        """Yield what one file says about a name."""
        head, _, rest = name.partition(".")
        if not name:
            yield _OPEN
        elif not rest and (own := reading.classes.get(name)) is not None:
            yield Meaning(own)
        elif imported := reading.imports.get(head):
            yield from (self._follow_import(_extend_import(origin, rest) if rest else origin) for origin in imported)
        elif hasattr(builtins, name):
            yield _OUTSIDE
        elif values := reading.values.get(head):
            yield from self._follow_assignments(reading, values, rest)
        elif not rest:
            yield from self._follow_stars(reading, name)

    def _follow_import(self, origin: Import) -> _Step:
        if origin.module.partition(".")[0] != self.package or not origin.name:
            return _OUTSIDE
        source = self.module(origin.module)
        return Reference(source, origin.name, _OPEN) if source is not None else _OPEN

    def _follow_assignments(self, reading: Reading, values: list[ast.expr], rest: str) -> Iterator[_Step]:
        for part, _ in (alternative for value in values for alternative in alternatives(value)):
            name = dotted_name(part)
            yield Reference(reading, f"{name}.{rest}" if name and rest else name or "")

    def _follow_stars(self, reading: Reading, name: str) -> Iterator[_Step]:
        for star in reading.imports.get("*", ()):
            if star.module.partition(".")[0] == self.package:
                source = self.module(star.module)
                yield Reference(source, name) if source is not None else _OPEN


_Step = Meaning | Reference[Reading, Meaning]


def _choose_meaning(meanings: Iterator[Meaning]) -> Meaning:
    """Return the first meaning that is an omni class; else open if any is open, else outside."""
    is_open = False
    for meaning in meanings:
        if meaning.found is not None:
            return meaning
        is_open = is_open or meaning.is_open
    return _OPEN if is_open else _OUTSIDE


def _extend_import(origin: Import, rest: str) -> Import:
    """Return the import that binds ``rest`` of what ``origin`` imports: ``c`` of ``b`` in ``from a import b``."""
    module, _, name = f"{origin.dotted}.{rest}".rpartition(".")
    return Import(module, name, name)
