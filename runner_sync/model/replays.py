"""Describe replayed upgrades.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One replayed upgrade and its score, as docs/how-it-works.md defines it.

    ``work`` and ``left`` count changed lines of unparsed code: what people changed, and what the tool left to change.
    ``effort_left`` is ``left / work``, and ``kept`` is the same over methods that both sides have. ``recall`` and
    ``precision`` are in 0…1, ``silent`` counts lines changed wrongly outside any review item, ``seconds`` is wall time.
    """

    case: str
    work: int
    left: int
    effort_left: float
    kept: float
    recall: float
    precision: float
    silent: int
    parses: bool
    reviews: int
    seconds: float


RATIOS = ("effort_left", "kept", "recall", "precision")
"""The fields of a `ReplayRow` of which reports give the mean."""


def mean_ratios(rows: Sequence[ReplayRow]) -> dict[str, float]:
    """Return the mean of each of the `RATIOS`, by name; empty without rows."""
    return {name: sum(getattr(row, name) for row in rows) / len(rows) for name in RATIOS} if rows else {}


@dataclass(frozen=True, slots=True)
class ReplayHunk:
    """A run of lines in which a replayed file still differs from the released one.

    ``side`` is ``tool`` (only the tool wrote it) or ``truth`` (only people did); ``lines`` is the number of lines.
    """

    case: str
    path: str
    side: str
    lines: int
    text: str
