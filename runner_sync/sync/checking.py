"""``check`` and ``verify``: what is out of step, and what would break.

Comes in: ``CheckOptions``. Goes out: a ``Report``. May touch: what ``sources`` touches, and the baseline file, through
``write``, for ``--update-baseline``. A ``check`` that compares with the lock alone needs no libcst, git or network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.model import TITLES, FileChange, Finding, Report, Source
from runner_sync.sync import baseline_file, check_modules, selection
from runner_sync.sync.nested import naming_the_deepest
from runner_sync.sync.notes import check_notes, next_commands
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.trees import inputs, pairs
from runner_sync.sync.trees.runners import (
    DerivedModule,
    absent_files,
    find_modules,
    refuse_classless,
    refuse_gone,
    refuse_renamed,
    refuse_twice,
)
from runner_sync.trees import InGit
from runner_sync.verify import check as engine
from runner_sync.verify.check import CheckJob, CheckModule, CheckResult, Opinion
from runner_sync.verify.codes import BREAKAGE, Codes

if TYPE_CHECKING:
    from runner_sync.verify.trees.world import World


@dataclass(frozen=True, slots=True)
class _Run:
    """A run whose trees are open.

    ``job`` is what the rules of ``codes`` look at, ``changed`` are the lines that the branch of ``--changed-since``
    touched (``None`` without that option), and ``opinion`` asks the type checker.
    """

    options: CheckOptions
    given: inputs.Inputs
    codes: Codes
    job: CheckJob
    changed: Mapping[str, frozenset[int]] | None
    opinion: Opinion | None = None


def check(options: CheckOptions) -> Report:
    """Find drift, breakage and untidiness in the NPU runners; with the lock alone if no vllm-ascend is named.

    Raises ``InputError`` if the lock is needed and missing; if a file that the lock records is missing, has lost its
    class, has it twice or does not parse; if a base cannot be read; and if none of the chosen rules could find
    anything.
    """
    given = inputs.open_omni(options)
    codes = selection.chosen(options, given.config)
    modules = find_modules(given)
    refuse_renamed(given, modules, options.changed_since)
    refuse_gone(given, modules)
    refuse_classless(given, modules)
    refuse_twice(given, modules)
    given = pairs.open_targets(options, given)
    check_notes.refuse_blind(options, given, codes)
    needed = codes.to_run()
    with naming_the_deepest(given):
        job, said = _job(options, given, modules, needed)
    check_notes.refuse_unseen(options, given, codes, job)
    changed = _changed(options, given)
    # Deleted files are not in `changed`: if it is empty, the branch may have deleted one.
    if changed is not None and (
        not changed or any(path.endswith(".py") or path == given.lock_file for path in changed)
    ):
        job = replace(job, before=lambda: _job_before(options, given, needed))
    if given.followed is not None and needed.wants_group(BREAKAGE):
        job, compared = _with_worlds(options, given, job)
        said += compared
    said += check_modules.missing_upstream_notes(given, job.modules)
    said += [
        *check_notes.not_looked_for(options, given, codes),
        *check_notes.idle_ignores(given),
        *absent_files(given, modules),
    ]
    run = _Run(options, given, codes, job, changed)
    result = _result(run)
    said += [*check_notes.unread(job, result), *check_notes.unfollowed(result, codes), *check_notes.ported(result)]
    return _report("check", run, result, said)


def verify(options: CheckOptions) -> Report:
    """Find what breaks on the target trees, without what broke already on the trees that the runners were made for.

    The target is the vllm-ascend that is given, else that of the last upgrade according to the lock. If the trees that
    the runners were made for are not known, everything is reported. Raises ``InputError`` without a target, for a
    file that the lock records and the tree lacks, for a runner or GPU twin that does not parse, for a base that cannot
    be read, and without the type checker.
    """
    given = inputs.open_omni(options)
    codes = selection.chosen_for_verify(options, given.config)
    modules = find_modules(given)
    refuse_gone(given, modules)
    refuse_classless(given, modules)
    refuse_twice(given, modules)
    given = pairs.open_targets(options, given)
    if given.followed is None:
        given = given.following(inputs.locked(given.profile.followed, given.lock, options.progress))
    inputs.require(given.profile.followed, given.followed)
    plain = tuple(CheckModule(found.path, found.text) for found in modules)
    job, compared = _with_worlds(options, given, CheckJob(given.profile, plain, read=given.omni.read))
    _refuse_unreadable_twins(job, modules)
    said = [*compared, *_without_older(given, job), *absent_files(given, modules)]
    opinion = None
    if options.typecheck != "none" and codes.wants("RS390"):
        from runner_sync.sync.typechecker import typechecker_opinion

        opinion, remark = typechecker_opinion(options, job)
        said += [remark] if remark else []
    run = _Run(options, given, codes, job, _changed(options, given), opinion)
    result = _result(run)
    said += check_notes.unread(job, result)
    noted: list[str] = []
    if options.changed_since is None and codes.wants("RS304"):
        from runner_sync.sync.notes import inherited_code

        with naming_the_deepest(given):
            noted += inherited_code.notes(job, result.findings)
    report = _report("verify", run, result, [*said, *noted])
    return replace(report, summary={**report.summary, "noted": len(noted)}) if noted else report


def _refuse_unreadable_twins(job: CheckJob, modules: Sequence[DerivedModule]) -> None:
    """Raises ``InputError`` for a GPU twin that does not parse, also where no NPU class inherits from it: what is new
    against it would be looked for in vain."""
    if job.world is not None:
        job.world.existing([found.module.gpu.path for found in modules if found.module.gpu is not None])


def _job(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], codes: Codes
) -> tuple[CheckJob, list[str]]:
    """The job, and notes of what its modules are compared with."""
    said: Sequence[str] = ()
    described = check_modules.describe_modules(options, given, modules, codes)
    if check_modules.wants_earlier_twins(options, given, codes):
        from runner_sync.sync.synced import earlier_twins

        described, said = earlier_twins.add(options, given, modules, described)
    beside = check_modules.beside(given, modules)
    return CheckJob(given.profile, described, read=given.omni.read, beside=beside), [*said]


def _job_before(options: CheckOptions, given: inputs.Inputs, codes: Codes) -> CheckJob:
    """The job with the omni tree and the lock as they were at the fork point of the branch from ``--changed-since``.

    Raises ``InputError`` if that tree cannot be checked.
    """
    before = inputs.omni_before(given, options.changed_since or "", options.progress)
    job, _ = _job(options, before, find_modules(before), codes)
    return job


def _with_worlds(options: CheckOptions, given: inputs.Inputs, job: CheckJob) -> tuple[CheckJob, list[str]]:
    """``job`` with the target trees and those that the runners were made for, and remarks about what is compared."""
    new = pairs.target(options, given)
    old = pairs.older(options, given, new)
    world = new.world(given)
    job = replace(job, branch_point=_branch_point(options, given, world))
    narrowed = ", as far as the branch touched or brought it" if options.changed_since is not None else ""
    if old is None:
        everything = "what" if narrowed else "everything that"
        told = f"breakage: {everything} does not fit {new.title} is reported{narrowed}"
        compared, remarks = _compared(options, given, new)
        return replace(job, world=world, compared=compared), [told, *remarks]
    told = f"breakage: what does not fit {new.title} and did fit {old.title} is reported{narrowed}"
    return replace(job, world=world, old_world=old.world(given)), [told, *_believed(old, new)]


def _without_older(given: inputs.Inputs, job: CheckJob) -> list[str]:
    """A remark on what is not found where no older upstream is known: after an upgrade the lock names the target."""
    project = given.profile.followed
    if job.old_world is not None or project == "vllm":
        return []
    word = inputs.option_word(project)
    return [f"rules that compare two versions of {TITLES[project]} need --{word}-base, the one before"]


def _believed(old: pairs.Pair, new: pairs.Pair) -> list[str]:
    """A remark that vLLM is compared with nothing, where only the metadata of a folder says that it is the old one."""
    source = new.vllm.source
    if old.vllm is not new.vllm or source.kind != "path":
        return []
    return [f"vLLM is compared with nothing, for {source.location} says that it is {source.ref}, as before"]


def _compared(options: CheckOptions, given: inputs.Inputs, new: pairs.Pair) -> tuple[World | None, list[str]]:
    """The target trees with the vLLM that the omni tree is for, if that is another one, and a remark about it."""
    try:
        pair = pairs.with_vllm_of_omni(options, given, new)
    except InputError as error:
        return None, [f"rules that compare versions found nothing to compare with: {error}"]
    if pair is None:
        return None, []
    ref = pair.vllm.source.ref
    return pair.world(given), [f"rules that compare versions compare with vLLM {ref}, which this vllm-omni is for"]


def _branch_point(options: CheckOptions, given: inputs.Inputs, world: World) -> World | None:
    """The target trees with the omni tree at the fork point of the branch; ``None`` without ``--changed-since``."""
    if options.changed_since is None or not isinstance(given.omni, InGit):
        return None
    return world.with_omni(inputs.omni_before(given, options.changed_since, options.progress).omni)


def _result(run: _Run) -> CheckResult:
    """Run the rules; the result has the findings that options, settings and baseline do not filter out."""
    options, given = run.options, run.given
    settings = given.config
    with naming_the_deepest(given):
        return engine.run(
            run.job,
            replace(run.codes, per_path=settings.per_path_ignores),
            severity=options.severity or settings.severity,
            baseline=baseline_file.read_baseline(options, given),
            changed=run.changed,
            opinion=run.opinion,
        )


def _changed(options: CheckOptions, given: inputs.Inputs) -> dict[str, frozenset[int]] | None:
    """The lines that the branch touched, by path; ``None`` without ``--changed-since``."""
    if options.changed_since is None:
        return None
    return inputs.require_git(given.omni, options.changed_since).changed_lines(options.changed_since)


def _report(command: str, run: _Run, result: CheckResult, said: Sequence[str]) -> Report:
    """The report: the findings that the baseline does not accept, and the texts of their files, to quote from."""
    given, job = run.given, run.job
    findings, remarks = baseline_file.apply_baseline(run.options, given, result)
    texts = {module.path: module.text for module in job.modules}
    texts |= {f.path: text for f in findings if f.path not in texts and (text := given.omni.read(f.path)) is not None}
    quoted = dict.fromkeys(finding.path for finding in findings if finding.path in texts)
    report = Report(
        command,
        inputs=_sources_read(given, job),
        findings=findings,
        changes=tuple(FileChange(path, texts[path], texts[path]) for path in quoted),
        notes=(*said, *remarks),
        summary=_counts(findings, result) | ({"compared": 1} if job.old_world is not None else {}),
        folder=sources.folder_in_repository(given.omni),
    )
    return next_commands.completed(report, run.options, given)


def _sources_read(given: inputs.Inputs, job: CheckJob) -> tuple[Source, ...]:
    """The sources that were read, among them a vLLM that was not named but belongs to the vllm-ascend."""
    trees = given.trees if job.world is None else {**given.trees, **job.world.trees}
    return tuple(tree.source for tree in trees.values())


def _counts(findings: Sequence[Finding], result: CheckResult) -> dict[str, int | str]:
    tally = Counter(finding.severity for finding in findings)
    return {
        **{f"{name}s": tally[name] for name in ("error", "warning", "info")},
        "accepted": result.accepted + len(result.findings) - len(findings),
        "ignored": result.ignored,
    }
