"""Makes the result of a module from its drafts: reports what became of each unit.

Comes in: drafts and the text that was composed of them. Goes out: a ``ModuleResult`` whose hunks and review items have
line numbers of that text. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from runner_sync.lineage import fingerprint
from runner_sync.markers import read_markers
from runner_sync.model import Hunk, UnitReport
from runner_sync.statements import as_module
from runner_sync.syntax import module_of
from runner_sync.units import record_classes, texts, units
from runner_sync.upgrade.attribution import Region, count_statements_from, find_regions
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import MODULE, Draft, Stage
from runner_sync.upgrade.job import Fate, ModuleJob, ModuleResult
from runner_sync.upgrade.lines import strip_lines
from runner_sync.upgrade.never_had import find_never_had
from runner_sync.upgrade.placing import place


def make_result(drafts: Sequence[Draft], job: ModuleJob, text: str, decided: Mapping[str, Fate]) -> ModuleResult:
    """Return the result of a module. Raises ``SyntaxError`` if the composed text does not parse."""
    module_of(text)
    module = texts.parsed(text, job.path)
    units_after = {u.qualname: u for u in units(module, whole=frozenset(record_classes(module)))}
    headers = {u.qualname: u.text for u in units(texts.parsed(job.text, job.path)) if u.kind == "class"}
    reports, reviews = [], []
    for draft in drafts:
        unit = units_after.get(draft.name) or units_after.get(draft.owner)
        start = unit.start if unit is not None else 1
        whole = text if draft.name == MODULE else ""
        lines = (unit.text if unit is not None else whole).split("\n")
        items = draft.reviews
        if unit is not None and not draft.text and draft.name in headers:
            # The bases of a class are known only after composing.
            items = tuple(replace(item, omni=headers[draft.name], chosen=unit.text) for item in items)
        reviews += [place(item, lines, start) for item in items]
        reports.append(_make_report(draft, job, start))
    synced = {d.name: (d.base_now, d.gpu_now) for d in drafts if not d.removed and (d.base_now or d.gpu_now)}
    return ModuleResult(
        job.path, job.text, text, tuple(reports), tuple(reviews), decided, synced, find_never_had(drafts, job)
    )


def _make_report(draft: Draft, job: ModuleJob, start: int) -> UnitReport:
    """Return the report on one unit, whose text starts at line ``start`` of the module."""
    outcome = draft.outcome
    if draft.removed:
        outcome = "removed"
    elif outcome == "unchanged" and draft.text != draft.before:
        outcome = "updated"
    before, after = fingerprint(draft.before), fingerprint("" if draft.removed else draft.text)
    stages = [*draft.stages, *([Stage("")] if draft.removed else [])]
    return UnitReport(
        draft.name,
        job.path,
        draft.kind,
        outcome,
        draft.base,
        draft.gpu,
        taken=count_statements_from("upstream", stages),
        ported=count_statements_from("gpu", stages),
        kept=sum(canon in after for canon in draft.own),
        removed=(before - after).total(),
        blocks=_count_blocks(draft, job.profile.marker),
        hunks=tuple(_make_hunks(draft, job, start)),
        removed_for=draft.removed_for,
    )


def _count_blocks(draft: Draft, label: str) -> int:
    """Count the marked blocks of the unit after the upgrade."""
    text = draft.text
    if draft.removed or label.lower() not in text.lower():
        return 0
    return len(read_markers(as_module(text), label=label).regions)


def _make_hunks(draft: Draft, job: ModuleJob, start: int) -> Iterable[Hunk]:
    """Yield the changed regions of a unit that starts at line ``start`` of the module."""
    if draft.removed or draft.text == draft.before:
        return
    for region in find_regions(draft.stages):
        first = start + region.start - 1
        last = first + max(len(region.lines), 1) - 1
        yield Hunk(first, last, region.source, _name_cause(draft, job, region))


def _name_cause(draft: Draft, job: ModuleJob, region: Region) -> str:
    """Return the release or file that a changed region comes from."""
    if region.source == "upstream" and job.upstream.new is not None:
        old = draft.base.ref if draft.base else ""
        gone_lines = _find_only_gone(region)
        is_deletion = bool(gone_lines)
        changed = _use_upstream_names(gone_lines, draft, job) if is_deletion else region.lines
        commits = job.upstream.causes(draft.name, changed, old, gone=is_deletion)
        project = job.upstream_title
        if not commits and _is_older(draft, job, region):
            known = {*strip_lines(draft.before)}
            # Added lines that omni had before have only moved.
            changed = changed if is_deletion else tuple(line for line in changed if line.strip() not in known)
            old, commits = f"before {old}", job.upstream.causes(draft.name, changed, "", gone=is_deletion)
        since = f"{old} → " if old else ""
        return f"{project} {since}{job.upstream.new.ref}" + (f": {commits}" if commits else "")
    if job.twin.new is None or job.module.gpu is None:
        return "the GPU runner"
    return f"{job.twin.new.path} at {job.module.gpu.project} {job.twin.new.ref}"


def _find_only_gone(region: Region) -> list[str]:
    """Return the lines that a region lost, if it has no new lines except for indentation; else none."""
    now, before = ({line.strip() for line in lines} - {""} for lines in (region.lines, region.gone))
    return [line for line in region.gone if line.strip() in before - now] if now <= before else []


def _use_upstream_names(gone: Sequence[str], draft: Draft, job: ModuleJob) -> tuple[str, ...]:
    """Return the lost lines with upstream's local names, where omni's copy differed from the base only in these."""
    base_lines = {*strip_lines(find_base_text(draft, job) or "")}
    forms: dict[str, set[str]] = {}
    for line in base_lines:
        forms.setdefault(_LOCAL.sub("_", line), set()).add(line)
    named = []
    for line in map(str.strip, gone):
        form = _LOCAL.sub("_", line)
        alike = forms.get(form, set()) if "." in form and line not in base_lines else set()
        named += sorted(alike) or [line]
    return tuple(named)


_LOCAL = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?![\w.(])")
"""A name that is not an attribute, not a called function, and not an object whose attribute is read."""


def _is_older(draft: Draft, job: ModuleJob, region: Region) -> bool:
    """Whether the upstream base already had the change: parts of a composite copy may be older than its base."""
    was = find_base_text(draft, job)
    if was is None or draft.base is None or draft.base.how != "composite":
        return False
    lines = {line.strip() for line in region.lines if line.strip()}
    had = bool(lines) and lines <= {*strip_lines(was)} and not _has_lost_lines(was, region)
    return was == draft.upstream or had


def _has_lost_lines(was: str, region: Region) -> bool:
    """Whether the text ``was`` contains the lines that a region lost.

    ``was`` may also have the new lines at other places. It may already have them where the change only shortens or
    dedents.
    """
    now, gone, had = ({line.strip() for line in lines} - {""} for lines in (region.lines, region.gone, was.split("\n")))
    return gone - now <= had if gone - now else bool(gone) and {*region.gone} <= {*was.split("\n"), ""}
