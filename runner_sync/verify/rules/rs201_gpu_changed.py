"""RS201 gpu-changed: a GPU method changed since its NPU twin was last synced, and the twin did not.

What: the lock records which text of the GPU unit each NPU unit was ported from. The GPU unit is different now (or
gone), and the NPU unit is still the one that was locked.

Example: a pull request fixes `GPUARModelRunner._build_multimodal_outputs` and leaves
`NPUARModelRunner._build_multimodal_outputs` as it was.

Why: 35 of the 156 recorded breakages are a statement of the GPU runner that never reached NPU. Reported in the pull
request that changes the GPU side, it costs a minute.

Fix: `runner-sync upgrade --only UNIT` ports the change; if it is not for NPU, write
`# runner-sync: ignore[RS201:SYMBOL@STATE] reason` above the method, as the finding says it: that accepts this text of
the GPU unit, and the next one is told again. `ignore[RS201] reason` accepts every one.

Leaves alone: comments, docstrings and layout on the GPU side, NPU units that were edited as well since the lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from runner_sync.lock import Entry
from runner_sync.model import Severity, Unit
from runner_sync.verify.job import Subject
from runner_sync.verify.locked import GPU_CODE, GPU_TEXT, digest_now, has_moved, is_edited
from runner_sync.verify.reading import Hit
from runner_sync.verify.spots import unit_hit

CODE = "RS201"
NAME = "gpu-changed"
SEVERITY: Severity = "warning"


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per NPU unit."""
    npu, gpu = subject.npu, subject.gpu
    for entry in subject.module.entries if gpu is not None else ():
        if gpu is None or entry.gpu is None or entry.gpu.path != gpu.path:
            continue
        quick, code = (entry.extra.get(key) for key in (GPU_TEXT, GPU_CODE))
        if has_moved(entry.gpu, gpu, quick=quick, code=code) and not is_edited(entry, npu):
            unit = npu.units.get(entry.qualname)
            if unit is not None:
                yield _hit(subject, entry, unit, gpu.units.get(entry.gpu.qualname))


def _hit(subject: Subject, entry: Entry, unit: Unit, twin: Unit | None) -> Hit:
    assert entry.gpu is not None
    gpu = subject.gpu
    name, ref = entry.gpu.qualname, entry.gpu.ref
    place = f"{twin.path}:{twin.start}" if twin is not None else entry.gpu.path
    what = f"`{name}` ({place}) changed since {ref}" if twin is not None else f"`{name}` of {ref} is gone from {place}"
    now = digest_now(gpu, name) if gpu is not None else None
    state = (now or "gone")[:12]
    hit = unit_hit(
        subject,
        (CODE, SEVERITY),
        unit,
        symbol=name,
        message=f"The GPU twin {what}, and this unit is still as it was synced then.",
        fix=f"`runner-sync upgrade --only {unit.qualname}` ports the change; where it is not for NPU, "
        f"`# runner-sync: ignore[{CODE}:{name}@{state}] reason` above this unit.",
        also=((twin.path, twin.start, twin.end),) if twin is not None else (),
    )
    return replace(hit, finding=replace(hit.finding, state=state))
