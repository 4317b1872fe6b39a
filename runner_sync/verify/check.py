"""Checks the NPU modules of one job; the engine of `runner-sync check`.

Comes in: a `CheckJob` (texts, and worlds if trees are at hand) and what to report. Goes out: a `CheckResult`. May
touch: nothing but what the job can read. Imports no libcst, git or network library, and no rule unless rules run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner_sync.errors import InputError
from runner_sync.model import Finding, Severity
from runner_sync.verify import baseline as ratchet
from runner_sync.verify.baseline import Baseline, StaleEntry
from runner_sync.verify.causes import fold_causes
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.codes import ALL, Codes, make_has_run
from runner_sync.verify.hits import Found, Hit, Opinion
from runner_sync.verify.mistakes import find_failed

if TYPE_CHECKING:
    from runner_sync.verify.branch import Branch, Lines

RANKS: Mapping[Severity, int] = {"info": 0, "warning": 1, "error": 2}


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
    and baseline also apply to the findings of ``opinion``. If neither is given, ``recall`` is called in place of
    `rule_runs.find`. ``places`` tells where the lines of the job's texts stand in the tree, if elsewhere.

    Raises ``InputError`` if a text does not parse; merge conflicts in a text are a finding, unless RS410 is not wanted
    there.
    """
    if recall is not None and changed is None and opinion is None:
        found, branch = recall(job, codes), None
    else:
        from runner_sync.verify import rule_runs  # what is recalled needs no rule

        found, branch = rule_runs.find_on_branch(job, codes, changed=changed, opinion=opinion)
    failed = find_failed(hit.finding for hit in found.hits)
    has_run = make_has_run(job, codes, is_whole=found.is_whole, has_opinion=opinion is not None, failed=failed)
    found = replace(found, hits=tuple(places(found.hits))) if places is not None else found
    result = _report(found.hits, baseline, has_run=has_run, severity=severity, branch=branch)
    return replace(
        result,
        ignored=found.ignored,
        branch_error=found.branch_error,
        unfollowed=found.unfollowed,
        known=found.known,
    )


def _report(
    found: Sequence[Hit],
    baseline: Baseline | None,
    *,
    has_run: Callable[[str], bool],
    severity: Severity,
    branch: Branch | None,
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
    ported = [f for f in shown if branch is not None and branch.is_port(f)]
    return CheckResult(
        tuple(fold_causes(f for f in shown if RANKS[f.severity] >= RANKS[severity] and f not in ported)),
        accepted=len(everything) - len(fresh),
        ported=tuple(finding.unit for finding in ported),
        equal=tuple(hit.finding.unit for hit in found if hit.is_done and id(hit.finding) in concerning),
        stale=ratchet.find_stale(baseline, everything, has_run=has_run) if baseline is not None else (),
        baseline=ratchet.update(baseline, everything, has_run=has_run),
    )
