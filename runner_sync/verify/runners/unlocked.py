"""Finds what the lock does not record of units with a GPU twin, and entries whose unit is gone (RS111, RS201, RS208).

Comes in: a `Subject`. Goes out: names. May touch: nothing. Looks only at functions and at methods of the twin classes,
because a lock records each of these that has a GPU twin.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner_sync.profile import Profile
from runner_sync.verify.answers import answered_once
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import find_definition, text_hash
from runner_sync.verify.runners.parity import translate_to_npu
from runner_sync.verify.runners.reading import Reading


@answered_once
def unlocked_twins(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Return NPU and GPU name of every unit that both sides define and whose GPU text the lock does not record."""
    if _is_inferred(subject):
        return ()
    locked = {entry.qualname for entry in subject.module.entries if entry.gpu is not None}
    return tuple((name, twin) for name, twin in find_twin_units(subject) if name not in locked)


def find_twin_units(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Return NPU and GPU name of every function and method of the twin classes that both sides define."""
    gpu = subject.gpu
    if gpu is None:
        return ()
    names = [f"{npu.name}.{member}" for _, npu in subject.twins for member in npu.methods]
    pairs = [(name, subject.profile.gpu_name(name)) for name in (*names, *subject.npu.functions)]
    return tuple((name, twin) for name, twin in pairs if find_definition(gpu, twin) is not None)


def find_helpers_in_place(subject: Subject, name: str) -> tuple[str, ...]:
    """Return the GPU methods that the twin of the NPU unit ``name`` calls and whose statements the unit has itself."""
    from runner_sync.lineage.inlined import find_twin_helpers  # late: slow to import, and used only on a branch

    return tuple(map(subject.profile.gpu_name, find_twin_helpers(name, *read_unit_texts(subject))))


@answered_once
def read_unit_texts(subject: Subject) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of the NPU units, and of the GPU units as NPU would spell them, by NPU name."""
    npu_units, twin = (
        {name: unit.text for name, unit in side.units.items()} if side is not None else {}
        for side in (subject.npu, subject.gpu)
    )
    return npu_units, key_by_npu_name(twin, subject.profile)


def key_by_npu_name(units: Mapping[str, str], profile: Profile) -> dict[str, str]:
    """Return the texts of GPU units as NPU would spell them, by NPU name."""
    return {profile.npu_name(name): translate_to_npu(text, profile) for name, text in units.items()}


def has_gpu_entries(subject: Subject) -> bool:
    """Whether the lock records any GPU text; a lock written with ``--no-gpu`` does not."""
    return any(entry.gpu is not None for module in subject.job.modules for entry in module.entries)


def find_gone_units(subject: Subject) -> tuple[str, ...]:
    """Return the units that have a lock entry and no longer exist in the module."""
    names = (entry.qualname for entry in subject.module.entries if not _is_inferred(subject))
    return tuple(name for name in names if not has_unit(subject.npu, name))


def _is_inferred(subject: Subject) -> bool:
    """Whether the entries were inferred because there is no lock; such entries exist for copies only."""
    entries = (entry for module in subject.job.modules for entry in module.entries)
    return any(entry.upstream is not None and entry.upstream.how == "inferred" for entry in entries)


def has_unit(reading: Reading, name: str) -> bool:
    """Whether there is a unit of that name. Splits the whole module only if no definition or field has the name."""
    return bool(text_hash(reading, name)) or name in reading.units
