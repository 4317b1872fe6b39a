"""``upgrade`` and ``lock``: from options to a planned change, and from there to files.

Comes in: ``UpgradeOptions``. Goes out: ``Upgrade``; ``apply`` writes it. May touch: what the rooms touch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from runner_sync import lock as locks
from runner_sync import sources, write
from runner_sync.compose.layout import format_changes
from runner_sync.compose.member_text import self_names
from runner_sync.compose.notes import WORD
from runner_sync.errors import InputError
from runner_sync.model import Finding, InWork, Report, Tree
from runner_sync.statements import forget_trees
from runner_sync.sync import inputs, planning, result_check
from runner_sync.sync.locking import lock_change
from runner_sync.sync.options import UpgradeOptions
from runner_sync.sync.planning import Upgrade
from runner_sync.sync.relocking import Recorded, readable_lock
from runner_sync.sync.runners import find_modules, refuse_classless, refuse_tabs, refuse_twinless
from runner_sync.units import texts
from runner_sync.upgrade import ModuleResult, finished, is_selected


def upgrade(options: UpgradeOptions) -> Upgrade:
    """Plan an upgrade: read the trees, merge, port, check the result. Nothing is written."""
    given = open_inputs(options)
    modules = find_modules(given)
    refuse_twinless(given)
    refuse_classless(given, modules)
    refuse_tabs(modules)
    results, notes = planning.plan(options, given)
    finished = [_finish(result, options, given) for result in results]
    forget_trees()
    findings, remarks = result_check.new_breakage(given, finished, options)
    return _planned("upgrade", finished, findings=findings, notes=(*notes, *remarks), given=given, options=options)


def open_inputs(options: UpgradeOptions, *, with_lock: bool = True) -> inputs.Inputs:
    """The trees of a run, each by option, environment, configuration or installation; vllm-ascend by the lock, too.

    Where vllm-ascend is not followed, none is needed: the one that the runners are on tells which units are copies.
    Raises ``InputError`` for a tree that cannot be had, and for a profile that asks for what cannot be done.
    """
    given = inputs.open_omni(options.omni, options.config, options.progress, with_lock=with_lock)
    if not options.upstream and all(module.gpu is None for module in given.profile.modules):
        raise InputError("no module of the profile has a GPU twin (`gpu`), so there is nothing to port from.")
    if options.upstream:
        inputs.require_followed(given.profile.modules)
    elif any(module.upstreams[0].project != "vllm-ascend" for module in given.profile.modules):
        return replace(given, vllm=_open_vllm(options, given))
    ascend = inputs.open_target("vllm-ascend", options.ascend, given.config, options.progress)
    known = given.lock if with_lock else readable_lock(given.omni, options.progress)
    try:
        ascend = ascend or inputs.locked_ascend(known, options.progress)
    except InputError:
        if options.upstream:
            raise  # a port does without it: which units are copies stands in the lock
    given = replace(given, ascend=inputs.require_ascend(ascend) if options.upstream else ascend)
    return replace(given, vllm=_open_vllm(options, given))


def _open_vllm(options: UpgradeOptions, given: inputs.Inputs) -> Tree | None:
    """The vLLM that is named somewhere, else the one that vllm-ascend says it is for; ``None`` where nobody tells."""
    tree = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    if tree is not None or given.ascend is None:
        return tree
    version = sources.declared_vllm(given.ascend)
    if version is None:
        return None
    return inputs.open_at("vllm", version, None, options.progress)


def _finish(result: ModuleResult, options: UpgradeOptions, given: inputs.Inputs) -> ModuleResult:
    """Layout and review comments; an untouched module keeps its bytes."""
    if result.after == result.before:
        return result
    text = format_changes(result.before, result.after, path=result.path, root=given.root)
    return finished(result, text, with_conflicts=options.conflict == "inline")


def _planned(
    command: str,
    results: list[ModuleResult],
    *,
    findings: tuple[Finding, ...] = (),
    notes: tuple[str, ...],
    given: inputs.Inputs,
    options: UpgradeOptions,
) -> Upgrade:
    """The plan that a run's results come to: its report, the changed files and the lock."""
    changes = planning.changes_of(results)
    units = tuple(unit for result in results for unit in result.units)
    report = Report(
        command=command,
        inputs=given.sources,
        units=tuple(u for u in units if u.outcome != "unchanged" or is_selected(u.unit, options.only)),
        reviews=tuple(item for result in results for item in result.reviews),
        findings=findings,
        changes=changes,
        notes=(
            *notes,
            *_uncommitted(given, options),
            *_unported_notes(results, given, options),
            *_no_lock(given, options),
        ),
        summary=_summary(command, results, given, options),
        folder=sources.folder_in_repository(given.omni) if options.out is None else "",
    )
    root = options.out if options.out is not None else given.root
    lock = lock_change(command, results, given, options)
    patch = write.as_on_disk([*changes, *([lock] if lock is not None else [])], given.root)
    return Upgrade(report, changes, root, lock, patch)


def _summary(
    command: str, results: list[ModuleResult], given: inputs.Inputs, options: UpgradeOptions
) -> dict[str, int | str]:
    """The figures of a run, with the review comments that it found and the GPU members that it left out, where any; and
    whether vllm-ascend was not followed, and the result not verified."""
    found = sum(result.before.count(WORD) for result in results) if command == "upgrade" else 0
    unported = len(_left_out(results)) if not options.only else 0
    unverified = command == "upgrade" and bool(result_check.why_unverified(given, options))
    extras = {
        "left_open": found,
        "unported": unported,
        "gpu_only": int(not options.upstream),
        "unverified": int(unverified),
    }
    extra = {name: number for name, number in extras.items() if number}
    return planning.summarise(results) | extra


def _uncommitted(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """A note for each tree whose texts to follow are not what its commit has: the lock can only name the commit."""
    modules = [found.module for found in find_modules(given)]
    twins = [module.gpu.path for module in modules if module.gpu is not None and options.gpu]
    upstream = [anchor.path for module in modules for anchor in module.upstreams[:1]]
    notes = []
    for tree, paths in ((given.omni, twins), (given.ascend, upstream)):
        if tree is None or not isinstance(tree, InWork):
            continue
        changed = tree.dirty([path for path in dict.fromkeys(paths) if tree.read(path) is not None])
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            notes.append(
                f"{tree.source.project}: {changed[0]}{more} was followed with uncommitted changes; "
                f"the lock names {tree.source.ref}, which is without them"
            )
    return notes


def _unported_notes(results: list[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Notes on the GPU members that were not ported and of which nothing is asked.

    How many need no port, and which ones NPU goes on without; with ``--only``, why those that it names need none.
    """
    if options.only:
        return _why_not_ported(results, given, options)
    counts = Counter(action for result in results for action in result.decided.values())
    inherited, uncalled = counts["inherited"], counts["unneeded"]
    said = []
    if inherited or uncalled:
        whose = "" if given.ascend is not None else " of omni's"
        where = f"the NPU classes inherit {inherited}, nothing{whose} calls {uncalled}"
        said.append(
            f"{inherited + uncalled} members of the GPU classes need nothing here: {where} "
            "(`runner-sync blocks` lists them)."
        )
    if left := _left_out(results):
        said.append(
            "not ported, for NPU has done without them at an earlier release too: "
            f"{', '.join(left)} (`--only NAME` ports one, or says what keeps it out)."
        )
    return said


def _left_out(results: list[ModuleResult]) -> list[str]:
    """The GPU members that NPU goes on without and that this run asks nothing about, by name."""
    asked = {item.unit for result in results for item in result.reviews}
    decided = {name: action for result in results for name, action in result.decided.items() if name not in asked}
    return [name for name, action in decided.items() if action in ("left", "skipped")]


def _why_not_ported(results: list[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """A note for each GPU member that ``--only`` names and that needs no port."""
    uncalled = "nothing of omni's calls it, and whether vllm-ascend does, a run without one (--gpu-only) cannot tell"
    reasons = {
        "inherited": "the NPU class has a version of it through its bases",
        "unneeded": "nothing on NPU calls it" if given.ascend is not None else uncalled,
    }
    decided = {name: action for result in results for name, action in result.decided.items()}
    asked = [name for name in decided if is_selected(name, options.only)]
    said = {name: reasons[decided[name]] for name in asked if decided[name] in reasons}
    return [
        f"{name} is not ported: {why}{_with_its_callers(name, given) if decided[name] == 'unneeded' else ''}"
        for name, why in said.items()
    ]


def _with_its_callers(name: str, given: inputs.Inputs) -> str:
    """How to port a member together with the GPU methods that call it, where there are any."""
    owner, _, member = name.rpartition(".")
    twin = given.profile.gpu_name(owner)
    paths = [module.gpu.path for module in given.profile.modules if module.gpu is not None and module.gpu.name == twin]
    found = [text for path in paths if (text := given.omni.read(path))]
    callers = [
        caller for text in found for caller, body in texts.members(text, twin).items() if member in self_names(body)
    ]
    if not callers:
        return ""
    wanted = " ".join(f"--only {owner}.{caller}" for caller in callers)
    return (
        f"; the GPU runner does in {', '.join(callers)}: `{wanted} --omni-base V` ports that, where V is a release "
        "before the call was made"
    )


def _no_lock(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """A note where ``--only`` keeps a first lock from being written."""
    if not options.only or given.lock.entries:
        return []
    return [
        f"no {locks.FILE_NAME} is written where there is none: of the units that --only leaves it would say nothing"
    ]


def lock(options: UpgradeOptions) -> Upgrade:
    """Plan a lock of the runners as they stand: what each unit was last synced to, as recorded or by inference."""
    # What the lock names may be out of reach, and then this is the remedy: nothing is looked up by it.
    given = open_inputs(options, with_lock=False)
    refuse_classless(given, find_modules(given))
    results, notes = planning.plan(options, given)
    known = locks.Lock() if options.ascend_base or options.omni_base else readable_lock(given.omni, options.progress)
    recorded = Recorded.of(known, given, options.progress)
    frozen = [recorded.kept(planning.as_they_stand(result)) for result in results]
    return _planned("lock", frozen, notes=notes, given=replace(given, lock=known), options=options)


def apply(
    planned: Upgrade, options: UpgradeOptions, *, tell: Callable[[tuple[str, ...]], None] = lambda _paths: None
) -> tuple[str, ...]:
    """Write a planned upgrade, all files or none; the paths written, which ``tell`` learns even when a signal follows.

    Raises ``InputError`` for dirty files unless they are allowed.
    """
    if planned.root is None:
        raise InputError("the omni tree is a release, not a folder: name a folder to write to with --out.")
    changes = [*planned.changes, *([planned.lock] if planned.lock is not None else [])]
    if options.out is not None:
        changes = [replace(change, before=None) for change in changes]
        _refuse_filled(options.out)
        make_folder(options.out)
    elif not options.allow_dirty:
        tree = inputs.open_omni(options.omni, options.config, options.progress, with_lock=False).omni
        # The lock is the tool's own file, and `lock` is what mends it: it keeps what holds of the one that is there.
        mends = planned.report.command == "lock"
        _refuse_dirty(tree, [change.path for change in (planned.changes if mends else changes)])
    return write.write(changes, planned.root, tell=tell)


def require_place(options: UpgradeOptions, *, is_lock: bool = False) -> None:
    """Raises ``InputError`` where what a whole upgrade writes, or the lock alone, could not be written in the end.

    Before the work, not behind it.
    """
    if options.out is not None:
        _refuse_filled(options.out)
        _try_to_make(options.out)
    given = inputs.open_omni(options.omni, options.config, options.progress, with_lock=False)
    if options.out is not None:
        _refuse_inside(options.out, given)
    elif given.root is not None:
        paths = [] if is_lock or options.only else [found.path for found in find_modules(given)]
        write.refuse_links([*paths, locks.FILE_NAME], given.root)
        if not options.allow_dirty:
            _refuse_dirty(given.omni, paths)


def make_folder(out: Path) -> None:
    """Make the folder of ``--out`` where there is none. Raises ``InputError``."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out} ({error.strerror}): name another one with --out.") from error


def _try_to_make(out: Path) -> None:
    """Raises ``InputError`` where the folder cannot be made; one that can is made when there is what to write."""
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    make_folder(out)
    for folder in missing:
        folder.rmdir()


def _refuse_filled(out: Path) -> None:
    """Raises ``InputError`` for a folder that holds something: all of it is to be copied over a checkout."""
    taken = min((path.name for path in out.iterdir()), default="") if out.is_dir() else ""
    if taken:
        raise InputError(f"{out} already holds {taken}: name an empty folder with --out.")


def _refuse_inside(out: Path, given: inputs.Inputs) -> None:
    """Raises ``InputError`` for a folder in the package itself: a copy of the runners would be packed with it."""
    package = given.profile.package
    if given.root is not None and out.resolve().is_relative_to((given.root / package).resolve()):
        raise InputError(f"{out} lies inside the package {package}: name a folder outside it with --out.")


def _refuse_dirty(tree: Tree, paths: Sequence[str]) -> None:
    """Raises ``InputError`` for a path whose uncommitted changes would be written over."""
    found = tree.dirty(paths) if isinstance(tree, InWork) else []
    found = [path for path in found if tree.read(path) is not None]  # nothing of a deleted file can be lost
    if found:
        raise InputError(f"{found[0]} has uncommitted changes: commit or stash them, or pass --allow-dirty.")
