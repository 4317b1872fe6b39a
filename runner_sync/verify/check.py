"""Runs the rules over the NPU modules of one job; the engine of `runner-sync check`.

Comes in: a `CheckJob` (texts, and worlds if trees are at hand) and what to report. Goes out: a `CheckResult`. May
touch: nothing but what the job can read. Imports no libcst, git or network library; loads the RS3xx rules only if the
job has a world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from runner_sync.errors import InputError, UnresolvedConflict
from runner_sync.model import Finding, Severity
from runner_sync.verify import baseline as ratchet
from runner_sync.verify.baseline import Baseline, StaleEntry
from runner_sync.verify.branch import Branch, Lines
from runner_sync.verify.catalog import can_run, has_seen_all
from runner_sync.verify.causes import fold_causes
from runner_sync.verify.codes import ALL, BREAKAGE, Codes, is_selected
from runner_sync.verify.conflicts import Conflicts
from runner_sync.verify.ignores import Ignore, silence
from runner_sync.verify.registry import Rule, load_applicable, load_beside
from runner_sync.verify.rules import (
    rs201_gpu_changed,
    rs491_unused_ignore,
    rs492_ignore_without_reason,
)
from runner_sync.verify.runners import parity
from runner_sync.verify.runners.job import CheckJob, CheckModule, Library, Subject
from runner_sync.verify.runners.reading import Hit, Reading

__all__ = ["CheckJob", "CheckModule", "CheckResult", "run"]

RANKS: Mapping[Severity, int] = {"info": 0, "warning": 1, "error": 2}

Opinion = Callable[[Sequence[Finding]], Sequence[Finding]]
"""A further source of findings about breakage (a type checker): gets the rules' findings and returns others."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``findings`` are to be reported, by place. The baseline silenced ``accepted`` findings, comments ``ignored``.

    ``ported`` are units of the branch that were edited since the lock, as their GPU twins were. ``equal`` are units
    that do the same as a twin of which the lock has another text. ``stale`` are baseline entries that can shrink;
    ``baseline`` is for ``--update-baseline`` to write. ``branch_error`` says why the tree at the start of the branch
    could not be checked; breakage by the branch on lines that it did not touch is missing then. ``unfollowed`` are NPU
    classes with a base that cannot be followed, so that nobody knows what they run. ``known`` counts the breakage that
    the old trees have, too.
    """

    findings: tuple[Finding, ...]
    accepted: int = 0
    ignored: int = 0
    ported: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    stale: tuple[StaleEntry, ...] = ()
    baseline: Baseline | None = None
    branch_error: InputError | None = None
    unfollowed: tuple[str, ...] = ()
    known: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What the rules found in a job, before a branch, a baseline or a severity narrows it.

    ``hits`` are unsilenced, by place. ``is_whole``: no conflict kept rules from running. The other fields are those of
    `CheckResult`.
    """

    hits: tuple[Hit, ...]
    ignored: int = 0
    is_whole: bool = True
    branch_error: InputError | None = None
    unfollowed: tuple[str, ...] = ()
    known: int = 0


Finder = Callable[[CheckJob, Codes], Found]

Places = Callable[[Sequence[Hit]], Sequence[Hit]]
"""Puts other places into hits, and keeps one of those that become the same."""


def run(
    job: CheckJob,
    codes: Codes = ALL,
    *,
    severity: Severity = "info",
    baseline: Baseline | None = None,
    changed: Lines | None = None,
    opinion: Opinion | None = None,
    recall: Finder | None = None,
    places: Places | None = None,
) -> CheckResult:
    """Check ``job``.

    ``severity`` is the least one reported. ``changed`` are the lines (1-based) that a branch touched, by path. With it,
    only findings on these lines, about a GPU unit on them, or absent at the start of the branch are reported. Comments
    and baseline also apply to the findings of ``opinion``. ``recall`` is called in place of `find` if neither is given.
    ``places`` tells where the lines of the job's texts stand in the tree, if elsewhere.
    Raises ``InputError`` if a text does not parse; merge conflicts in a text are a finding, unless RS410 is not wanted
    there.
    """
    if recall is not None and changed is None and opinion is None:
        found, branch = recall(job, codes), None
    else:
        found, branch = _find(job, codes, changed=changed, opinion=opinion)
    ran = _RanRules(job, codes, is_whole=found.is_whole, has_opinion=opinion is not None)
    found = replace(found, hits=tuple(places(found.hits))) if places is not None else found
    result = _report(found.hits, baseline, ran=ran, severity=severity, branch=branch)
    return replace(
        result,
        ignored=found.ignored,
        branch_error=found.branch_error,
        unfollowed=found.unfollowed,
        known=found.known,
    )


def find(job: CheckJob, codes: Codes) -> Found:
    """Run the rules on ``job``, without a branch or another opinion. Raises ``InputError`` as `run` does."""
    return _find(job, codes, changed=None, opinion=None)[0]


def _find(
    job: CheckJob, reported: Codes, *, changed: Lines | None, opinion: Opinion | None
) -> tuple[Found, Branch | None]:
    codes = reported.to_run()
    library = Library(job, reported.wants)
    conflicts = Conflicts(library, codes)
    by_rules = list(_run_rules(library, codes, conflicts))
    conflicts.look_beside(changed)
    broken = _find_breakage(job, codes, conflicts, opinion)
    hits = sorted([*by_rules, *broken.hits, *conflicts.hits()], key=_place)
    readings = _collect_readings(hits, library, conflicts)
    unsilenced, comments = silence(hits, readings)
    branch_point = _check_branch_point(library, codes)
    branch = Branch(changed, library, branch_point.library) if changed is not None else None
    unsilenced = branch_point.mark_new(unsilenced, among=by_rules, branch=branch)
    is_whole = not conflicts.hits()
    ran = _RanRules(job, codes, is_whole=is_whole, has_opinion=opinion is not None)
    about_ignores = _check_ignores(comments, readings, has_run=ran)
    wanted = (h for h in (*unsilenced, *about_ignores) if reported.wants(h.finding.code, h.finding.path))
    found = Found(
        tuple(sorted(wanted, key=_place)),
        ignored=len(hits) - len(unsilenced),
        is_whole=is_whole,
        branch_error=broken.branch_error or branch_point.error,
        unfollowed=_find_unfollowed(library, codes, conflicts),
        known=broken.known,
    )
    return found, branch


def _find_unfollowed(library: Library, codes: Codes, conflicts: Conflicts) -> tuple[str, ...]:
    """Return the NPU classes that the wanted rules about whole classes skipped."""
    if not codes.wants_any(parity.OF_WHOLE_CLASSES):
        return ()
    found: list[str] = []
    for module in library.job.modules:
        if module.path not in conflicts:
            with suppress(UnresolvedConflict):  # the conflict is a finding of its own
                found += [pair.npu.name for pair in parity.make_pairs(Subject(library, module)) if pair.npu_mro.is_open]
    return tuple(found)


def _collect_readings(hits: Sequence[Hit], library: Library, conflicts: Conflicts) -> dict[str, Reading]:
    """Return the modules and all other files with hits, by path, without files that hold a conflict."""
    paths = dict.fromkeys([*(module.path for module in library.job.modules), *(hit.finding.path for hit in hits)])
    return {path: r for path in paths if (r := library.at(path)) is not None and path not in conflicts}


def _report(
    found: Sequence[Hit], baseline: Baseline | None, *, ran: _RanRules, severity: Severity, branch: Branch | None
) -> CheckResult:
    """Return the result with the findings that the baseline does not accept, concern the branch and are severe enough.

    The baseline accepts findings that the branch did not touch first, because they existed before.
    """
    everything = [hit.finding for hit in found if not hit.is_done]
    concerning = {id(hit.finding) for hit in found if branch is None or branch.is_about(hit)}
    others_first = sorted(everything, key=lambda finding: id(finding) in concerning)
    fresh = ratchet.drop_accepted(baseline, others_first) if baseline is not None else everything
    keep = {id(finding) for finding in fresh} & concerning
    shown = [finding for finding in everything if id(finding) in keep]
    # A unit ported by hand satisfies this rule, so it is mentioned and fails nothing.
    ported = [f for f in shown if branch is not None and (f.code, f.severity) == rs201_gpu_changed.PORTED]
    return CheckResult(
        tuple(fold_causes(f for f in shown if RANKS[f.severity] >= RANKS[severity] and f not in ported)),
        accepted=len(everything) - len(fresh),
        ported=tuple(finding.unit for finding in ported),
        equal=tuple(hit.finding.unit for hit in found if hit.is_done and id(hit.finding) in concerning),
        stale=ratchet.find_stale(baseline, everything, has_run=ran) if baseline is not None else (),
        baseline=ratchet.update(baseline, everything, has_run=ran),
    )


@dataclass(frozen=True, slots=True)
class _RanRules:
    """Whether the rule of a code ran in this job, so that its silence means something; a conflict silences rules."""

    job: CheckJob
    codes: Codes
    is_whole: bool
    has_opinion: bool

    def __call__(self, code: str) -> bool:
        if not self.codes.wants(code) or not self.is_whole:
            return False
        if code.startswith(BREAKAGE):
            return self.job.world is not None and (code != "RS390" or self.has_opinion)
        return code != "RS490" and can_run(code, self.job) and has_seen_all(code, self.job)


def _run_rules(library: Library, codes: Codes, conflicts: Conflicts) -> Iterator[Hit]:
    """Yield the hits of the rules that look at one module."""
    job = library.job
    rules = [(rule, rule.CODE) for rule in load_applicable(job) if codes.wants(rule.CODE)]
    for module in job.modules:
        subject = Subject(library, module)
        for rule, code in rules if module.path not in conflicts else ():
            if codes.wants(code, module.path):
                yield from _run_rule(rule, subject, conflicts)
    near = [(rule, rule.CODE) for rule in load_beside() if codes.wants(rule.CODE)] if job.beside else []
    for path in job.beside if near else ():
        if path not in conflicts and (reading := library.readable(path)) is not None:
            subject = Subject(library, CheckModule(path, reading.text))
            wanted = [rule for rule, code in near if codes.wants(code, path)]
            yield from (hit for rule in wanted for hit in _run_rule_beside(rule, subject, conflicts))


def _run_rule_beside(rule: Rule, subject: Subject, conflicts: Conflicts) -> list[Hit]:
    """Run a rule on a module that no runner needs; no hits if the module does not parse."""
    try:
        return _run_rule(rule, subject, conflicts)
    except InputError:
        return []


def _run_rule(rule: Rule, subject: Subject, conflicts: Conflicts) -> list[Hit]:
    """Return the hits of a rule; none if it needs a file that holds a conflict."""
    try:
        return list(rule.find(subject))
    except UnresolvedConflict as error:
        if not conflicts.look_into(error.path):
            raise  # a conflict outside the omni tree
        return []


@dataclass(frozen=True, slots=True)
class _BranchPoint:
    """The files at the start of the branch and the findings in them; ``error`` says why these are unknown."""

    library: Library | None = None
    findings: Sequence[Finding] = ()
    error: InputError | None = None

    def mark_new(self, hits: Sequence[Hit], *, among: Sequence[Hit], branch: Branch | None) -> list[Hit]:
        """Return the hits; marks those in ``among`` that did not exist at the start of the branch as the branch's.

        A branch can cause a finding on a line that it did not touch, by deleting an NPU override or one of two markers.
        Of several similar findings, those on touched lines are the new ones.
        """
        if self.library is None:
            return [*hits]
        comparable = {id(hit) for hit in among}
        now = [hit for hit in hits if id(hit) in comparable]
        now.sort(key=lambda hit: branch is not None and branch.is_about(hit))
        new = {id(finding) for finding in ratchet.find_new([hit.finding for hit in now], self.findings)}
        return [replace(hit, is_branchs=True) if id(hit.finding) in new else hit for hit in hits]


def _check_branch_point(library: Library, codes: Codes) -> _BranchPoint:
    """Find, at the start of the branch, the findings of rules that look at one module; none if no branch is named."""
    try:
        start = library.before
        if start is None:
            return _BranchPoint()
        hits = list(_run_rules(start, codes, Conflicts(start, codes)))
        paths = dict.fromkeys(hit.finding.path for hit in hits)
        # A finding is also new if the branch deleted the comment that silenced it.
        unsilenced, _ = silence(hits, {path: reading for path in paths if (reading := start.at(path)) is not None})
    except InputError as error:  # the branch may repair it
        return _BranchPoint(error=error)
    return _BranchPoint(start, [hit.finding for hit in unsilenced])


class _Breakage(NamedTuple):
    """The hits of the RS3xx rules, and why those that the branch caused could not be found, if so.

    ``known`` counts the problems that the old trees have, too.
    """

    hits: list[Hit]
    branch_error: InputError | None = None
    known: int = 0


def _find_breakage(job: CheckJob, codes: Codes, conflicts: Conflicts, opinion: Opinion | None) -> _Breakage:
    # The runners inherit from each other, so with one file missing the rest would look broken.
    if job.world is None or not codes.wants_group(BREAKAGE) or conflicts.hits():
        return _Breakage([])
    from runner_sync.verify import breakage

    own = [module.path for module in job.modules]
    paths = [*own, *job.world.beside(own)]
    # A branch can break code on lines that it did not touch, such as NPU calls of a GPU method that it changed.
    found, number_known = breakage.compare(job.world, job.old_world, paths, since=job.compared)
    broken: list[Finding] = []
    branch_error = None
    if job.branch_point is not None:
        try:
            broken = breakage.find(job.world, job.branch_point, paths)
        except InputError as error:  # the branch may repair it
            branch_error = error
    brought = set(broken)
    elsewhere: list[Finding] = []
    if codes.wants("RS301"):
        elsewhere = breakage.find_imports_elsewhere(job.world, job.old_world, own, job.profile.followed)
    found = list(dict.fromkeys([*broken, *found, *elsewhere]))
    # Findings of ignored rules count as known, so that the type checker does not report them in other words.
    known = [finding for finding in found if is_selected(finding.code, codes.select, ())]
    opinions = opinion(known) if opinion is not None and codes.wants("RS390") else ()
    wanted = (finding for finding in (*found, *opinions) if codes.wants(finding.code, finding.path))
    return _Breakage([Hit(finding, is_branchs=finding in brought) for finding in wanted], branch_error, number_known)


def _place(hit: Hit) -> tuple[str, int, int, str, str, str]:
    finding = hit.finding
    return finding.path, finding.line, finding.column, finding.code, finding.symbol, finding.message


def _check_ignores(
    known: Mapping[str, tuple[Ignore, ...]], readings: Mapping[str, Reading], *, has_run: Callable[[str], bool]
) -> list[Hit]:
    """Return findings about the ignore comments; a code whose rule did not run cannot be called unused."""
    return [
        hit
        for path, ignores in known.items()
        for ignore in ignores
        for rule in (rs491_unused_ignore, rs492_ignore_without_reason)
        for hit in rule.find(readings[path], ignore, has_run)
    ]
