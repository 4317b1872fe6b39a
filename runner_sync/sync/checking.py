"""Find drift (``check``) and what would break (``verify``).

Comes in: ``CheckOptions``. Goes out: a ``Report``. May touch: what ``sources`` touches, the cache folder, and the
baseline file, through ``write``, for ``--update-baseline``. A ``check`` against the lock alone needs no libcst, git or
network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner_sync import sources
from runner_sync.config import Config
from runner_sync.errors import InputError
from runner_sync.model import TITLES, FileChange, Finding, Report, Source
from runner_sync.sync import baseline_file, check_modules, recalled_checks, selection, whole_modules
from runner_sync.sync.nested import blame_deepest_file
from runner_sync.sync.notes import check_notes, gone_commits, next_commands
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.synced.claims import mark_altered
from runner_sync.sync.trees import branches, inputs, pairs
from runner_sync.sync.trees.runners import (
    DerivedModule,
    find_modules,
    note_absent_files,
    refuse_classless,
    refuse_duplicate_class,
    refuse_gone,
    refuse_renamed,
    refuse_unknown_upstream,
)
from runner_sync.trees import InGit
from runner_sync.verify import check as engine
from runner_sync.verify.catalog import known_codes
from runner_sync.verify.check import CheckResult
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import BREAKAGE, Codes
from runner_sync.verify.hits import Opinion

if TYPE_CHECKING:
    from runner_sync.sync.classes.parted_runners import Parted
    from runner_sync.verify.trees.world import World


@dataclass(frozen=True, slots=True)
class _Run:
    """A run with open trees.

    ``job`` is the input of the rules in ``codes``. ``changed`` are the lines that the branch of ``--changed-since``
    touched (``None`` without that option). ``opinion`` asks the type checker. ``parted`` are runners that the job has
    as a whole.
    """

    options: CheckOptions
    given: inputs.Inputs
    codes: Codes
    job: CheckJob
    changed: Mapping[str, frozenset[int]] | None
    opinion: Opinion | None = None
    parted: tuple[Parted, ...] = ()


def check(options: CheckOptions) -> Report:
    """Find drift, breakage and untidiness in the NPU runners; without a vllm-ascend, compare with the lock alone.

    Raises ``InputError`` if the lock is needed and missing, a locked file is missing, a runner or twin does not parse
    or does not define its class exactly once, a base cannot be read, or none of the chosen rules could find anything.
    """
    given, codes = _open_runners(options, selection.choose_codes)
    given, parted = whole_modules.read_whole_runners(given)
    given = whole_modules.add_whole_twins(given)
    modules = find_modules(given)
    check_notes.refuse_removed_lock(options, given, codes)
    check_notes.refuse_blind(options, given, codes)
    needed = codes.to_run()
    with blame_deepest_file(given):
        job, notes = _make_job(options, given, modules, needed)
    check_notes.refuse_unseen(options, given, codes, job)
    changed = _find_changed_lines(options, given)
    # Deleted files are not in `changed`: if it is empty, the branch may have deleted one.
    if changed is not None and (
        not changed or any(path.endswith(".py") or path == given.lock_file for path in changed)
    ):
        job = replace(job, before=lambda: _make_job_at_fork(options, given, needed))
    if given.followed is not None and needed.wants_group(BREAKAGE):
        job, compared = _add_worlds(options, given, modules, job)
        notes += compared
    notes += check_modules.note_missing_upstream(given, job.modules)
    notes += [
        *given.note_moves(),
        *check_notes.note_skipped_rules(options, given, codes),
        *check_notes.note_idle_ignores(given),
        *gone_commits.make_note((entry.gpu for entry in given.lock.entries), given),
        *note_absent_files(given, [derived.path for derived in modules]),
    ]
    run = _Run(options, given, codes, job, changed, parted=parted)
    result = _run_rules(run)
    notes += [
        *check_notes.note_known(options, job, result),
        *check_notes.note_unread(job, result),
        *check_notes.note_unfollowed(result, codes),
        *check_notes.note_ported(result),
    ]
    return _make_report("check", run, result, notes)


def verify(options: CheckOptions) -> Report:
    """Find what breaks on the target trees but not on the trees that the runners were made for.

    The target is the given vllm-ascend, else that of the last upgrade in the lock. If the older trees are unknown,
    reports everything. Raises ``InputError`` without a target, the type checker or a rule to run, if a locked file is
    missing, a runner or twin does not parse or does not define its class exactly once, a configured upstream class does
    not exist, or a base cannot be read.
    """
    given, codes = _open_runners(options, selection.choose_codes_for_verify)
    check_notes.refuse_mute(options, codes)
    if given.followed is None:
        given = given.with_followed(
            inputs.open_locked(given.profile.followed, given.lock, given.lock_file, options.progress)
        )
    inputs.require_tree(given.profile.followed, given.followed, given.lock, given.lock_file)
    modules = find_modules(given)
    plain = tuple(CheckModule(derived.path, derived.text) for derived in modules)
    job, compared = _add_worlds(
        options, given, modules, CheckJob(given.profile, plain, read=given.omni.read, isolates=options.isolates)
    )
    worlds = [world for world in (job.world, job.old_world, job.compared) if world is not None]
    followed = given.profile.followed
    refuse_unknown_upstream(modules, followed, [world.trees[followed] for world in worlds])
    _refuse_unreadable_twins(job, modules)
    notes = [
        *given.note_moves(),
        *compared,
        *_note_missing_older(given, job),
        *note_absent_files(given, [derived.path for derived in modules]),
    ]
    opinion = None
    if options.typecheck != "none" and codes.wants("RS390"):
        from runner_sync.sync.typechecker import typechecker_opinion

        opinion, remark = typechecker_opinion(options, job)
        if remark and not codes.wants_any(code for code in known_codes() if code != "RS390"):
            raise InputError(f"{remark}.")
        notes += [remark] if remark else []
    run = _Run(options, given, codes, job, _find_changed_lines(options, given), opinion)
    result = _run_rules(run)
    notes += [*check_notes.note_known(options, job, result), *check_notes.note_unread(job, result)]
    noted: list[str] = []
    if options.changed_since is None and codes.wants("RS304"):
        from runner_sync.sync.notes import inherited_code

        with blame_deepest_file(given):
            noted += inherited_code.make_notes(job, result.findings)
    report = _make_report("verify", run, result, [*notes, *noted])
    return replace(report, summary={**report.summary, "noted": len(noted)}) if noted else report


def _open_runners(
    options: CheckOptions, choose: Callable[[CheckOptions, Config], Codes]
) -> tuple[inputs.Inputs, Codes]:
    """Open the trees and choose the rules; refuse runners that could not be checked.

    The rows of the profile are those of these trees only afterwards: a class that runners follow may have moved.
    """
    given = inputs.open_omni(options)
    codes = choose(options, given.config)
    modules = find_modules(given)
    refuse_renamed(given, modules, options.changed_since)
    refuse_gone(given, modules)
    refuse_classless(given, modules)
    refuse_duplicate_class(given, modules)
    return mark_altered(options, pairs.open_targets(options, given)), codes


def _refuse_unreadable_twins(job: CheckJob, modules: Sequence[DerivedModule]) -> None:
    """Raise ``InputError`` for a GPU twin that does not parse, even if no NPU class inherits from it.

    New code in the twin could otherwise not be found.
    """
    if job.world is not None:
        job.world.existing([path for derived in modules for path in derived.module.twin_paths])


def _make_job(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], codes: Codes
) -> tuple[CheckJob, list[str]]:
    """Make the job, and notes on what its modules are compared with."""
    notes: Sequence[str] = ()
    described = check_modules.describe_modules(options, given, modules, codes)
    if check_modules.wants_earlier_twins(options, given, codes):
        from runner_sync.sync.synced import earlier_twins

        described, notes = earlier_twins.add_earlier_twins(options, given, modules, described)
    beside = check_modules.find_neighbours(given, modules)
    around = check_modules.search_trees(given, described, codes)
    job = CheckJob(given.profile, described, read=given.read_derived, beside=beside, around=around)
    return replace(job, isolates=options.isolates), [*notes]


def _make_job_at_fork(options: CheckOptions, given: inputs.Inputs, codes: Codes) -> CheckJob:
    """Make the job for the omni tree and lock at the fork point of the branch from ``--changed-since``.

    Raises ``InputError`` if that tree cannot be checked.
    """
    before, _parted = whole_modules.read_whole_runners(
        branches.omni_before(given, options.changed_since or "", options.progress)
    )
    job, _ = _make_job(options, before, find_modules(before), codes)
    return job


def _add_worlds(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], job: CheckJob
) -> tuple[CheckJob, list[str]]:
    """Add the target trees and those that the runners were made for to ``job``; return remarks on the comparison."""
    new = pairs.open_target_pair(options, given)
    old = pairs.open_older_pair(options, given, new)
    world = new.world(given)
    job = replace(job, branch_point=_open_branch_point(options, given, world))
    narrowed = ", as far as the branch touched or brought it" if options.changed_since is not None else ""
    if old is None:
        everything = "what" if narrowed else "everything that"
        note = f"breakage: {everything} does not fit {new.title} is reported{narrowed}"
        compared, remarks = _open_comparison(options, given, new, modules)
        return replace(job, world=world, compared=compared), [note, *remarks]
    note = f"breakage: what does not fit {new.title} and did fit {old.title} is reported{narrowed}"
    return replace(job, world=world, old_world=old.world(given)), [note, *_note_unverified_vllm(old, new)]


def _note_missing_older(given: inputs.Inputs, job: CheckJob) -> list[str]:
    """Note which rules find nothing without an older upstream: after an upgrade the lock names the target."""
    project = given.profile.followed
    older = job.old_world or job.compared
    if project == "vllm" or (older is not None and older.trees[project] is not given.followed):
        return []
    word = inputs.option_word(project)
    return [f"rules that compare two versions of {TITLES[project]} need --{word}-base, the version before"]


def _note_unverified_vllm(old: pairs.Pair, new: pairs.Pair) -> list[str]:
    """Note that vLLM is compared with nothing, if only the metadata of a folder says that it is the old one."""
    source = new.vllm.source
    if old.vllm is not new.vllm or source.kind != "path":
        return []
    return [
        f"vLLM is not compared with an older one, because {source.location} says that it is {source.ref}, as before"
    ]


def _open_comparison(
    options: CheckOptions, given: inputs.Inputs, new: pairs.Pair, modules: Sequence[DerivedModule]
) -> tuple[World | None, list[str]]:
    """Open the trees that omni seems to be for, if they differ from the target, and add a remark."""
    project, remarks = given.profile.followed, []
    failed = "rules that compare versions found no older"
    followed, vllm, why = new.followed, new.vllm, ""
    try:
        refs = _find_copied_refs(options, given, modules)
        followed = pairs.open_newest(refs, given, options) or new.followed
    except InputError as error:
        remarks.append(f"{failed} {TITLES[project]} to compare with: {error}")
    try:
        vllm, why = pairs.open_vllm_beside(options, given, new)
    except InputError as error:
        remarks.append(f"{failed} vLLM to compare with: {error}")
    if followed is new.followed and vllm is new.vllm:
        return None, remarks
    pair, named = pairs.Pair(vllm if project == "vllm" else followed, vllm), []
    if followed is not new.followed:
        named.append(f"{TITLES[project]} {followed.source.ref}, which the copies seem to follow")
    if vllm is not new.vllm:
        named.append(f"vLLM {vllm.source.ref}, {why}")
    return pair.world(given), [f"rules that compare versions compare with {', and '.join(named)}", *remarks]


def _find_copied_refs(options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]) -> list[str]:
    """Return the upstream revision of each copy, as far as texts tell; none if the lock names them."""
    if given.profile.followed == "vllm" or pairs.find_last_synced(given.lock) is not None:
        return []
    from runner_sync.sync.synced import inference

    with blame_deepest_file(given):
        return [base.ref.ref for _, bases in inference.infer_bases(options, given, modules) for base in bases.values()]


def _open_branch_point(options: CheckOptions, given: inputs.Inputs, world: World) -> World | None:
    """Open the target trees with omni at the fork point of the branch; return ``None`` without ``--changed-since``."""
    if options.changed_since is None or not isinstance(given.omni, InGit):
        return None
    before, _parted = whole_modules.read_whole_runners(
        branches.omni_before(given, options.changed_since, options.progress)
    )
    return world.with_omni(before.whole_omni)


def _run_rules(run: _Run) -> CheckResult:
    """Run the rules and filter the findings by options, settings and baseline."""
    options, given = run.options, run.given
    settings = given.config
    with blame_deepest_file(given):
        return engine.run(
            run.job,
            replace(run.codes, per_path=settings.per_path_ignores),
            severity=options.severity or settings.severity,
            baseline=baseline_file.read_baseline(options, given),
            changed=run.changed,
            opinion=run.opinion,
            recall=recalled_checks.find,
            places=whole_modules.find_places(given, run.parted),
        )


def _find_changed_lines(options: CheckOptions, given: inputs.Inputs) -> dict[str, frozenset[int]] | None:
    """Return the lines that the branch touched, by path; ``None`` without ``--changed-since``."""
    if options.changed_since is None:
        return None
    return branches.require_git(given.omni, options.changed_since).changed_lines(options.changed_since)


def _make_report(command: str, run: _Run, result: CheckResult, notes: Sequence[str]) -> Report:
    """Make the report of the findings that the baseline does not accept, with their files' texts for quotes."""
    given, job = run.given, run.job
    findings, remarks = baseline_file.apply_baseline(run.options, given, result)
    texts = {module.path: module.text for module in job.modules if module.path not in given.together}
    texts |= {f.path: text for f in findings if f.path not in texts and (text := given.omni.read(f.path)) is not None}
    quoted = dict.fromkeys(finding.path for finding in findings if finding.path in texts)
    report = Report(
        command,
        inputs=_list_sources(given, job),
        findings=findings,
        changes=tuple(FileChange(path, texts[path], texts[path]) for path in quoted),
        notes=(*notes, *remarks),
        summary=_count_findings(findings, result) | ({"compared": 1} if job.old_world is not None else {}),
        folder=sources.folder_in_repository(given.omni),
        advice=check_notes.advise_baseline(run.options, given, findings) if command == "check" else "",
        fail_on=run.options.fail_on or given.config.fail_on,
    )
    return next_commands.complete_commands(report, run.options, given)


def _list_sources(given: inputs.Inputs, job: CheckJob) -> tuple[Source, ...]:
    """Return the sources that were read, including an unnamed vLLM that belongs to the vllm-ascend."""
    trees = given.trees if job.world is None else {**given.trees, **job.world.trees}
    return tuple(tree.source for tree in trees.values())


def _count_findings(findings: Sequence[Finding], result: CheckResult) -> dict[str, int | str]:
    tally = Counter(finding.severity for finding in findings)
    return {
        **{f"{name}s": tally[name] for name in ("error", "warning", "info")},
        "accepted": result.accepted + len(result.findings) - len(findings),
        "ignored": result.ignored,
    }
