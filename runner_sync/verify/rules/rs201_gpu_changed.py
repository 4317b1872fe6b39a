"""RS201 gpu-changed: a GPU method changed since its NPU twin was last synced, and the twin did not.

What: the lock records which text of the GPU unit each NPU unit was ported from, and which helpers of the GPU class the
NPU unit has in place of their calls. One of these texts is different now (or gone), and the NPU unit is unchanged since
the lock. With `--changed-since` the rule also reports a GPU unit that the branch changed while it left the NPU unit
alone, if the NPU unit was edited since the lock or the lock has no GPU text of it.

Example: a pull request fixes `GPUARModelRunner._build_multimodal_outputs` and leaves
`NPUARModelRunner._build_multimodal_outputs` as it was.

Why: 35 of the 156 recorded breakages are a statement of the GPU runner that never reached NPU. Reported in the pull
request that changes the GPU side, the port takes a minute.

Fix: `runner-sync upgrade --gpu-only --only UNIT` ports the change. If it is not for NPU, write `# runner-sync:
ignore[RS201:SYMBOL@STATE] reason` above the method, as the finding gives it: that accepts this code of the GPU unit,
and the next change is reported again. `ignore[RS201] reason` accepts every change.

Leaves alone: comments, docstrings and layout on the GPU side. An NPU unit that equals the GPU unit once GPU names are
translated has nothing left to port: a note asks to record that. Where both units were edited by hand since the lock and
differ, the finding is an `info` (with `--changed-since` a note that fails nothing), because nobody can tell whether the
port is complete until `runner-sync lock` records it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from runner_sync.errors import InputError
from runner_sync.lock import Entry
from runner_sync.model import BaseRef, Severity, Unit
from runner_sync.syntax import Function
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.duplication import is_equal_translated
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import (
    GPU_CODE,
    GPU_TEXT,
    code_hash,
    digest_now,
    find_changed_helpers,
    find_definition,
    hash_text,
    is_changed,
    is_edited,
    is_unchanged,
)
from runner_sync.verify.runners.reading import Reading
from runner_sync.verify.runners.unlocked import find_helpers_in_place, unlocked_twins

CODE = "RS201"
NAME = "gpu-changed"
SEVERITY: Severity = "warning"
PORTED: tuple[str, Severity] = (CODE, "info")
"""The code and severity for a change whose NPU unit was edited as well."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of the GPU unit ``twin`` of the NPU unit ``name`` ``since`` a revision.

    ``units`` are the twin, if it changed itself, and the changed helpers that the NPU unit has in place. ``contrast``
    says in words what happened to the NPU unit; ``is_ported`` means that the NPU unit was edited, too.
    """

    name: str
    twin: str
    units: tuple[str, ...]
    since: str
    contrast: str
    is_ported: bool = False


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per NPU unit."""
    gpu = subject.gpu
    if gpu is None:
        return
    for entry in subject.module.entries:
        if entry.gpu is not None and entry.gpu.path == gpu.path:
            yield from _check_entry(subject, gpu, entry, entry.gpu)
    for name, twin in unlocked_twins(subject):
        change = _find_change_of_branch(subject, name, twin)
        if change is not None and not _is_fully_ported(subject, gpu, name, twin):
            yield from _make_hit(subject, gpu, change)


def _check_entry(subject: Subject, gpu: Reading, entry: Entry, locked: BaseRef) -> Iterator[Hit]:
    name, twin = entry.qualname, locked.qualname
    quick, code = (entry.extra.get(key) for key in (GPU_TEXT, GPU_CODE))
    units = (twin,) * is_changed(locked, gpu, quick=quick, code=code) + find_changed_helpers(locked, gpu)
    of_branch = _find_change_of_branch(subject, name, twin)
    if units and not is_edited(entry, subject.npu):
        yield from _make_hit(
            subject, gpu, _Change(name, twin, units, locked.ref, "this unit is still as it was synced then")
        )
    elif of_branch is not None and (units or (not locked.helpers and of_branch.units != (twin,))):
        yield from _make_hit(subject, gpu, of_branch)
    elif units:
        contrast = "this unit was edited since, too"
        yield from _make_hit(subject, gpu, _Change(name, twin, units, locked.ref, contrast, is_ported=True))


def _find_change_of_branch(subject: Subject, name: str, twin: str) -> _Change | None:
    """Return what the branch changed on the GPU side; ``None`` if that is nothing or unknown, or NPU changed, too."""
    before, gpu = subject.before, subject.gpu
    if before is None or before.gpu is None or gpu is None or gpu.text == before.gpu.text:
        return None
    try:
        if not is_unchanged(subject.npu, before.npu, name):
            return None
        names = (twin, *find_helpers_in_place(before, name))
        units = tuple(one for one in names if not is_unchanged(gpu, before.gpu, one))
    except InputError:
        return None
    return _Change(name, twin, units, _BRANCH, "this unit did not") if units else None


_BRANCH = "the branch began"


def _make_hit(subject: Subject, gpu: Reading, change: _Change) -> Iterator[Hit]:
    """Yield the finding, or nothing for an NPU unit that is gone."""
    twin = change.twin
    unit = subject.npu.units.get(change.name)
    if unit is None:
        return
    now = [gpu.units.get(name) for name in change.units]
    state, documented = _hash_state(gpu, change)
    what = f"{_describe_fate(subject, change.units[0], now[0], change.since)} since {change.since}"
    port = f"`runner-sync upgrade --gpu-only --only {unit.qualname}` ports the change"
    if change.is_ported:
        port = f"Where it has the change, record it: `runner-sync lock`; {port}"
    hit = subject.unit_hit(
        PORTED if change.is_ported else (CODE, SEVERITY),
        unit,
        symbol=twin,
        message=f"{_name_changed(change, _locate(gpu, now[0]))} {what}, and {change.contrast}.",
        fix=f"{port}; where it is not for NPU, `# runner-sync: ignore[{CODE}:{twin}@{state}] reason` above this unit.",
        also=tuple((one.path, one.start, one.end) for one in now if one is not None),
    )
    finding = replace(hit.finding, state=state, old_state=documented if documented != state else "")
    yield replace(hit, finding=finding, is_done=_is_fully_ported(subject, gpu, change.name, twin))


def _hash_state(gpu: Reading, change: _Change) -> tuple[str, str]:
    """Return the digest of the changed code and, unless a helper changed, the one that earlier versions gave."""
    if change.units == (change.twin,):
        return (code_hash(gpu, change.twin) or "gone")[:12], (digest_now(gpu, change.twin) or "")[:12]
    return hash_text(" ".join(code_hash(gpu, name) for name in (change.twin, *change.units)))[:12], ""


def _name_changed(change: _Change, place: str) -> str:
    if change.units[0] == change.twin:
        return f"The GPU twin `{change.twin}` ({place})"
    return f"`{change.units[0]}` ({place}), which the GPU twin `{change.twin}` calls and this unit has in place,"


def _is_fully_ported(subject: Subject, gpu: Reading, name: str, twin: str) -> bool:
    """Whether both units are functions that are equal once GPU names are translated, so nothing is left to port."""
    own, other = find_definition(subject.npu, name), find_definition(gpu, twin)
    if not isinstance(own, Function) or not isinstance(other, Function):
        return False
    return is_equal_translated(subject.npu, own, gpu, other, profile=subject.profile)


def _describe_fate(subject: Subject, name: str, now: Unit | None, since: str) -> str:
    if now is None:
        return "is gone"
    before = subject.before.gpu if subject.before is not None and since == _BRANCH else None
    return "is new" if before is not None and name not in before.units else "changed"


def _locate(gpu: Reading, unit: Unit | None) -> str:
    return f"{unit.path}:{unit.start}" if unit is not None else gpu.path
