"""``upgrade`` and ``lock``: from options to a planned change, and from there to files.

Comes in: ``UpgradeOptions``. Goes out: ``Upgrade``; ``apply`` writes it. May touch: what the rooms touch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner_sync import lock as locks
from runner_sync import sources, write
from runner_sync.compose.layout import format_changes
from runner_sync.compose.notes import WORD, annotate
from runner_sync.errors import InputError
from runner_sync.model import BaseRef, FileChange, Finding, InWork, Report, Source, Tree
from runner_sync.sync import inputs, planning, proof
from runner_sync.sync.options import UpgradeOptions
from runner_sync.sync.planning import Upgrade
from runner_sync.sync.runners import find_modules, refuse_classless, refuse_twinless
from runner_sync.upgrade.conflicts import disjoint, inline, two_sided
from runner_sync.upgrade.doubts import once, relocate
from runner_sync.upgrade.job import ModuleResult
from runner_sync.verify import locked
from runner_sync.verify.reading import Reading


def upgrade(options: UpgradeOptions) -> Upgrade:
    """Plan an upgrade: read the trees, merge, port, check the result. Nothing is written."""
    given = open_inputs(options)
    if given.lock.entries:
        refuse_twinless(given)
        refuse_classless(given, find_modules(given))
    results, notes = planning.plan(options, given)
    finished = [_finish(result, options, given) for result in results]
    findings, remarks = proof.new_breakage(given, finished, options) if options.verify else ((), ())
    return _planned("upgrade", finished, findings, (*notes, *remarks), given, options)


def open_inputs(options: UpgradeOptions, *, with_lock: bool = True) -> inputs.Inputs:
    """The trees of a run, each by option, environment, configuration or installation; vllm-ascend by the lock, too.

    Raises ``InputError`` for a tree that cannot be had, and for a profile that asks for what cannot be done.
    """
    given = inputs.open_omni(options.omni, options.config, options.progress, with_lock=with_lock)
    if not options.upstream and all(module.gpu is None for module in given.profile.modules):
        raise InputError("no module of the profile has a GPU twin (`gpu`), so there is nothing to port from.")
    if options.upstream:
        inputs.require_followed(given.profile.modules)
        ascend = inputs.open_target("vllm-ascend", options.ascend, given.config, options.progress)
        ascend = ascend or inputs.locked_ascend(given.lock, options.progress)
        given = replace(given, ascend=inputs.require_ascend(ascend))
    return replace(given, vllm=_open_vllm(options, given))


def _open_vllm(options: UpgradeOptions, given: inputs.Inputs) -> Tree | None:
    tree = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    if tree is not None or given.ascend is None:
        return tree
    version = inputs.declared(given.ascend)
    if version is None:
        return None
    return inputs.at("vllm", version, None, options.progress)


def _finish(result: ModuleResult, options: UpgradeOptions, given: inputs.Inputs) -> ModuleResult:
    """Layout and review comments; an untouched module keeps its bytes."""
    if result.after == result.before:
        return result
    text = format_changes(result.before, result.after, path=result.path, root=given.root)
    reviews = relocate(result.reviews, old=result.after, new=text)
    sided = disjoint(item for item in reviews if options.conflict == "inline" and two_sided(text, item))
    noted, placed = annotate(text, [item for item in reviews if item not in sided])
    sided = relocate(sided, old=text, new=noted)
    after = inline(noted, sided)
    reviews = once(relocate([*placed, *sided], old=noted, new=after))
    units = tuple(
        replace(unit, hunks=tuple(relocate(relocate(unit.hunks, old=result.after, new=text), old=text, new=after)))
        for unit in result.units
    )
    return replace(result, after=after, reviews=tuple(reviews), units=units)


def _planned(
    command: str,
    results: list[ModuleResult],
    findings: tuple[Finding, ...],
    notes: tuple[str, ...],
    given: inputs.Inputs,
    options: UpgradeOptions,
) -> Upgrade:
    changes = planning.changes_of(results)
    reviews = tuple(item for result in results for item in result.reviews)
    report = Report(
        command=command,
        inputs=given.sources,
        units=tuple(unit for result in results for unit in result.units),
        reviews=reviews,
        findings=findings,
        changes=changes,
        notes=(*notes, *_uncommitted(given), *_rest(results, options.only), *_left_open(results)),
        summary=planning.summarise(results, reviews),
        folder=sources.folder_in_repository(given.omni) if options.out is None else "",
    )
    root = options.out if options.out is not None else given.root
    return Upgrade(report, changes, root, _lock_change(command, results, given, options))


def _uncommitted(given: inputs.Inputs) -> list[str]:
    """A note for each tree whose texts to follow are not what its commit has: the lock can only name the commit."""
    modules = [found.module for found in find_modules(given)]
    twins = [module.gpu.path for module in modules if module.gpu is not None]
    upstream = [anchor.path for module in modules for anchor in module.upstreams[:1]]
    notes = []
    for tree, paths in ((given.omni, twins), (given.ascend, upstream)):
        if tree is None or not isinstance(tree, InWork):
            continue
        changed = tree.dirty([path for path in dict.fromkeys(paths) if tree.read(path) is not None])
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            notes.append(
                f"{tree.source.project}: {changed[0]}{more} was followed with changes that git does not know; "
                f"the lock names {tree.source.ref}, which is without them"
            )
    return notes


def _left_open(results: Sequence[ModuleResult]) -> list[str]:
    """What an earlier upgrade left for a person: a second run has nothing to say about it."""
    count = sum(result.before.count(WORD) for result in results)
    if not count:
        return []
    comments = "1 review comment" if count == 1 else f"{count} review comments"
    return [f"{comments} of an earlier upgrade still to be settled (`runner-sync check --select RS406`)"]


def _rest(results: list[ModuleResult], only: Sequence[str]) -> list[str]:
    """What became of GPU members without a change: those that need nothing, counted or, where ``only`` names them, with
    the reason, and those left out, by name."""
    counts = Counter(action for result in results for action in result.decided.values())
    inherited, uncalled = counts["inherited"], counts["unneeded"]
    said = []
    if inherited or uncalled:
        where = f"the NPU classes inherit {inherited}, nothing calls {uncalled}"
        said.append(
            f"{inherited + uncalled} members of the GPU classes need nothing here: {where} "
            "(`runner-sync blocks` lists them)."
        )
    reasons = {
        "inherited": "the NPU class has a version of it through its bases",
        "unneeded": "nothing on NPU calls it",
    }
    decided = {name: action for result in results for name, action in result.decided.items()}
    asked = [name for name in decided if {name, name.rpartition(".")[2]} & set(only)]
    said += [f"{name} is not ported: {reasons[decided[name]]}" for name in asked if decided[name] in reasons]
    left = [name for name, action in decided.items() if action == "left"]
    if left:
        said.append(
            "not ported, for NPU has done without them at an earlier release too: "
            f"{', '.join(left)} (`--only NAME` ports one, or says what keeps it out)."
        )
    return said


def _lock_change(
    command: str, results: list[ModuleResult], given: inputs.Inputs, options: UpgradeOptions
) -> FileChange | None:
    marked = options.conflict == "inline"
    entries = [entry for result in results for entry in _entries(result, given, marked=marked)]
    is_whole = options.gpu and options.upstream and not options.only
    refs: dict[str, str] = {source.project: source.ref for source in given.sources if source.project != "vllm-omni"}
    if options.only:
        refs |= given.lock.inputs  # those of the units that this run leaves as they are
    gone = {result.path for result in results} if is_whole else set[str]()
    gone |= {entry.path for entry in given.lock.entries if is_whole and given.omni.read(entry.path) is None}
    before = given.omni.read(locks.FILE_NAME)
    made = locks.merge(_forget(given.lock, entries), entries, inputs=refs, gone=gone)
    asked = any(result.reviews for result in results)
    if command == "upgrade" and is_whole and (asked or made != given.lock):
        made = _settled(made, given.omni.source)
    after = locks.dump(made)
    return None if before == after else FileChange(locks.FILE_NAME, before, after)


def _settled(lock: locks.Lock, omni: Source) -> locks.Lock:
    """The lock of an upgrade that took the GPU runners in: what they have and NPU has not is settled for this revision.

    A folder without a version can hold another tree next time, so it settles nothing.
    """
    return replace(lock, inputs={**lock.inputs, "vllm-omni": omni.ref}) if omni.version or omni.revision else lock


def _entries(result: ModuleResult, given: inputs.Inputs, *, marked: bool) -> tuple[locks.Entry, ...]:
    """Lock entries of one module, with what ``check`` tells later edits by.

    A changed module that is ``marked`` (conflicts inline) is still to be edited: nothing to tell a later edit by yet.
    """
    entries = []
    for name, (upstream, gpu) in result.synced.items():
        known = given.lock.find(result.path, name)
        upstream = _locked(upstream, known.upstream if known is not None else None)
        gpu = _locked(gpu, known.gpu if known is not None else None)
        if upstream is not None or gpu is not None:
            entries.append(locks.Entry(result.path, name, upstream, gpu))
    if marked and result.after != result.before:
        return tuple(entries)
    twin = next((entry.gpu.path for entry in entries if entry.gpu is not None), "")
    text = given.omni.read(twin) if twin else None
    gpu_reading = Reading(twin, text) if text is not None else None
    return locked.record(entries, Reading(result.path, result.after), gpu_reading, label=given.profile.marker)


def _forget(lock: locks.Lock, entries: Sequence[locks.Entry]) -> locks.Lock:
    """``lock`` without the hashes that ``entries`` record anew: one that is not recorded again holds no longer."""
    keys = {entry.key for entry in entries}
    kept = [
        replace(entry, extra={k: v for k, v in entry.extra.items() if k not in locked.KEYS})
        if entry.key in keys
        else entry
        for entry in lock.entries
    ]
    return replace(lock, entries=tuple(kept))


def _locked(ref: BaseRef | None, known: BaseRef | None) -> BaseRef | None:
    """The reference as it is recorded; a text that is locked already keeps the ref it was first seen at."""
    if ref is None or (known is not None and (known.path, known.digest) == (ref.path, ref.digest)):
        return known if ref is not None else None
    return replace(ref, how="lock", similarity=1.0)


def lock(options: UpgradeOptions) -> Upgrade:
    """Plan a lock of the runners as they stand: what each unit was last synced to, by inference."""
    # Not even read: what it names may be out of reach, and then this is the remedy.
    given = open_inputs(options, with_lock=False)
    results, notes = planning.plan(replace(options, verify=False), given)
    frozen = [planning.as_they_stand(result) for result in results]
    return _planned("lock", frozen, (), notes, given, options)


def apply(planned: Upgrade, options: UpgradeOptions) -> tuple[str, ...]:
    """Write a planned upgrade, all files or none. Raises ``InputError`` for dirty files unless they are allowed."""
    if planned.root is None:
        raise InputError("the omni tree is a release, not a folder: name a folder to write to with --out.")
    changes = [*planned.changes, *([planned.lock] if planned.lock is not None else [])]
    if options.out is not None:
        changes = [replace(change, before=None) for change in changes]
        _refuse_filled(options.out, changes)
        make_folder(options.out)
    elif not options.allow_dirty:
        tree = inputs.open_omni(options.omni, options.config, options.progress, with_lock=False).omni
        _refuse_dirty(tree, changes)
    return write.write(changes, planned.root)


def require_place(options: UpgradeOptions) -> None:
    """Raises ``InputError`` where a whole upgrade could not be written in the end: before the work, not behind it."""
    if options.only or (options.out is None and options.allow_dirty):
        return
    given = inputs.open_omni(options.omni, options.config, options.progress, with_lock=False)
    modules = [FileChange(found.path, found.text, "") for found in find_modules(given)]
    if options.out is not None:
        _refuse_filled(options.out, modules)
    else:
        _refuse_dirty(given.omni, modules)


def make_folder(out: Path) -> None:
    """Make the folder of ``--out`` where there is none. Raises ``InputError``."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out} ({error.strerror}): name another one with --out.") from error


def _refuse_filled(out: Path, changes: list[FileChange]) -> None:
    taken = [change.path for change in changes if (out / change.path).exists()]
    if taken:
        raise InputError(f"{out} already holds {taken[0]}: name an empty folder with --out.")


def _refuse_dirty(tree: Tree, changes: list[FileChange]) -> None:
    found = tree.dirty([change.path for change in changes]) if isinstance(tree, InWork) else []
    found = [path for path in found if tree.read(path) is not None]  # nothing of a deleted file can be lost
    if found:
        raise InputError(f"{found[0]} has changes that git does not know: commit or stash them, or pass --allow-dirty.")
