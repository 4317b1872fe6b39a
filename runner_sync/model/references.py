"""Describe the text that a unit was copied from.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner_sync.model.words import How, Project


@dataclass(frozen=True, slots=True)
class BaseRef:
    """The upstream text that a unit was copied from, and how it was determined.

    ``similarity`` is in 0…1. ``also`` are further refs that the statements of a composite copy, or passages of the GPU
    twin, come from. ``helpers`` are the twin's helpers that the unit has in place, as ``NAME@HASH``.
    """

    project: Project
    ref: str
    path: str
    qualname: str
    how: How
    similarity: float
    digest: str = ""
    also: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
