"""Make the change of the lock file that a run leaves behind.

Comes in: the results of a run, the trees, the options. Goes out: the change of the lock file. May touch: the trees, by
reading.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from runner_sync import lock as locks
from runner_sync.model import BaseRef, FileChange, Source
from runner_sync.sync.locks.hashes import add_hashes
from runner_sync.sync.synced.left_behind import leaves_questions
from runner_sync.sync.trees import inputs
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.upgrade import ModuleResult, is_selected
from runner_sync.verify.runners.reading import Reading
from runner_sync.verify.runners.unlocked import has_unit


def make_lock_change(
    command: str,
    results: list[ModuleResult],
    given: inputs.Inputs,
    options: UpgradeOptions,
    *,
    unseen: Collection[str],
) -> FileChange | None:
    """Return the change of the lock file; ``None`` if nothing changes, or with ``--only`` and no lock yet.

    Records no GPU text for the modules in ``unseen``: nobody knows what they have of their twins, and the present text
    would settle what they lack.
    """
    if options.only and not given.lock.entries:
        return None  # `check` would take a lock without the other units for complete
    results = [_drop_twins(result) if result.path in unseen else result for result in results]
    entries = [entry for result in results for entry in _make_entries(result, given)]
    refs, unnamed = _choose_inputs(given, options)
    known = _drop_gone_units(_drop_lost_twins(given), results, options)
    known = _drop_lost_sides(known, results, options, unseen)
    if command == "upgrade" and options.gpu:
        known, entries = _mark_ported_alone(known, entries, results, options)
    known = replace(known, inputs={project: ref for project, ref in known.inputs.items() if project not in unnamed})
    made = locks.merge(known, entries, inputs=refs, gone=_find_gone_files(command, results, given, options))
    marked, settles = options.conflict == "inline", command == "lock"
    made = add_hashes(made, results, given, only=options.only, settles=settles, marked=marked)
    if command == "upgrade" and not options.only and given.followed is not None:
        made = _settle_questions(made, results, given, options)
    before, after = given.omni.read(given.lock_file), locks.dump(made)
    return None if before == after else FileChange(given.lock_file, before, after)


def _mark_ported_alone(
    known: locks.Lock, entries: Sequence[locks.Entry], results: Sequence[ModuleResult], options: UpgradeOptions
) -> tuple[locks.Lock, list[locks.Entry]]:
    """Mark the units that a run with ``--only`` ported; a run of all units looks at the rest of their features."""
    if not options.only:
        kept = [
            replace(entry, extra={k: v for k, v in entry.extra.items() if k != locks.ALONE}) for entry in known.entries
        ]
        return replace(known, entries=tuple(kept)), [*entries]
    ported = {(result.path, unit.unit) for result in results for unit in result.units if unit.ported}
    return known, [replace(e, extra={**e.extra, locks.ALONE: True}) if e.key in ported else e for e in entries]


def _choose_inputs(given: inputs.Inputs, options: UpgradeOptions) -> tuple[dict[str, str], AbstractSet[str]]:
    """Return the ref to record of each project, and the projects that were read and are not to be recorded.

    Folders of this machine are not recorded, except for the followed project, because units refer to it.
    """
    read = {source.project: source for source in given.sources if source.project != "vllm-omni"}
    refs: dict[str, str] = {
        project: source.ref
        for project, source in read.items()
        if source.is_known_elsewhere or project == given.profile.followed
    }
    unnamed = read.keys() - refs.keys()
    if not options.upstream:
        refs = {}  # vllm-ascend only told which units are copies; nothing was synced to it
    if options.only or not options.upstream:
        refs |= given.lock.inputs  # other units still follow the recorded trees
    return refs, unnamed


def _find_gone_files(
    command: str, results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions
) -> set[str]:
    """Return the files all of whose old entries go: none, unless the run was of all units and both upstreams.

    An upgrade keeps the entries of a module that the profile no longer names, so that `check` can refuse them.
    """
    if not options.gpu or not options.upstream or options.only:
        return set()
    named = {path for module in given.profile.modules for path in module.paths}
    lost = {
        path
        for path in {entry.path for entry in given.lock.entries}
        if given.omni.read(path) is None or (command == "lock" and path not in named)
    }
    return lost | {result.path for result in results}


def _settle_questions(
    lock: locks.Lock, results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions
) -> locks.Lock:
    """Record up to which revisions a whole upgrade asked what NPU lacks; a run without news asks nothing.

    Needs the followed tree, because without it nobody knows whether it calls the unported methods. Leaves out a folder
    that is neither a release nor in git, because its name may stand for another tree next time.
    """
    if lock == given.lock and not any(result.reviews for result in results):
        return lock
    settled: dict[str, Source] = {}
    if options.gpu and not leaves_questions(given, options):
        settled["vllm-omni"] = given.omni.source
    if options.upstream and given.followed is not None:
        settled[f"{given.profile.followed}{locks.ASKED}"] = given.followed.source
    refs = {key: source.ref for key, source in settled.items() if source.is_known_elsewhere}
    return replace(lock, inputs={**lock.inputs, **refs})


def _drop_twins(result: ModuleResult) -> ModuleResult:
    return replace(result, synced={name: (upstream, None) for name, (upstream, _gpu) in result.synced.items()})


def _make_entries(result: ModuleResult, given: inputs.Inputs) -> list[locks.Entry]:
    """Make the lock entries of one module, without hashes: `add_hashes` adds them."""
    entries = []
    recorded = given.lock.by_key()
    for name, (upstream, gpu) in result.synced.items():
        known = recorded.get((result.path, name))
        upstream = _lock_reference(upstream, known.upstream if known is not None else None)
        older = gpu.also if gpu is not None else ()
        gpu = _lock_reference(gpu, known.gpu if known is not None else None)
        gpu = replace(gpu, also=older) if gpu is not None else None
        if upstream is not None or gpu is not None:
            entries.append(locks.Entry(result.path, name, upstream, gpu))
    return entries


def _drop_lost_twins(given: inputs.Inputs) -> locks.Lock:
    """Drop references to GPU files that the tree no longer has, because there is nothing to compare with."""
    kept = []
    for entry in given.lock.entries:
        is_lost = entry.gpu is not None and given.omni.read(entry.gpu.path) is None
        kept.append(replace(entry, gpu=None) if is_lost else entry)
    return replace(given.lock, entries=tuple(entry for entry in kept if entry.upstream or entry.gpu or entry.extra))


def _drop_gone_units(lock: locks.Lock, results: Sequence[ModuleResult], options: UpgradeOptions) -> locks.Lock:
    """Drop the entries of units that the modules of this run no longer have, for example after a rename.

    Keeps those of modules in which a person still has to settle diff3 markers, and of units that ``--only`` leaves out.
    """
    settled = [result for result in results if options.conflict != "inline" or result.after == result.before]
    readings = {result.path: Reading(result.path, result.after) for result in settled}

    def is_gone(entry: locks.Entry) -> bool:
        reading = readings.get(entry.path)
        return (
            reading is not None and is_selected(entry.qualname, options.only) and not has_unit(reading, entry.qualname)
        )

    return replace(lock, entries=tuple(entry for entry in lock.entries if not is_gone(entry)))


def _drop_lost_sides(
    lock: locks.Lock, results: Sequence[ModuleResult], options: UpgradeOptions, unseen: Collection[str]
) -> locks.Lock:
    """Drop the references to a side that this run followed and that no longer has the unit.

    So half an upgrade leaves what a whole one would, and `check` does not report as drift what the run asked about.
    """
    made = {result.path: result.synced for result in results}

    def drop(entry: locks.Entry) -> locks.Entry:
        if entry.path not in made or not is_selected(entry.qualname, options.only):
            return entry
        upstream, gpu = made[entry.path].get(entry.qualname, (None, None))
        keeps_gpu = gpu is not None or not options.gpu or entry.path in unseen
        keeps_upstream = upstream is not None or not options.upstream
        return replace(entry, upstream=entry.upstream if keeps_upstream else None, gpu=entry.gpu if keeps_gpu else None)

    kept = map(drop, lock.entries)
    return replace(lock, entries=tuple(e for e in kept if e.upstream or e.gpu or e.path not in made))


def _lock_reference(ref: BaseRef | None, known: BaseRef | None) -> BaseRef | None:
    """Return the reference to record: a text that is locked already keeps the ref at which it was first seen."""
    if ref is None or (known is not None and _identify_text(known) == _identify_text(ref)):
        return known if ref is not None else None
    return replace(ref, how="lock", similarity=1.0)


def _identify_text(ref: BaseRef) -> tuple[str, str, tuple[str, ...]]:
    return ref.path, ref.digest, ref.helpers
