"""RS111 not-in-lock: units with a GPU twin that the lock has no GPU text of, or entries whose unit is gone.

What: `runner-sync lock` records every unit of an NPU module that has a GPU twin, with the text of that. This module has
more than are recorded (an `info`), also where the twin came later; has fewer, or has lost what stood in the lock where
the branch began (a `warning`).

Example: `NPUARModelRunner` was renamed, and `extend-classes` says so. Every entry of the lock still names the old
class, and RS201 compared nothing any more.

Why: a change of the GPU twin of such a unit is told to nobody. The run is green where it has not looked.

Fix: `runner-sync lock` records the units as they are; where an entry was taken out by hand or by a merge, bring it back
from git, for the lock alone knows what the unit was synced to.

Leaves alone: (timid) class-level fields and records that are new, units without a GPU twin, what is new where the lock
was written without the GPU side (`--no-gpu`), and everything where there is no lock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from runner_sync.listing import at_most
from runner_sync.model import Severity
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import definition
from runner_sync.verify.runners.reading import Hit, Span
from runner_sync.verify.runners.unlocked import records_gpu, units_gone, unlocked_twins

CODE = "RS111"
NAME = "not-in-lock"
SEVERITY: Severity = "info"

_MOST = 4
"""Names that one sentence lists."""


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per module, at its class."""
    lost, gone = _entries_lost(subject), units_gone(subject)
    twins = unlocked_twins(subject) if lost or records_gpu(subject) else ()
    new = [name for name, _ in twins]
    if not new and not gone and not lost:
        return
    severity: Severity = "warning" if gone or lost else SEVERITY
    half = {entry.qualname for entry in subject.module.entries}
    named = {
        "no entry": [name for name in new if name not in half],
        "no GPU text": [name for name in new if name in half],
        "entries": gone,
    }
    said = [f"has {what} of {_listed(names)}" for what, names in named.items() if names]
    effect = "so nobody is told of a change of the GPU side" if new else "which the module does not have"
    mend = f"Bring back from git what it said of {_listed(lost)}, or record" if lost else "Record"
    state = hashlib.sha256(" ".join([severity, *new, *gone]).encode()).hexdigest()[:12]
    symbol, line = _head(subject)
    hit = subject.npu.hit_lines(
        (CODE, severity),
        (line, line),
        symbol=symbol,
        message=f"`{subject.profile.lock_file}` {' and '.join(said)}, {effect}.",
        fix=f"{mend} the units as they are: `runner-sync lock`.",
        unit=symbol,
    )
    yield Hit(replace(hit.finding, state=state), tuple(_spans(subject, twins)))


def _entries_lost(subject: Subject) -> list[str]:
    """Units with a GPU twin that had an entry where the branch began, and have none now, or none of the GPU text."""
    before = subject.before.module.entries if subject.before is not None else ()
    now = {entry.qualname for entry in subject.module.entries}
    known = {entry.qualname for entry in before if entry.gpu is not None or entry.qualname not in now}
    return [name for name, _ in unlocked_twins(subject) if name in known]


def _head(subject: Subject) -> tuple[str, int]:
    """Name and line of the module's main class."""
    runner = subject.runner
    head = subject.npu.classes.get(runner.name) if runner is not None else None
    return (head.name, head.node.lineno) if head is not None else ("<module>", 1)


def _spans(subject: Subject, twins: Iterable[tuple[str, str]]) -> Iterator[Span]:
    """The lines of the units and of their twins: a branch that touches them gets the finding."""
    for pair in twins:
        for reading, name in zip((subject.npu, subject.gpu), pair, strict=True):
            node = definition(reading, name) if reading is not None else None
            if reading is not None and node is not None:
                yield reading.span_of(node)


def _listed(names: Sequence[str]) -> str:
    return at_most(_MOST, [f"`{name}`" for name in names])
