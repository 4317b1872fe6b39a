"""Describe units, blocks in them, and what an upgrade did to them.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner_sync.model.references import BaseRef
from runner_sync.model.words import Lineage, Outcome, Provenance, UnitKind


@dataclass(frozen=True, slots=True)
class Unit:
    """A method, class-level field, module-level definition, statement or import of one module.

    ``text`` is the exact source of lines ``start`` … ``end``, including decorators and leading comments. ``qualname``
    is ``Class.method`` for members, the bare name for module-level definitions.
    """

    path: str
    qualname: str
    kind: UnitKind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """Omni code inside a unit. ``marked`` is whether Omni-new markers enclose it."""

    path: str
    unit: str
    start: int
    end: int
    marked: bool
    label: str
    text: str
    names_used: tuple[str, ...] = ()
    names_defined: tuple[str, ...] = ()
    twin: str | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """The three texts of one unit. An empty text means that the unit does not exist there."""

    base: str
    omni: str
    upstream: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """A changed region of a written file, with its cause (a version, a commit, a GPU unit)."""

    line: int
    end_line: int
    provenance: Provenance
    cause: str


@dataclass(frozen=True, slots=True)
class UnitReport:
    """What ``upgrade`` did to one unit. ``taken``, ``ported``, ``kept`` and ``removed`` count statements.

    ``removed_for`` is the side whose change made a unit with the outcome "removed" needless.
    """

    unit: str
    path: str
    kind: Lineage
    outcome: Outcome
    base: BaseRef | None = None
    gpu: BaseRef | None = None
    taken: int = 0
    ported: int = 0
    kept: int = 0
    removed: int = 0
    blocks: int = 0
    hunks: tuple[Hunk, ...] = ()
    removed_for: Provenance = "upstream"
