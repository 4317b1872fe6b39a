"""Run the rules over the NPU modules of one job; the engine of `runner-sync check`.

Comes in: a `CheckJob` (texts, and worlds where trees are at hand) and what to report. Goes out: a `CheckResult`. May
touch: nothing but what the job can read. Imports no libcst, no git and no network library; the RS3xx rules are loaded
only when the job has a world.
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
from runner_sync.verify.causes import folded
from runner_sync.verify.codes import ALL, BREAKAGE, Codes, is_selected
from runner_sync.verify.ignores import Ignore, silence
from runner_sync.verify.registry import Rule, applicable, beside
from runner_sync.verify.rules import (
    rs201_gpu_changed,
    rs410_conflict_markers,
    rs491_unused_ignore,
    rs492_ignore_without_reason,
)
from runner_sync.verify.runners import parity
from runner_sync.verify.runners.job import CheckJob, CheckModule, Library, Subject
from runner_sync.verify.runners.reading import Hit, Reading

__all__ = ["CheckJob", "CheckModule", "CheckResult", "run"]

RANKS: Mapping[Severity, int] = {"info": 0, "warning": 1, "error": 2}

Opinion = Callable[[Sequence[Finding]], Sequence[Finding]]
"""A further source of findings about breakage, a type checker: it gets those of the rules and returns others."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``findings`` are to be reported, by place; ``accepted`` were silenced by the baseline, ``ignored`` by comments.

    ``ported`` are units of the branch that were edited since the lock, as their GPU twins were, and ``equal`` those
    that say what twins say of which the lock has another text; ``stale`` are baseline entries that can shrink;
    ``baseline`` is what ``--update-baseline`` is to write; ``branch_error`` is why the tree where the branch began
    could not be checked: what the branch breaks on lines that it did not touch is missing then. ``unfollowed`` are NPU
    classes with a base that cannot be followed, so that nobody knows what they run.
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


def run(
    job: CheckJob,
    codes: Codes = ALL,
    *,
    severity: Severity = "info",
    baseline: Baseline | None = None,
    changed: Lines | None = None,
    opinion: Opinion | None = None,
) -> CheckResult:
    """Check ``job``.

    ``severity`` is the least one reported. ``changed`` are the lines (1-based) that a branch touched, by path: only
    findings on them, or about a GPU unit on them, are reported, and those that were not there where the branch began.
    Comments and baseline apply to the findings of ``opinion``, too. Raises ``InputError`` when a text does not parse;
    merge conflicts in one are a finding, unless RS410 is not wanted there.
    """
    asked, codes = codes, codes.to_run()
    library = Library(job)
    conflicts = _Conflicts(library, codes)
    by_rules = list(_hits(library, codes, conflicts))
    conflicts.look_beside(changed)
    broken = _breakage(job, codes, conflicts, opinion)
    hits = sorted([*by_rules, *broken.hits, *conflicts.hits()], key=_place)
    readings = _readings(hits, library, conflicts)
    unsilenced, comments = silence(hits, readings)
    start = _branch_point(library, codes)
    branch = Branch(changed, library, start.library) if changed is not None else None
    unsilenced = start.marked(unsilenced, among=by_rules, branch=branch)
    ran = _Ran(job, codes, is_whole=not conflicts.hits(), has_opinion=opinion is not None)
    about = _about_ignores(comments, readings, has_run=ran)
    wanted = sorted((h for h in (*unsilenced, *about) if asked.wants(h.finding.code, h.finding.path)), key=_place)
    result = _report(wanted, baseline, ran=replace(ran, codes=asked), severity=severity, branch=branch)
    return replace(
        result,
        ignored=len(hits) - len(unsilenced),
        branch_error=broken.branch_error or start.error,
        unfollowed=_unfollowed(library, codes, conflicts),
    )


def _unfollowed(library: Library, codes: Codes, conflicts: _Conflicts) -> tuple[str, ...]:
    """The NPU classes that the wanted rules about what a class runs were silent about."""
    if not codes.wants_any(parity.OF_WHOLE_CLASSES):
        return ()
    found: list[str] = []
    for module in library.job.modules:
        if module.path not in conflicts:
            with suppress(UnresolvedConflict):  # a finding of its own
                found += [pair.npu.name for pair in parity.pairs(Subject(library, module)) if pair.npu_mro.is_open]
    return tuple(found)


def _readings(hits: Sequence[Hit], library: Library, conflicts: _Conflicts) -> dict[str, Reading]:
    """The modules and all other files with hits, by path, without files that hold a conflict."""
    paths = dict.fromkeys([*(module.path for module in library.job.modules), *(hit.finding.path for hit in hits)])
    return {path: r for path in paths if (r := library.at(path)) is not None and path not in conflicts}


def _report(
    found: list[Hit], baseline: Baseline | None, *, ran: _Ran, severity: Severity, branch: Branch | None
) -> CheckResult:
    """The result with those findings that the baseline does not accept, that concern the branch, and that are severe
    enough. The baseline accepts what the branch did not touch before what it did: that was there first."""
    everything = [hit.finding for hit in found if not hit.is_done]
    concerning = {id(hit.finding) for hit in found if branch is None or branch.is_about(hit)}
    others_first = sorted(everything, key=lambda finding: id(finding) in concerning)
    fresh = ratchet.uncovered(baseline, others_first) if baseline is not None else everything
    keep = {id(finding) for finding in fresh} & concerning
    shown = [finding for finding in everything if id(finding) in keep]
    # Whoever ported by hand has done what this rule asks for: it is mentioned, and fails nothing.
    ported = [f for f in shown if branch is not None and (f.code, f.severity) == rs201_gpu_changed.PORTED]
    return CheckResult(
        tuple(folded(f for f in shown if RANKS[f.severity] >= RANKS[severity] and f not in ported)),
        accepted=len(everything) - len(fresh),
        ported=tuple(finding.unit for finding in ported),
        equal=tuple(hit.finding.unit for hit in found if hit.is_done and id(hit.finding) in concerning),
        stale=ratchet.stale(baseline, everything, has_run=ran) if baseline is not None else (),
        baseline=ratchet.update(baseline, everything, has_run=ran),
    )


@dataclass(frozen=True, slots=True)
class _Ran:
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


class _Conflicts:
    """The files of a job that hold merge conflicts, by path; those that a rule comes upon are added.

    Conflicts are the only findings in their file. Raises ``UnresolvedConflict`` for one that would not be reported.
    """

    def __init__(self, library: Library, codes: Codes) -> None:
        self._library = library
        self._codes = codes
        self._found: dict[str, list[Hit]] = {}
        for module in library.job.modules:
            self.look_into(module.path)
            if module.gpu_text is not None:
                self.look_into(module.gpu_path)

    def __contains__(self, path: str) -> bool:
        return path in self._found

    def hits(self) -> list[Hit]:
        """One finding for each conflict."""
        return [hit for hits in self._found.values() for hit in hits]

    def look_into(self, path: str) -> bool:
        """Whether the omni file at ``path`` holds a conflict; if so, it is added."""
        reading = self._library.at(path)
        found = list(rs410_conflict_markers.find(reading)) if reading is not None else []
        if found and not self._codes.wants("RS410", path):
            raise UnresolvedConflict(path, found[0].finding.line)
        if found:
            self._found[path] = found
        return bool(found)

    def look_beside(self, changed: Lines | None) -> None:
        """Look for conflicts in the files that were searched for classes, and in those that a branch changed beside the
        modules.

        A class is found by its text even in a file that does not parse, and without it an MRO has a hole. Raises
        ``InputError`` for a file that cannot be read or does not parse; with a branch, only for one that it changed.
        """
        for path, error in self._library.unread.items():
            if changed is None or path in changed:
                raise error
        folders = {module.path.rpartition("/")[0] for module in self._library.job.modules}
        beside = [p for p in changed or () if p.endswith(".py") and p.rpartition("/")[0] in folders]
        for path in dict.fromkeys([*self._library.paths(), *beside]):
            reading = self._library.at(path)
            if not self.look_into(path) and reading is not None and (changed is None or path in changed):
                _ = reading.tree


def _hits(library: Library, codes: Codes, conflicts: _Conflicts) -> Iterator[Hit]:
    """The hits of the rules that look at one module."""
    job = library.job
    rules = [(rule, rule.CODE) for rule in applicable(job) if codes.wants(rule.CODE)]
    for module in job.modules:
        subject = Subject(library, module)
        for rule, code in rules if module.path not in conflicts else ():
            if codes.wants(code, module.path):
                yield from _found_by(rule, subject, conflicts)
    near = [(rule, rule.CODE) for rule in beside() if codes.wants(rule.CODE)] if job.beside else []
    for path in job.beside if near else ():
        if path not in conflicts and (reading := library.readable(path)) is not None:
            subject = Subject(library, CheckModule(path, reading.text))
            wanted = [rule for rule, code in near if codes.wants(code, path)]
            yield from (hit for rule in wanted for hit in _found_beside(rule, subject, conflicts))


def _found_beside(rule: Rule, subject: Subject, conflicts: _Conflicts) -> list[Hit]:
    """As `_found_by`, for a module that no runner needs; nothing for one that does not parse."""
    try:
        return _found_by(rule, subject, conflicts)
    except InputError:
        return []


def _found_by(rule: Rule, subject: Subject, conflicts: _Conflicts) -> list[Hit]:
    """The hits of a rule; none where it needs a file that holds a conflict."""
    try:
        return list(rule.find(subject))
    except UnresolvedConflict as error:
        if not conflicts.look_into(error.path):
            raise  # not omni's own
        return []


@dataclass(frozen=True, slots=True)
class _BranchPoint:
    """The files where the branch began, and the findings in them; ``error`` is why these are unknown."""

    library: Library | None = None
    findings: Sequence[Finding] = ()
    error: InputError | None = None

    def marked(self, hits: Sequence[Hit], *, among: Sequence[Hit], branch: Branch | None) -> list[Hit]:
        """The hits; those in ``among`` that were not there where the branch began are marked as the branch's.

        A branch can cause a finding on a line that it did not touch, by deleting an override of NPU's own, or one of
        two markers. Of several that are alike, those that it touched are the new ones.
        """
        if self.library is None:
            return [*hits]
        comparable = {id(hit) for hit in among}
        now = [hit for hit in hits if id(hit) in comparable]
        now.sort(key=lambda hit: branch is not None and branch.is_about(hit))
        new = {id(finding) for finding in ratchet.brought([hit.finding for hit in now], self.findings)}
        return [replace(hit, is_branchs=True) if id(hit.finding) in new else hit for hit in hits]


def _branch_point(library: Library, codes: Codes) -> _BranchPoint:
    """The findings, where the branch began, of the rules that look at one module; none where no branch is named."""
    try:
        start = library.before
        if start is None:
            return _BranchPoint()
        hits = list(_hits(start, codes, _Conflicts(start, codes)))
        paths = dict.fromkeys(hit.finding.path for hit in hits)
        # A finding is new, too, if the branch deleted the comment that silenced it.
        told, _ = silence(hits, {path: reading for path in paths if (reading := start.at(path)) is not None})
    except InputError as error:  # the branch may be the one that repairs it
        return _BranchPoint(error=error)
    return _BranchPoint(start, [hit.finding for hit in told])


class _Breakage(NamedTuple):
    """The hits of the RS3xx rules, and why those that the branch caused were not looked for, if they were not."""

    hits: list[Hit]
    branch_error: InputError | None = None


def _breakage(job: CheckJob, codes: Codes, conflicts: _Conflicts, opinion: Opinion | None) -> _Breakage:
    # The runners inherit from each other: with one file missing, the rest would look broken.
    if job.world is None or not codes.wants_group(BREAKAGE) or conflicts.hits():
        return _Breakage([])
    from runner_sync.verify import breakage

    own = [module.path for module in job.modules]
    paths = [*own, *job.world.beside(own)]
    # A branch can break code on lines that it did not touch: NPU calls of a GPU method that it changed, say.
    found = breakage.find(job.world, job.old_world, paths, since=job.compared)
    broken: list[Finding] = []
    branch_error = None
    if job.branch_point is not None:
        try:
            broken = breakage.find(job.world, job.branch_point, paths)
        except InputError as error:  # the branch may be the one that repairs it
            branch_error = error
    brought = set(broken)
    found = list(dict.fromkeys([*broken, *found]))
    # Findings of ignored rules count as known, so that the type checker does not report the same in other words.
    known = [finding for finding in found if is_selected(finding.code, codes.select, ())]
    told = opinion(known) if opinion is not None and codes.wants("RS390") else ()
    wanted = (finding for finding in (*found, *told) if codes.wants(finding.code, finding.path))
    return _Breakage([Hit(finding, is_branchs=finding in brought) for finding in wanted], branch_error)


def _place(hit: Hit) -> tuple[str, int, int, str, str, str]:
    finding = hit.finding
    return finding.path, finding.line, finding.column, finding.code, finding.symbol, finding.message


def _about_ignores(
    known: Mapping[str, tuple[Ignore, ...]], readings: Mapping[str, Reading], *, has_run: Callable[[str], bool]
) -> list[Hit]:
    """Findings about the ignore comments; a code whose rule did not run cannot be called unused."""
    return [
        hit
        for path, ignores in known.items()
        for ignore in ignores
        for rule in (rs491_unused_ignore, rs492_ignore_without_reason)
        for hit in rule.find(readings[path], ignore, has_run)
    ]
