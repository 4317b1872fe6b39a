"""RS201 gpu-changed: a GPU method changed since its NPU twin was last synced, and the twin did not.

What: the lock records which text of the GPU unit each NPU unit was ported from. The GPU unit is different now (or
gone), and the NPU unit is unchanged since the lock. With `--changed-since` the rule also reports a GPU unit that the
branch changed while it left the NPU unit alone, if the NPU unit was edited since the lock or the lock has no GPU text
of it.

Example: a pull request fixes `GPUARModelRunner._build_multimodal_outputs` and leaves
`NPUARModelRunner._build_multimodal_outputs` as it was.

Why: 35 of the 156 recorded breakages are a statement of the GPU runner that never reached NPU. Reported in the pull
request that changes the GPU side, the port takes a minute.

Fix: `runner-sync upgrade --only UNIT` ports the change. If the change is not for NPU, write `# runner-sync:
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
from runner_sync.model import Severity, Unit
from runner_sync.syntax import Function
from runner_sync.verify.runners.duplication import is_equal_translated
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import (
    GPU_CODE,
    GPU_TEXT,
    code_hash,
    digest_now,
    find_definition,
    is_changed,
    is_edited,
    is_unchanged,
)
from runner_sync.verify.runners.reading import Hit, Reading
from runner_sync.verify.runners.spots import unit_hit
from runner_sync.verify.runners.unlocked import unlocked_twins

CODE = "RS201"
NAME = "gpu-changed"
SEVERITY: Severity = "warning"
PORTED: tuple[str, Severity] = (CODE, "info")
"""The code and severity for a change whose NPU unit was edited as well."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of the GPU unit ``twin`` of the NPU unit ``name`` ``since`` a revision.

    ``contrast`` says in words what happened to the NPU unit; ``is_ported`` means that the NPU unit was edited, too.
    """

    name: str
    twin: str
    since: str
    contrast: str
    is_ported: bool = False


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per NPU unit."""
    gpu = subject.gpu
    if gpu is None:
        return
    for entry in subject.module.entries:
        if entry.gpu is not None and entry.gpu.path == gpu.path and _has_twin_changed(entry, gpu):
            yield from _check_entry(subject, gpu, entry)
    for name, twin in unlocked_twins(subject) if subject.job.before is not None else ():
        if _has_only_twin_changed(subject, name, twin) and not _is_fully_ported(subject, gpu, name, twin):
            yield from _make_hit(subject, gpu, _Change(name, twin, *_SINCE_BRANCH))


def _has_twin_changed(entry: Entry, gpu: Reading) -> bool:
    quick, code = (entry.extra.get(key) for key in (GPU_TEXT, GPU_CODE))
    return entry.gpu is not None and is_changed(entry.gpu, gpu, quick=quick, code=code)


def _check_entry(subject: Subject, gpu: Reading, entry: Entry) -> Iterator[Hit]:
    assert entry.gpu is not None
    name, twin, since = entry.qualname, entry.gpu.qualname, entry.gpu.ref
    if not is_edited(entry, subject.npu):
        change = _Change(name, twin, since, "this unit is still as it was synced then")
    elif _has_only_twin_changed(subject, name, twin):
        change = _Change(name, twin, *_SINCE_BRANCH)
    else:
        change = _Change(name, twin, since, "this unit was edited since, too", is_ported=True)
    yield from _make_hit(subject, gpu, change)


_SINCE_BRANCH = "the branch began", "this unit did not"


def _has_only_twin_changed(subject: Subject, name: str, twin: str) -> bool:
    """Whether the branch changed the GPU unit and not the NPU unit; ``False`` when unknown."""
    before = subject.before
    if before is None or before.gpu is None or subject.gpu is None:
        return False
    try:
        return is_unchanged(subject.npu, before.npu, name) and not is_unchanged(subject.gpu, before.gpu, twin)
    except InputError:
        return False


def _make_hit(subject: Subject, gpu: Reading, change: _Change) -> Iterator[Hit]:
    """Yield the finding, or nothing for an NPU unit that is gone."""
    twin = change.twin
    unit, other = subject.npu.units.get(change.name), gpu.units.get(twin)
    if unit is None:
        return
    state = (code_hash(gpu, twin) or "gone")[:12]
    what = f"{_describe_fate(subject, twin, other, change.since)} since {change.since}"
    port = f"`runner-sync upgrade --only {unit.qualname}` ports the change"
    if change.is_ported:
        port = f"Where it has the change, record it: `runner-sync lock`; {port}"
    hit = unit_hit(
        subject,
        PORTED if change.is_ported else (CODE, SEVERITY),
        unit,
        symbol=twin,
        message=f"The GPU twin `{twin}` ({_locate_twin(gpu, other)}) {what}, and {change.contrast}.",
        fix=f"{port}; where it is not for NPU, `# runner-sync: ignore[{CODE}:{twin}@{state}] reason` above this unit.",
        also=((other.path, other.start, other.end),) if other is not None else (),
    )
    documented = (digest_now(gpu, twin) or "")[:12]
    finding = replace(hit.finding, state=state, old_state=documented if documented != state else "")
    yield replace(hit, finding=finding, is_done=_is_fully_ported(subject, gpu, change.name, twin))


def _is_fully_ported(subject: Subject, gpu: Reading, name: str, twin: str) -> bool:
    """Whether both units are functions that are equal once GPU names are translated, so nothing is left to port."""
    own, other = find_definition(subject.npu, name), find_definition(gpu, twin)
    if not isinstance(own, Function) or not isinstance(other, Function):
        return False
    return is_equal_translated(subject.npu, own, gpu, other, profile=subject.profile)


def _describe_fate(subject: Subject, twin: str, now: Unit | None, since: str) -> str:
    if now is None:
        return "is gone"
    before = subject.before.gpu if subject.before is not None and since == _SINCE_BRANCH[0] else None
    return "is new" if before is not None and twin not in before.units else "changed"


def _locate_twin(gpu: Reading, twin: Unit | None) -> str:
    return f"{twin.path}:{twin.start}" if twin is not None else gpu.path
