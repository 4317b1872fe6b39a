"""Put into a lock the hashes by which ``check`` recognises later edits, and changes of the GPU side.

Comes in: the lock of a run without its hashes brought up to date, the old lock, the results, the trees. Goes out: the
lock with the hashes of the texts that are written. May touch: the trees, by reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from runner_sync.lock import Entry, Lock
from runner_sync.sync.classes.whole_classes import read_whole
from runner_sync.sync.trees.inputs import Inputs
from runner_sync.unmerged import conflicts
from runner_sync.upgrade import ModuleResult, is_selected
from runner_sync.verify.runners import locked
from runner_sync.verify.runners.reading import Reading


@dataclass(frozen=True, slots=True)
class _Written:
    """The texts of one module before and after the run; ``after`` is ``None`` while it holds diff3 markers."""

    result: ModuleResult
    before: Reading
    after: Reading | None


def add_hashes(
    lock: Lock, results: Sequence[ModuleResult], given: Inputs, *, only: Sequence[str], settles: bool, marked: bool
) -> Lock:
    """Return ``lock`` with the hashes of all units of ``results``.

    A run that ``settles`` records every unit as it is; any other only those that it changed, or that the old lock has
    no hashes of, because nobody has settled an edit of another. The units of a module with the diff3 markers of a
    ``marked`` run get no hashes, because a person still has to edit it.
    """
    recorded, twins = given.lock.by_key(), dict[str, Reading | None]()
    modules = {result.path: _read(result, marked=marked) for result in results}

    def hash_anew(entry: Entry) -> Entry:
        module = modules.get(entry.path)
        if module is None:
            return entry
        known = recorded.get(entry.key)
        is_of_run = entry.qualname in module.result.synced or is_selected(entry.qualname, only)
        own = _hash_own(entry, known, module, given.profile.marker, records_all=settles, is_of_run=is_of_run)
        if entry.gpu is not None and entry.gpu.path not in twins:
            text = read_whole(given.omni, entry.gpu.path, given)
            twins[entry.gpu.path] = Reading(entry.gpu.path, text) if text is not None else None
        gpu = _hash_gpu(entry, known, twins.get(entry.gpu.path) if entry.gpu is not None else None)
        return replace(entry, extra={k: v for k, v in entry.extra.items() if k not in locked.KEYS} | own | gpu)

    return replace(lock, entries=tuple(map(hash_anew, lock.entries)))


def _read(result: ModuleResult, *, marked: bool) -> _Written:
    is_open = marked and conflicts(result.after)
    return _Written(
        result, Reading(result.path, result.before), None if is_open else Reading(result.path, result.after)
    )


def _hash_own(
    entry: Entry, known: Entry | None, module: _Written, label: str, *, records_all: bool, is_of_run: bool
) -> dict[str, Any]:
    """Return the hashes of the NPU unit, or those recorded of a unit that the run left as it is."""
    recorded = {key: known.extra[key] for key in locked.OWN_KEYS if key in known.extra} if known is not None else {}
    if module.after is None:
        return {} if is_of_run else recorded
    is_changed = locked.text_hash(module.before, entry.qualname) != locked.text_hash(module.after, entry.qualname)
    if is_changed or records_all or (is_of_run and locked.OWN not in recorded):
        return dict(locked.hash_own(entry.qualname, module.after, label=label))
    return recorded


def _hash_gpu(entry: Entry, known: Entry | None, twin: Reading | None) -> dict[str, Any]:
    """Return the hashes of the locked GPU text: of the twin, if it has that text, or those recorded of the same text.

    The text itself may no longer be at hand.
    """
    if entry.gpu is None:
        return {}
    if twin is not None and not locked.is_changed(entry.gpu, twin, quick=None):
        return dict(locked.hash_gpu(entry.gpu.qualname, twin))
    if known is None or known.gpu is None or known.gpu.digest != entry.gpu.digest:
        return {}
    return {key: known.extra[key] for key in (locked.GPU_TEXT, locked.GPU_CODE) if key in known.extra}
