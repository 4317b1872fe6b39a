"""Plan the changes of ``upgrade`` and ``lock``.

Comes in: ``UpgradeOptions``. Goes out: ``Upgrade``, which ``applying`` writes. May touch: what the rooms touch.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from packaging.version import Version

from runner_sync import sources, write
from runner_sync.compose.layout import format_changes
from runner_sync.compose.notes import WORD
from runner_sync.errors import InputError
from runner_sync.model import Finding, Report
from runner_sync.statements import forget_trees
from runner_sync.sync import planned, planning, result_check, tidiness
from runner_sync.sync.locks import later_copies
from runner_sync.sync.locks.locking import make_lock_change
from runner_sync.sync.locks.relocking import RecordedBases, drop_named_bases, note_lost, read_lock
from runner_sync.sync.nested import blame_deepest_file
from runner_sync.sync.notes import going_back, next_commands, older_gpu_code, older_upstream_code, run_notes
from runner_sync.sync.options import UpgradeOptions
from runner_sync.sync.planned import Upgrade
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import (
    find_modules,
    refuse_classless,
    refuse_deleted,
    refuse_duplicate_class,
    refuse_indentation,
    refuse_twinless,
)
from runner_sync.trees import Tree
from runner_sync.upgrade import ModuleResult, ask_once, finish, is_selected


def upgrade(options: UpgradeOptions) -> Upgrade:
    """Plan an upgrade: read the trees, merge, port and check the result, without writing anything."""
    given = open_inputs(options)
    modules = find_modules(given)
    refuse_twinless(given)
    refuse_deleted(given, modules)
    refuse_classless(given, modules)
    refuse_duplicate_class(given, modules)
    refuse_indentation(modules)
    base = _find_declared_base(options, given)
    with blame_deepest_file(given):
        results, notes, twins = planning.plan(replace(options, vllm_base=base) if base else options, given)
        formatted = [_format_result(result, options, given) for result in results]
        finished = [result for result, _failure in formatted]
        older = older_gpu_code.make_note(finished, given, options)
        if options.upstream and given.profile.followed is not None:
            older = (*older, *older_upstream_code.make_note(finished, given.profile.followed, options))
        forget_trees()
        verified = result_check.find_new_breakage(given, finished, options)
        findings = verified.findings
        if options.verify and options.conflict != "inline":
            findings = (*findings, *tidiness.find_new_faults(finished, given.profile))
    unformatted = run_notes.note_unformatted(failure for _result, failure in formatted)
    going = going_back.make_note(given) if options.upstream else ()
    all_notes = (*going, *twins.make_notes(), *twins.note_guessed(), *notes, *unformatted, *verified.notes, *older)
    if base is not None:
        all_notes = (
            f"what vLLM changed counts since {base}, which the omni tree is for (--vllm-base names another)",
            *all_notes,
        )
    unseen = twins.unseen
    made = _make_plan(
        "upgrade", finished, findings=findings, notes=all_notes, given=given, options=options, unseen=unseen
    )
    return replace(made, report=replace(made.report, fitted=verified.fitted if verified.findings else ""))


def open_inputs(options: UpgradeOptions, *, with_lock: bool = True) -> inputs.Inputs:
    """Open the trees of a run, which options, environment, configuration or installation name.

    If none of these names the followed tree, the lock does. With ``--gpu-only`` the followed tree is optional, because
    it only tells which units are copies. Raises ``InputError`` for a tree that cannot be opened, and for options that
    do not apply to the profile.
    """
    given = inputs.open_omni(options, with_lock=with_lock)
    if not options.upstream and not given.profile.has_twins:
        raise InputError("no module of the profile has a GPU twin (`gpu`), so there is nothing to port from.")
    project = given.profile.followed
    inputs.refuse_unread(given.profile, options.ascend, options.ascend_base)
    if options.omni_base is not None and not given.profile.has_twins:
        raise InputError("--omni-base names what GPU twins were ported at, and no module of the profile has one.")
    if options.upstream:
        inputs.require_one_followed(given.profile)
    followed = inputs.open_target(project, options.tree(project), given.config, options.progress)
    known = given.lock if with_lock else read_lock(given, options.progress)[0]
    try:
        followed = followed or inputs.open_locked(project, known, given.lock_file, options.progress)
    except InputError:
        if options.upstream:
            raise  # only a port from the GPU runners can do without: the lock says which units are copies
    given = given.with_followed(inputs.require_tree(project, followed) if options.upstream else followed)
    return given if project == "vllm" else replace(given, vllm=_open_vllm(options, given))


def _open_vllm(options: UpgradeOptions, given: inputs.Inputs) -> Tree | None:
    """Open the vLLM that is named, else the one that vllm-ascend declares; return ``None`` without either."""
    tree = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    if tree is not None or given.ascend is None:
        return tree
    version = sources.declared_vllm(given.ascend)
    if version is None:
        return None
    return inputs.open_at("vllm", version, None, options.progress)


def _find_declared_base(options: UpgradeOptions, given: inputs.Inputs) -> str | None:
    """Return the vLLM that the omni tree declares, if its runners follow vLLM and no option or lock gives their base.

    Earlier upgrades left out what the copies lack of that vLLM. On the rebases of seven vllm-omni pull requests (0.18.0
    to 0.27.0) an inferred base leaves 718 lines to do, this one 432. Returns ``None`` if that vLLM cannot be read, or
    is not older than the one to follow.
    """
    followed = given.followed
    is_told = options.vllm_base is not None or any(entry.upstream for entry in given.lock.entries)
    if followed is None or followed.source.project != "vllm" or not options.upstream or is_told:
        return None
    base, now = sources.declared_vllm(given.omni), followed.source.version
    if base is None or (now is not None and Version(base) >= Version(now)):
        return None
    try:
        inputs.open_at("vllm", base, followed, options.progress)
    except InputError:
        return None
    return base


def _format_result(result: ModuleResult, options: UpgradeOptions, given: inputs.Inputs) -> tuple[ModuleResult, str]:
    """Format the changed text and add review comments; return the result and why formatting failed, or ``""``.

    An unchanged module keeps its bytes.
    """
    if result.after == result.before:
        return result, ""
    text, failure = format_changes(result.before, result.after, path=result.path, root=given.root)
    return finish(result, text, with_conflicts=options.conflict == "inline"), failure


def _make_plan(
    command: str,
    results: list[ModuleResult],
    *,
    findings: tuple[Finding, ...] = (),
    notes: tuple[str, ...],
    given: inputs.Inputs,
    options: UpgradeOptions,
    unseen: Collection[str] = (),
) -> Upgrade:
    """Make the plan of a run from its results: the report, the changed files and the lock.

    The lock records no GPU twin for the ``unseen`` modules.
    """
    changes = planned.collect_changes(results)
    units = tuple(unit for result in results for unit in result.units)
    report = Report(
        command=command,
        inputs=given.sources,
        units=tuple(u for u in units if u.outcome != "unchanged" or is_selected(u.unit, options.only)),
        reviews=ask_once(item for result in results for item in result.reviews),
        findings=findings,
        changes=changes,
        notes=(*notes, *run_notes.make_notes(results, given, options)),
        summary=_summarise(command, results, given, options),
        folder=sources.folder_in_repository(given.omni) if options.out is None else "",
        platform=given.profile.platform,
        followed=given.profile.followed,
    )
    root = options.out if options.out is not None else given.root
    lock = make_lock_change(command, results, given, options, unseen=unseen)
    patch = write.as_on_disk([*changes, *([lock] if lock is not None else [])], given.root)
    report = next_commands.complete_commands(report, options, given)
    return Upgrade(report, changes, root, lock, patch)


def _summarise(
    command: str, results: list[ModuleResult], given: inputs.Inputs, options: UpgradeOptions
) -> dict[str, int | str]:
    """Return the figures of a run.

    These are included only if not zero: review comments in the old texts, unported GPU members, and the flags for
    ``--gpu-only`` and for an unverified result.
    """
    open_before = sum(result.before.count(WORD) for result in results)
    unverified = command == "upgrade" and bool(result_check.why_unverified(given, options))
    extras = {
        "left_open": open_before,
        **(run_notes.count_unported(results) if not options.only else {}),
        "gpu_only": int(not options.upstream),
        "unverified": int(unverified),
    }
    extra = {name: number for name, number in extras.items() if number}
    return planned.summarise(results) | extra


def lock(options: UpgradeOptions) -> Upgrade:
    """Plan a lock of the runners as they stand: the base of each unit, from the old lock or else inferred."""
    # The old lock does not name the trees, because it may name unreadable ones, which a new lock must replace.
    given = open_inputs(options, with_lock=False)
    options = _pin_omni_base(options, given)
    modules = find_modules(given)
    refuse_classless(given, modules)
    refuse_duplicate_class(given, modules)
    with blame_deepest_file(given):
        results, notes, twins = planning.plan(options, given, starts=False)
    known, unread = read_lock(given, options.progress)
    known = drop_named_bases(known, options)
    recorded = RecordedBases.of(known, given, options.progress)
    inferred = [planned.discard_changes(result) for result in results]
    seen = {result.path: result.path not in twins.unseen for result in inferred}
    unrecorded = {one.path for one in inferred if recorded.find_unrecorded(one, is_seen=seen[one.path])}
    recorded.refuse_shallow(inferred)
    twins.refuse_unseen(unrecorded)
    frozen = [recorded.carry_over(one, is_seen=seen[one.path]) for one in inferred]
    all_notes = (*twins.note_history(unrecorded), *notes, *unread, *note_lost(known, given))
    notes = (*all_notes, *later_copies.make_note(frozen, given, options.progress))
    return _make_plan("lock", frozen, notes=notes, given=replace(given, lock=known), options=options)


def _pin_omni_base(options: UpgradeOptions, given: inputs.Inputs) -> UpgradeOptions:
    """Replace a revision such as ``HEAD`` in ``--omni-base`` by its commit, because it moves with the next one."""
    base = options.omni_base
    if base is None or inputs.is_version(base):
        return options
    return replace(options, omni_base=inputs.open_at("vllm-omni", base, given.omni, options.progress).source.ref)
