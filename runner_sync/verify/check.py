"""Run the rules over the NPU modules of one job; the engine of `runner-sync check`.

Comes in: a `CheckJob` (texts, and worlds where trees are at hand) and what to report. Goes out: a `CheckResult`. May
touch: nothing but what the job can read. Imports no libcst, no git and no network library; the RS3xx rules are loaded
only when the job has a world.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase

from runner_sync.model import Finding, Severity
from runner_sync.verify import baseline as ratchet
from runner_sync.verify.baseline import Baseline, StaleEntry
from runner_sync.verify.ignores import review_ignores, silence
from runner_sync.verify.job import CheckJob, CheckModule, Library, Subject
from runner_sync.verify.reading import Hit, Reading
from runner_sync.verify.registry import applicable, is_selected
from runner_sync.verify.rules import rs410_conflict_markers

__all__ = ["CheckJob", "CheckModule", "CheckResult", "run"]

RANKS: Mapping[Severity, int] = {"info": 0, "warning": 1, "error": 2}
Lines = Mapping[str, Set[int]]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``findings`` are to be reported, by place; ``accepted`` were silenced by the baseline, ``ignored`` by comments.

    ``stale`` are baseline entries that can shrink; ``baseline`` is what ``--update-baseline`` is to write.
    """

    findings: tuple[Finding, ...]
    accepted: int = 0
    ignored: int = 0
    stale: tuple[StaleEntry, ...] = ()
    baseline: Baseline | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which codes are reported where."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_path: Mapping[str, tuple[str, ...]] | None = None

    def wants(self, code: str, path: str = "") -> bool:
        """Whether ``code`` is reported for ``path`` (for some path, when none is given)."""
        extra = [c for glob, codes in (self.per_path or {}).items() if path and fnmatchcase(path, glob) for c in codes]
        return is_selected(code, self.select, self.ignore) and is_selected(code, (), extra)


def run(
    job: CheckJob,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    per_path_ignores: Mapping[str, Sequence[str]] | None = None,
    severity: Severity = "info",
    baseline: Baseline | None = None,
    changed: Lines | None = None,
) -> CheckResult:
    """Check ``job``.

    ``select`` and ``ignore`` are rule codes or prefixes, ``severity`` the least one reported. ``changed`` are the lines
    (1-based) that a branch touched, by path: only findings on them, or about a GPU unit on them, are reported. Raises
    ``InputError`` when a text does not parse.
    """
    per_path = {path: tuple(codes) for path, codes in (per_path_ignores or {}).items()}
    selection = Selection(tuple(select), tuple(ignore), per_path)
    library = Library(job)
    with _without_collection():
        hits = sorted(_hits(library, selection), key=_place)
    readings = {m.path: r for m in job.modules if (r := library.at(m.path)) is not None and not _is_conflicted(r)}
    left, comments = silence(hits, readings)
    ran = _Ran(job, selection)
    about = review_ignores(comments, readings, has_run=ran)
    found = sorted([*left, *(h for h in about if selection.wants(h.finding.code, h.finding.path))], key=_place)
    return _report(found, baseline, ran=ran, severity=severity, changed=changed, ignored=len(hits) - len(left))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep the cyclic garbage collector off: it goes over every syntax tree again and again, and finds nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            # Together these call everything old: else the first thing it did would be to go over all of it.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def _report(
    found: list[Hit], baseline: Baseline | None, *, ran: _Ran, severity: Severity, changed: Lines | None, ignored: int
) -> CheckResult:
    everything = [hit.finding for hit in found]
    fresh = ratchet.uncovered(baseline, everything) if baseline is not None else everything
    keep = {id(finding) for finding in fresh}
    shown = [h.finding for h in found if id(h.finding) in keep and (changed is None or _is_touched(h, changed))]
    return CheckResult(
        tuple(finding for finding in shown if RANKS[finding.severity] >= RANKS[severity]),
        len(everything) - len(fresh),
        ignored,
        ratchet.stale(baseline, everything, has_run=ran) if baseline is not None else (),
        ratchet.update(baseline, everything, has_run=ran),
    )


class _Ran:
    """Whether the rule of a code ran in this job, so that its silence means something."""

    def __init__(self, job: CheckJob, selection: Selection) -> None:
        self._selection = selection
        self._has_world = job.world is not None
        self._has_upstream = any(m.upstream_text is not None for m in job.modules)
        self._has_lock = any(m.entries for m in job.modules)
        self._has_vllm = any(m.vllm_text is not None for m in job.modules)

    def __call__(self, code: str) -> bool:
        if not self._selection.wants(code):
            return False
        if code.startswith("RS3"):
            return self._has_world and code != "RS390"
        if code in _NEEDS_UPSTREAM:
            return self._has_upstream
        if code in _NEEDS_VLLM:
            return self._has_vllm
        if code in _NEEDS_LOCK:
            return self._has_lock
        return code != "RS490"


_NEEDS_UPSTREAM = frozenset({"RS101", "RS102", "RS104"})
_NEEDS_LOCK = frozenset({"RS110", "RS201"})
_NEEDS_VLLM = frozenset({"RS202", "RS207"})


def _hits(library: Library, selection: Selection) -> Iterator[Hit]:
    job = library.job
    rules = [(rule, rule.CODE) for rule in applicable(job) if selection.wants(rule.CODE)]
    whole = []
    for module in job.modules:
        subject = Subject(library, module)
        # What holds a conflict does not parse: it is said once, and nothing else about that file.
        if conflicts := list(rs410_conflict_markers.find(subject)):
            yield from (hit for hit in conflicts if selection.wants("RS410", module.path))
            continue
        whole.append(module.path)
        for rule, code in rules:
            if selection.wants(code, module.path):
                yield from rule.find(subject)
    if job.world is not None and any(selection.wants(f"RS3{n:02d}") for n in range(100)):
        yield from _breakage(job, whole, selection)


def _breakage(job: CheckJob, paths: Sequence[str], selection: Selection) -> Iterator[Hit]:
    from runner_sync.verify import breakage

    assert job.world is not None
    for finding in breakage.find(job.world, job.old_world, paths):
        if selection.wants(finding.code, finding.path):
            yield Hit(finding)


def _is_conflicted(reading: Reading) -> bool:
    return bool(rs410_conflict_markers.regions(reading.text))


def _is_touched(hit: Hit, changed: Lines) -> bool:
    finding = hit.finding
    spans = [(finding.path, finding.line, finding.end_line), *hit.also]
    return any(not changed.get(path, frozenset()).isdisjoint(range(start, end + 1)) for path, start, end in spans)


def _place(hit: Hit) -> tuple[str, int, int, str, str, str]:
    finding = hit.finding
    return finding.path, finding.line, finding.column, finding.code, finding.symbol, finding.message
