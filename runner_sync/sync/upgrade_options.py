"""Define the parsed options of an upgrade and of a replay, which ``cli`` makes and ``sync`` reads.

Comes in: option values. Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner_sync.sync.options import Progress, RunOptions, silent

Conflict = Literal["resolve", "inline"]


@dataclass(frozen=True, slots=True)
class UpgradeOptions(RunOptions):
    """Options of ``upgrade``; ``gpu`` and ``upstream`` say whose changes to merge.

    With ``isolates``, a mistake of this program in one unit is a question about that unit.
    """

    out: Path | None = None
    only: tuple[str, ...] = ()
    conflict: Conflict = "resolve"
    allow_dirty: bool = False
    gpu: bool = True
    upstream: bool = True
    verify: bool = True
    isolates: bool = False


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Options of ``replay``: without ``cases`` all cases are replayed, and ``hunks`` hunks are listed per case."""

    cases: tuple[str, ...] = ()
    corpus: Path | None = None
    gpu: bool = True
    hunks: int = 3
    progress: Progress = silent
