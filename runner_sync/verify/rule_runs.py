"""Runs the rules over the NPU modules of one job.

Comes in: a `CheckJob` and codes. Goes out: `Found`. May touch: nothing but what the job can read. Loads the RS3xx rules
only if the job has a world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from runner_sync.errors import InputError, UnresolvedConflict
from runner_sync.model import Finding
from runner_sync.verify import baseline as ratchet
from runner_sync.verify.branch import Branch, Lines
from runner_sync.verify.catalog import OF_WHOLE_CLASSES
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import BREAKAGE, Codes, is_selected, make_has_run
from runner_sync.verify.conflicts import Conflicts
from runner_sync.verify.hits import Found, Hit, Opinion
from runner_sync.verify.ignores import Ignore, silence
from runner_sync.verify.mistakes import find_failed, find_isolated, is_mistake
from runner_sync.verify.registry import Rule, load_applicable, load_beside
from runner_sync.verify.rules import rs491_unused_ignore, rs492_ignore_without_reason
from runner_sync.verify.runners import parity
from runner_sync.verify.runners.job import Library, Subject
from runner_sync.verify.runners.reading import Reading


def find(job: CheckJob, codes: Codes) -> Found:
    """Run the rules on ``job``, without a branch or another opinion. Raises ``InputError`` as `check.run` does."""
    return find_on_branch(job, codes, changed=None, opinion=None)[0]


def find_on_branch(
    job: CheckJob, reported: Codes, *, changed: Lines | None, opinion: Opinion | None
) -> tuple[Found, Branch | None]:
    """Run the rules on ``job``; return what they found, and the branch if ``changed`` has its lines."""
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
    failed = find_failed(hit.finding for hit in hits)
    has_run = make_has_run(job, codes, is_whole=is_whole, has_opinion=opinion is not None, failed=failed)
    about_ignores = _check_ignores(comments, readings, has_run=has_run)
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
    if not codes.wants_any(OF_WHOLE_CLASSES):
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
    job, path = subject.library.job, subject.module.path
    hits: list[Hit] = []

    def find() -> list[Finding]:
        hits.extend(rule.find(subject))
        return []

    try:
        failed = find_isolated(rule.CODE, path, find, isolates=job.isolates)
        return [*hits, *(Hit(one, is_branchs=True) for one in failed)]
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
    found, number_known = breakage.compare(job.world, job.old_world, paths, since=job.compared, isolates=job.isolates)
    broken: list[Finding] = []
    branch_error = None
    if job.branch_point is not None:
        try:
            broken = breakage.find(job.world, job.branch_point, paths, isolates=job.isolates)
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
    return _Breakage(
        [Hit(finding, is_branchs=finding in brought or is_mistake(finding)) for finding in wanted],
        branch_error,
        number_known,
    )


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
