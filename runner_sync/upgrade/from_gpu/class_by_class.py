"""The port of a whole module, class by class: the twin's changes, its new members, and members that the twin lost.

Comes in: drafts, a ``ModuleJob`` and its ``GpuSide``. Goes out: drafts with one more text, and new ones. May touch:
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.compose.member_text import canonical
from runner_sync.compose.members import Twins, device_bound
from runner_sync.compose.rulers import enclose_additions, join_blocks
from runner_sync.markers import read_markers, ruler_style
from runner_sync.statements import as_module
from runner_sync.syntax import is_indented
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.members import beside_twin, twin_copies
from runner_sync.upgrade.from_gpu.members.gone_from_gpu import drop_gone_from_gpu
from runner_sync.upgrade.from_gpu.members.new_members import declined_members, is_asked_about, ported_members
from runner_sync.upgrade.from_gpu.merging import porting
from runner_sync.upgrade.from_gpu.merging.refusing import veto_for, without_idle_calls
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import Fate, ModuleJob


def after_port(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> tuple[Sequence[Draft], dict[str, Fate]]:
    """The drafts with omni's GPU changes and new members ported; and what becomes of each member only the GPU has."""
    decided: dict[str, Fate] = {}
    if job.twin.new is None:
        return drafts, decided
    drafts = twin_copies.follow_twin(drafts, job, side)
    for class_name in dict.fromkeys(d.owner for d in drafts if d.owner):
        drafts, fates = _after_port_of_class(class_name, drafts, job, side)
        decided |= fates
    methods = [d.text for d in drafts if d.owner and not d.removed]
    mine = [d for d in drafts if d.chosen and not d.owner]
    return _exchanged(drafts, mine, porting.port(mine, job, side, veto_for({}, {}), methods=methods)), decided


def _after_port_of_class(
    class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide
) -> tuple[list[Draft], dict[str, Fate]]:
    """The same for one class. Its methods are ported first: their new texts tell which new members they need."""
    pair = beside_twin.twins(class_name, drafts, job, side)
    drafts = _with_changes(class_name, drafts, job, side, pair)
    decisions = beside_twin.decide_members(class_name, beside_twin.twins(class_name, drafts, job, side), job)
    drafts = [*drafts, *ported_members(class_name, decisions, drafts, job, side)]
    drafts = [*drafts, *declined_members(class_name, decisions, job, side)]
    asked = {d.name for d in decisions if is_asked_about(class_name, d, job, side)}
    fates: dict[str, Fate] = {f"{class_name}.{d.name}": "asked" if d.name in asked else d.action for d in decisions}
    return drop_gone_from_gpu(class_name, drafts, job, side, old=pair.gpu_old, new=pair.gpu_new), fates


def _with_changes(class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide, pair: Twins) -> list[Draft]:
    """All drafts, those of one class with the changes of its twin.

    Whole statements that a port adds to a copy of vllm-ascend's stand between ruler comments.
    """
    have = [canon for draft in drafts for canon in canonical(draft.text)]
    absent = {**job.twin.unset, **device_bound(pair)}
    veto = veto_for(absent, job.refused, pair.upstream, have=have, helpers=pair.helpers)
    veto = without_idle_calls(job.target.gives_up, have, veto)
    mine = [d for d in drafts if d.chosen and d.owner == class_name]
    beside = [d for d in drafts if not d.chosen and d.owner == class_name]
    ported = porting.port(mine, job, side, veto, beside=beside)
    grown = [
        _between_rulers(now, job) if len(now.stages) > len(was.stages) else now
        for was, now in zip(mine, ported, strict=True)
    ]
    return _exchanged(drafts, mine, grown)


def _exchanged(drafts: Sequence[Draft], old: Sequence[Draft], new: Sequence[Draft]) -> list[Draft]:
    """The drafts, each of ``old`` replaced by its counterpart in ``new``."""
    made = {was.name: now for was, now in zip(old, new, strict=True)}
    return [made[draft.name] if draft in old else draft for draft in drafts]


def _between_rulers(draft: Draft, job: ModuleJob) -> Draft:
    """A copy with ruler comments around whole statements that its last stage, a port, added. In another draft those
    that stand right beside a block join it; the rest needs no rulers, for such a method is omni's."""
    label, text = job.profile.marker, draft.text
    edges = [line for block in _blocks(text, label) for line in block]
    beside = None if draft.kind == "copy" else edges
    ruler, marked = ruler_style(job.text, label=label), _marked_lines(text, label)
    enclosed = enclose_additions(draft.stages[-2].text, text, marked=marked, ruler=ruler, beside=beside)
    joined = join_blocks(text, enclosed, _blocks(enclosed, label))
    is_joined = draft.kind == "copy" or 2 * len(_blocks(joined, label)) == len(edges)
    return draft.laid_out_anew(joined) if is_joined else draft


def _marked_lines(text: str, label: str) -> frozenset[int]:
    """The lines of a unit's text that rulers enclose."""
    shift = int(is_indented(text))
    return frozenset(line - shift for line in read_markers(as_module(text), label=label).marked)


def _blocks(text: str, label: str) -> list[tuple[int, int]]:
    """First and last lines of the blocks of a unit's text, without those whose rulers may not belong together."""
    shift = int(is_indented(text))
    regions = read_markers(as_module(text), label=label).regions
    return [(region.start - shift, region.end - shift) for region in regions if not region.problems]
