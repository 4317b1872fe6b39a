"""What became of each unit: the drafts of a module as its result.

Comes in: drafts and the text that was composed of them. Goes out: a ``ModuleResult`` whose hunks and review items have
the lines of that text. May touch: nothing.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from runner_sync.lineage import fingerprint
from runner_sync.markers import read_markers
from runner_sync.model import Hunk, ReviewItem, Unit, UnitReport
from runner_sync.statements import as_module
from runner_sync.units import record_classes, texts, units
from runner_sync.upgrade.doubts import place
from runner_sync.upgrade.job import Draft, ModuleJob, ModuleResult


def result(drafts: Sequence[Draft], job: ModuleJob, text: str, notes: Sequence[str]) -> ModuleResult:
    """The result of a module. Raises ``SyntaxError`` when the composed text does not parse."""
    ast.parse(text)
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
    return ModuleResult(job.path, job.text, text, tuple(reports), tuple(reviews), tuple(notes), synced)


def _with_header(items: Iterable[ReviewItem], before: str, unit: Unit) -> list[ReviewItem]:
    """Questions about a class as such, with its header before and now: its bases are known only at the end."""
    return [replace(item, omni=before, chosen=unit.text) for item in items]


def _report(draft: Draft, job: ModuleJob, start: int) -> UnitReport:
    hunks = [replace(h, line=h.line + start - 1, end_line=h.end_line + start - 1) for h in _hunks(draft, job)]
    outcome = draft.outcome
    if draft.removed:
        outcome = "removed"
    elif outcome == "unchanged" and draft.text != draft.before:
        outcome = "updated"
    before, after = fingerprint(draft.before), fingerprint("" if draft.removed else draft.text)
    followed = fingerprint(draft.texts[1]) if draft.base is not None and len(draft.texts) > 1 else before
    return UnitReport(
        draft.name,
        job.path,
        draft.kind,
        outcome,
        draft.base,
        draft.gpu,
        taken=((followed - before) & after).total(),
        ported=(after - followed).total(),
        kept=sum(canon in after for canon in draft.own),
        removed=(before - after).total(),
        blocks=_blocks(draft, job.profile.marker),
        hunks=tuple(hunks),
    )


def _blocks(draft: Draft, label: str) -> int:
    """How many marked blocks the unit has now."""
    text = draft.text
    if draft.removed or label.lower() not in text.lower():
        return 0
    return len(read_markers(as_module(text), label=label).regions)


def _hunks(draft: Draft, job: ModuleJob) -> Iterable[Hunk]:
    """Changed regions of a unit; a line that the first merge brought is upstream's, any other the GPU runner's."""
    if draft.removed or draft.text == draft.before:
        return
    old, new = draft.before.split("\n"), draft.text.split("\n")
    merged = set(draft.texts[1].split("\n")) - set(old) if draft.base is not None and len(draft.texts) > 1 else set()
    for tag, _, _, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        from_upstream = draft.base is not None and (j1 == j2 or any(line in merged for line in new[j1:j2]))
        cause = _cause(draft, job, new[j1:j2] if from_upstream else None)
        yield Hunk(j1 + 1, max(j2, j1 + 1), "upstream" if from_upstream else "gpu", cause)


def _cause(draft: Draft, job: ModuleJob, added: Sequence[str] | None) -> str:
    """What a hunk comes from; ``added`` are its lines when it is upstream's, ``None`` when it is the GPU runner's."""
    if added is not None and job.upstream is not None:
        old = draft.base.ref if draft.base else "?"
        commits = job.causes(draft.name, added, old)
        return f"vllm-ascend {old} → {job.upstream.ref}" + (f": {commits}" if commits else "")
    ref = job.gpu_new.ref if job.gpu_new else "?"
    return f"{job.gpu_new.path if job.gpu_new else 'GPU runner'} at vllm-omni {ref}"
