"""The drafts of a module as its result: what became of each unit.

Comes in: drafts and the text that was composed of them. Goes out: a ``ModuleResult`` whose hunks and review items have
the lines of that text. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from runner_sync.lineage import fingerprint
from runner_sync.markers import read_markers
from runner_sync.model import TITLES, Hunk, ReviewItem, Unit, UnitReport
from runner_sync.statements import as_module
from runner_sync.syntax import module_of
from runner_sync.units import record_classes, texts, units
from runner_sync.upgrade.attribution import Region, brought_by, regions
from runner_sync.upgrade.base import base_text
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Fate, ModuleJob, ModuleResult
from runner_sync.upgrade.never_had import never_had
from runner_sync.upgrade.placing import place


def result(drafts: Sequence[Draft], job: ModuleJob, text: str, decided: Mapping[str, Fate]) -> ModuleResult:
    """The result of a module. Raises ``SyntaxError`` when the composed text does not parse."""
    module_of(text)
    module = texts.parsed(text, job.path)
    final = {u.qualname: u for u in units(module, whole=frozenset(record_classes(module)))}
    headers = {u.qualname: u.text for u in units(texts.parsed(job.text, job.path)) if u.kind == "class"}
    reports, reviews = [], []
    for draft in drafts:
        unit = final.get(draft.name) or final.get(draft.owner)
        start = unit.start if unit is not None else 1
        lines = unit.text.split("\n") if unit is not None else []
        items = draft.reviews
        if unit is not None and not draft.text and draft.name in headers:
            items = _with_header(items, headers[draft.name], unit)
        reviews += [place(item, lines, start) for item in items]
        reports.append(_report(draft, job, start))
    synced = {d.name: (d.base_now, d.gpu_now) for d in drafts if not d.removed and (d.base_now or d.gpu_now)}
    return ModuleResult(
        job.path, job.text, text, tuple(reports), tuple(reviews), decided, synced, never_had(drafts, job)
    )


def _with_header(items: Iterable[ReviewItem], before: str, unit: Unit) -> tuple[ReviewItem, ...]:
    """Questions about a class as such, with its header before and now; its bases are known only after composing."""
    return tuple(replace(item, omni=before, chosen=unit.text) for item in items)


def _report(draft: Draft, job: ModuleJob, start: int) -> UnitReport:
    """What became of one unit, whose text starts at line ``start`` of the module."""
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
        taken=brought_by("upstream", stages),
        ported=brought_by("gpu", stages),
        kept=sum(canon in after for canon in draft.own),
        removed=(before - after).total(),
        blocks=_blocks(draft, job.profile.marker),
        hunks=tuple(_hunks(draft, job, start)),
    )


def _blocks(draft: Draft, label: str) -> int:
    """How many marked blocks the unit has after the upgrade."""
    text = draft.text
    if draft.removed or label.lower() not in text.lower():
        return 0
    return len(read_markers(as_module(text), label=label).regions)


def _hunks(draft: Draft, job: ModuleJob, start: int) -> Iterable[Hunk]:
    """The changed regions of a unit that starts at line ``start`` of the module."""
    if draft.removed or draft.text == draft.before:
        return
    for region in regions(draft.stages):
        first = start + region.start - 1
        last = first + max(len(region.lines), 1) - 1
        yield Hunk(first, last, region.source, _cause(draft, job, region))


def _cause(draft: Draft, job: ModuleJob, region: Region) -> str:
    """The release or file that a changed region comes from."""
    if region.source == "upstream" and job.upstream.new is not None:
        old = draft.base.ref if draft.base else ""
        went = _only_gone(region)
        is_deletion = bool(went)
        changed = _as_upstream_says(went, draft, job) if is_deletion else region.lines
        commits = job.upstream.causes(draft.name, changed, old, gone=is_deletion)
        project = TITLES[job.module.upstreams[0].project]
        if not commits and _is_older(draft, job, region):
            known = {line.strip() for line in draft.before.split("\n")}
            # Of added lines, those that were there before have only moved.
            changed = changed if is_deletion else tuple(line for line in changed if line.strip() not in known)
            old, commits = f"before {old}", job.upstream.causes(draft.name, changed, "", gone=is_deletion)
        since = f"{old} → " if old else ""
        return f"{project} {since}{job.upstream.new.ref}" + (f": {commits}" if commits else "")
    if job.twin.new is None or job.module.gpu is None:
        return "the GPU runner"
    return f"{job.twin.new.path} at {job.module.gpu.project} {job.twin.new.ref}"


def _only_gone(region: Region) -> list[str]:
    """The lines that a region lost, if it has no new ones but for their indentation."""
    now, was = ({line.strip() for line in lines} - {""} for lines in (region.lines, region.gone))
    return [line for line in region.gone if line.strip() in was - now] if now <= was else []


def _as_upstream_says(gone: Sequence[str], draft: Draft, job: ModuleJob) -> tuple[str, ...]:
    """The lines that went, in upstream's words where omni's copy only had other names for its locals."""
    was = {line.strip() for line in (base_text(draft, job) or "").split("\n")}
    forms: dict[str, set[str]] = {}
    for line in was:
        forms.setdefault(_LOCAL.sub("_", line), set()).add(line)
    rows = []
    for line in map(str.strip, gone):
        form = _LOCAL.sub("_", line)
        alike = forms.get(form, set()) if "." in form and line not in was else set()
        rows += sorted(alike) or [line]
    return tuple(rows)


_LOCAL = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?![\w.(])")
"""A name that is no attribute, no function that is called, and nothing that an attribute is taken of."""


def _is_older(draft: Draft, job: ModuleJob, region: Region) -> bool:
    """Whether upstream's base already had a change: parts of a composite copy may be older than its base."""
    was = base_text(draft, job)
    if was is None or draft.base is None or draft.base.how != "composite":
        return False
    lines = {line.strip() for line in region.lines if line.strip()}
    had = bool(lines) and lines <= {line.strip() for line in was.split("\n")} and not _is_as_in(was, region)
    return was == draft.upstream or had


def _is_as_in(was: str, region: Region) -> bool:
    """Whether a text has what went from a region: it may have the new lines as well, at other places, or has them
    already where the change only shortens or un-indents."""
    now, gone, had = ({line.strip() for line in lines} - {""} for lines in (region.lines, region.gone, was.split("\n")))
    return gone - now <= had if gone - now else bool(gone) and {*region.gone} <= {*was.split("\n"), ""}
