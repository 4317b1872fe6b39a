"""Units with a GPU twin, those that the lock does not record, and entries whose unit is gone (RS111, RS201, RS208).

Comes in: a `Subject`. Goes out: names. May touch: nothing. Only functions and methods of the twin classes are looked
at: a lock records each of them that has a GPU twin.
"""

from __future__ import annotations

from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import definition, text_hash
from runner_sync.verify.runners.reading import Reading


def unlocked_twins(subject: Subject) -> tuple[tuple[str, str], ...]:
    """NPU and GPU name of every unit that both sides define and for which the lock records no GPU text."""
    return subject.answers.once(unlocked_twins, lambda: _unlocked_twins(subject))


def _unlocked_twins(subject: Subject) -> tuple[tuple[str, str], ...]:
    if _is_inferred(subject):
        return ()
    locked = {entry.qualname for entry in subject.module.entries if entry.gpu is not None}
    return tuple((name, twin) for name, twin in twin_units(subject) if name not in locked)


def twin_units(subject: Subject) -> tuple[tuple[str, str], ...]:
    """NPU and GPU name of every function and method of the twin classes that both sides define."""
    gpu = subject.gpu
    if gpu is None:
        return ()
    names = [f"{npu.name}.{member}" for _, npu in subject.twins for member in npu.methods]
    pairs = [(name, subject.profile.gpu_name(name)) for name in (*names, *subject.npu.functions)]
    return tuple((name, twin) for name, twin in pairs if definition(gpu, twin) is not None)


def records_gpu(subject: Subject) -> bool:
    """Whether the lock records any GPU text; one that was written with ``--no-gpu`` does not."""
    return any(entry.gpu is not None for module in subject.job.modules for entry in module.entries)


def units_gone(subject: Subject) -> tuple[str, ...]:
    """The units that have an entry in the lock and are not in the module any more."""
    names = (entry.qualname for entry in subject.module.entries if not _is_inferred(subject))
    return tuple(name for name in names if not has_unit(subject.npu, name))


def _is_inferred(subject: Subject) -> bool:
    """Whether there is no lock, and the entries were inferred instead; such entries exist for copies only."""
    entries = (entry for module in subject.job.modules for entry in module.entries)
    return any(entry.upstream is not None and entry.upstream.how == "inferred" for entry in entries)


def has_unit(reading: Reading, name: str) -> bool:
    """Whether there is a unit of that name; only where no common kind of unit has it, the whole module is split."""
    return bool(text_hash(reading, name)) or name in reading.units
