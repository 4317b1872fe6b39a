"""RS111 not-in-lock: units with a GPU twin that the lock has no GPU text of, or entries whose unit is gone.

What: `runner-sync lock` records every unit of an NPU module that has a GPU twin, with the text of the twin. An `info`
says that this module has more such units than the lock, or twins that were added later. A `warning` says that recorded
units are gone, or that the lock lost entries that it had where the branch began.

Example: `NPUARModelRunner` was renamed, and `extend-classes` says so. Every entry of the lock still names the old
class, so RS201 compared nothing any more.

Why: nobody is told when the GPU twin of such a unit changes. The run is green although it compared nothing.

Fix: `runner-sync lock` records the units as they are. Where an entry was removed by hand or by a merge, restore it from
git, because only the lock knows what the unit was synced to.

Leaves alone: (timid) new class-level fields and records, units without a GPU twin, new units where the lock was written
without the GPU side (`--no-gpu`), and everything where there is no lock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from runner_sync.listing import at_most
from runner_sync.model import Severity
from runner_sync.verify.hits import Hit, Span
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import find_definition
from runner_sync.verify.runners.unlocked import find_gone_units, has_gpu_entries, unlocked_twins

CODE = "RS111"
NAME = "not-in-lock"
SEVERITY: Severity = "info"

_MOST = 4
"""The most names that one sentence lists."""


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per module, at its main class."""
    lost, gone = _find_lost_entries(subject), find_gone_units(subject)
    twins = unlocked_twins(subject) if lost or has_gpu_entries(subject) else ()
    new = [name for name, _ in twins]
    if not new and not gone and not lost:
        return
    severity: Severity = "warning" if gone or lost else SEVERITY
    with_entry = {entry.qualname for entry in subject.module.entries}
    problems = {
        "no entry": [name for name in new if name not in with_entry],
        "no GPU text": [name for name in new if name in with_entry],
        "entries": gone,
    }
    parts = [f"has {what} of {_list_names(names)}" for what, names in problems.items() if names]
    effect = "so changes on the GPU side are not reported" if new else "which the module does not have"
    remedy = f"Bring back from git what it said of {_list_names(lost)}, or record" if lost else "Record"
    state = hashlib.sha256(" ".join([severity, *new, *gone]).encode()).hexdigest()[:12]
    symbol, line = _locate_main_class(subject)
    hit = subject.npu.hit_lines(
        (CODE, severity),
        (line, line),
        symbol=symbol,
        message=f"`{subject.profile.lock_file}` {' and '.join(parts)}, {effect}.",
        fix=f"{remedy} the units as they are: `runner-sync lock`.",
        unit=symbol,
    )
    yield Hit(replace(hit.finding, state=state), tuple(_find_spans(subject, twins)))


def _find_lost_entries(subject: Subject) -> list[str]:
    """Return units with a GPU twin whose entry or GPU text was lost since the branch began."""
    before = subject.before.module.entries if subject.before is not None else ()
    now = {entry.qualname for entry in subject.module.entries}
    known = {entry.qualname for entry in before if entry.gpu is not None or entry.qualname not in now}
    return [name for name, _ in unlocked_twins(subject) if name in known]


def _locate_main_class(subject: Subject) -> tuple[str, int]:
    """Return the name and line of the module's main class."""
    runner = subject.runner
    head = subject.npu.classes.get(runner.name) if runner is not None else None
    return (head.name, head.node.lineno) if head is not None else ("<module>", 1)


def _find_spans(subject: Subject, twins: Iterable[tuple[str, str]]) -> Iterator[Span]:
    """Yield the lines of the units and of their twins: a branch that touches them gets the finding."""
    for pair in twins:
        for reading, name in zip((subject.npu, subject.gpu), pair, strict=True):
            node = find_definition(reading, name) if reading is not None else None
            if reading is not None and node is not None:
                yield reading.span_of(node)


def _list_names(names: Sequence[str]) -> str:
    return at_most(_MOST, [f"`{name}`" for name in names])
