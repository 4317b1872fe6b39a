"""Describe what a run of ``upgrade``, ``lock`` or ``hoist`` would do.

Comes in: a ``ModuleResult`` for each module. Goes out: an ``Upgrade``, changes and figures for the report. May touch:
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runner_sync.model import FileChange, Report
from runner_sync.units import texts
from runner_sync.upgrade import ModuleResult


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What a run would do.

    Paths are relative to ``root``, which is ``None`` without a folder to write to. ``patch`` has the changes and that
    of the lock, with the line endings of the files on disk.
    """

    report: Report
    changes: tuple[FileChange, ...]
    root: Path | None
    lock: FileChange | None = None
    patch: tuple[FileChange, ...] = ()


def discard_changes(result: ModuleResult) -> ModuleResult:
    """Return the result without its changes, for ``lock``: only what each unit was last synced to.

    Drops members and classes that an upgrade would add or ask about, because they are not units yet.
    """
    there = texts.unit_texts(result.before, result.path)
    units = [unit for unit in result.units if unit.unit in there]
    return replace(
        result,
        after=result.before,
        reviews=(),
        decided={},
        units=tuple(replace(unit, outcome="unchanged", taken=0, ported=0, hunks=()) for unit in units),
        synced={unit.unit: (unit.base, unit.gpu) for unit in units if unit.base or unit.gpu},
    )


def collect_changes(results: Sequence[ModuleResult]) -> tuple[FileChange, ...]:
    """Return the changes of the files that differ."""
    return tuple(FileChange(r.path, r.before or None, r.after) for r in results if r.before != r.after)


def summarise(results: Sequence[ModuleResult]) -> dict[str, int | str]:
    """Return the figures of a run for the summary of its report."""
    units = [unit for result in results for unit in result.units]
    outcomes = Counter(unit.outcome for unit in units)
    return {
        "units": len(units),
        **{name: outcomes[name] for name in ("updated", "added", "removed", "unchanged")},
        "taken_lines": sum(unit.taken for unit in units),
        "ported_lines": sum(unit.ported for unit in units),
        "reviews": sum(len(result.reviews) for result in results),
    }
