"""What to do after an upgrade was written: settle the review items, check, commit.

Comes in: the report of an upgrade and the paths written. Goes out: text for a person. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from runner_sync.model import Report, Source, UnitReport

_MOST_UNITS = 12


def advise(report: Report, paths: Sequence[str], *, root: Path, target: str) -> str:
    """The steps that are left to a person. ``target`` are the options that name the trees, for the next command."""
    steps = [*_review(report, root), f"look again: runner-sync verify --omni-path {root}{target}", _commit(report)]
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    numbered = "\n".join(f"  {number}. {step}" for number, step in enumerate(steps, start=1))
    return f"\nWrote {files} below {root}. What is left:\n{numbered}"


def _review(report: Report, root: Path) -> list[str]:
    number = len(report.reviews)
    if not number:
        return []
    files = sorted({str(root / item.path) for item in report.reviews})
    items = "1 review item" if number == 1 else f"{number} review items"
    found = "".join(f"\n       {file}" for file in files)
    return [f"settle {items}: search for `runner-sync: review`, decide, delete the comment{found}"]


def _commit(report: Report) -> str:
    message = "\n".join(f"       {line}".rstrip() for line in suggest_commit(report).split("\n"))
    return f"commit with sign-off (git commit -s), for example as\n\n{message}"


def suggest_commit(report: Report) -> str:
    """A commit message: ``[NPU] Upgrade to vX.Y.Z``, what came from vllm-ascend and what was synced from GPU."""
    ascend = _target(report.inputs, "vllm-ascend")
    omni = _target(report.inputs, "vllm-omni")
    title = f"[NPU] Upgrade to {_version(ascend)}" if ascend else "[NPU] Sync with the GPU runners"
    taken = [unit for unit in report.units if unit.taken or unit.removed or unit.outcome == "removed"]
    ported = [unit for unit in report.units if unit.ported]
    parts = [title]
    if ascend and taken:
        parts.append(f"From vllm-ascend {ascend.ref}:\n{_listed(taken)}")
    if ported:
        parts.append(f"Synced from the GPU runners{f' of vllm-omni {omni.ref}' if omni else ''}:\n{_listed(ported)}")
    return "\n\n".join(parts)


def _target(inputs: Sequence[Source], project: str) -> Source | None:
    found = [source for source in inputs if source.project == project]
    return found[-1] if found else None


def _version(source: Source) -> str:
    name = source.version or source.ref
    return f"v{name}" if re.match(r"\d", name) and source.version else name


def _listed(units: Sequence[UnitReport]) -> str:
    names = [f"- {unit.unit}{' (removed)' if unit.outcome == 'removed' else ''}" for unit in units]
    rest = len(names) - _MOST_UNITS
    return "\n".join([*names[:_MOST_UNITS], *([f"- and {rest} more"] if rest > 0 else [])])
