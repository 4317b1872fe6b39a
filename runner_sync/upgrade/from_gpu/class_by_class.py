"""Ports a whole module class by class: changes of the twin, new members, and members that the twin lost.

Comes in: drafts, a ``ModuleJob`` and its ``GpuSide``. Goes out: the drafts with one more text, and new drafts. May
touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.compose.rulers import enclose_additions, join_blocks
from runner_sync.fitting.members import Twins, find_obstacles
from runner_sync.markers import read_markers, ruler_style
from runner_sync.statements import as_module
from runner_sync.syntax import is_indented
from runner_sync.texts.member_text import canonical
from runner_sync.upgrade.draft import Draft, list_owners
from runner_sync.upgrade.from_gpu.members import beside_twin, renamed, twin_copies
from runner_sync.upgrade.from_gpu.members.constructors import shorten_constructor
from runner_sync.upgrade.from_gpu.members.gone_from_gpu import drop_gone_from_gpu
from runner_sync.upgrade.from_gpu.members.new_members import ask_about_declined, is_asked_about, port_members
from runner_sync.upgrade.from_gpu.merging import porting
from runner_sync.upgrade.from_gpu.merging.refusing import refuse_idle_calls, veto_for
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.taken_apart import find_left_whole
from runner_sync.upgrade.job import Fate, ModuleJob


def port_module(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> tuple[Sequence[Draft], dict[str, Fate]]:
    """Port omni's GPU changes and new members into the drafts.

    Also returns the fate of each member that only the GPU class has.
    """
    decided: dict[str, Fate] = {}
    if job.twin.new is None:
        return drafts, decided
    drafts = twin_copies.follow_twin(drafts, job, side)
    for class_name in list_owners(drafts):
        drafts, fates = _port_class(class_name, drafts, job, side)
        decided |= fates
    methods = [d.text for d in drafts if d.owner and not d.removed]
    own = [d for d in drafts if d.chosen and not d.owner]
    return _replace_drafts(drafts, own, porting.port(own, job, side, veto_for({}, {}), methods=methods)), decided


def _port_class(
    class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide
) -> tuple[list[Draft], dict[str, Fate]]:
    """Port one class, methods first: their new texts show which new members the class needs."""
    pair = beside_twin.pair_classes(class_name, drafts, job, side)
    drafts = _port_changes(class_name, drafts, job, side, pair)
    left_whole = find_left_whole(side.taken_apart, [draft for draft in drafts if draft.owner == class_name])
    side = replace(side, known_before=side.known_before | left_whole)
    own_forms = renamed.find_renamed(class_name, drafts, job, side)
    side = renamed.with_own_forms(side, own_forms)
    decisions = beside_twin.decide_members(class_name, beside_twin.pair_classes(class_name, drafts, job, side), job)
    decisions, side = shorten_constructor(class_name, decisions, drafts, job, side)
    drafts = [*drafts, *port_members(class_name, decisions, drafts, job, side, renamed=own_forms)]
    drafts = [*drafts, *ask_about_declined(class_name, decisions, job, side)]
    asked = {d.name for d in decisions if is_asked_about(class_name, d, job, side)}
    fates: dict[str, Fate] = {f"{class_name}.{d.name}": "asked" if d.name in asked else d.action for d in decisions}
    drafts = drop_gone_from_gpu(class_name, drafts, job, side, old=pair.gpu_old, new=pair.gpu_new)
    return renamed.drop_old_names(drafts, own_forms), fates


def _port_changes(class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide, pair: Twins) -> list[Draft]:
    """Return all drafts, with the twin's changes merged into those of one class.

    Encloses whole statements that the port adds to a copy of vllm-ascend's method in ruler comments.
    """
    have = [canon for draft in drafts for canon in canonical(draft.text)]
    absent = {**job.twin.unset, **find_obstacles(pair)}
    veto = veto_for(absent, job.refused, pair.upstream, have=have, helpers=pair.helpers)
    veto = refuse_idle_calls(job.target.gives_up, have, veto)
    own = [d for d in drafts if d.chosen and d.owner == class_name]
    beside = [d for d in drafts if not d.chosen and d.owner == class_name]
    ported = porting.port(own, job, side, veto, beside=beside)
    enclosed = [
        _enclose_ported(now, job) if len(now.stages) > len(was.stages) else now
        for was, now in zip(own, ported, strict=True)
    ]
    return _replace_drafts(drafts, own, enclosed)


def _replace_drafts(drafts: Sequence[Draft], old: Sequence[Draft], new: Sequence[Draft]) -> list[Draft]:
    """Replace each draft in ``old`` by its counterpart in ``new``."""
    replacements = {was.name: now for was, now in zip(old, new, strict=True)}
    return [replacements[draft.name] if draft in old else draft for draft in drafts]


def _enclose_ported(draft: Draft, job: ModuleJob) -> Draft:
    """Enclose whole statements that the last stage, a port, added.

    In a copy they get ruler comments of their own. In any other draft, which omni owns, they only join a block beside
    them.
    """
    label, text = job.profile.marker, draft.text
    blocks, marked = _read_blocks(text, label)
    beside = None if draft.kind == "copy" else [line for block in blocks for line in block]
    ruler = ruler_style(job.text, label=label)
    enclosed = enclose_additions(draft.stages[-2].text, text, marked=marked, ruler=ruler, beside=beside)
    joined = join_blocks(text, enclosed, _read_blocks(enclosed, label)[0])
    is_joined = draft.kind == "copy" or len(_read_blocks(joined, label)[0]) == len(blocks)
    return draft.with_layout(joined) if is_joined else draft


def _read_blocks(text: str, label: str) -> tuple[list[tuple[int, int]], frozenset[int]]:
    """Return first and last line of each block whose rulers certainly belong together, and all lines in blocks."""
    shift, found = int(is_indented(text)), read_markers(as_module(text), label=label)
    blocks = [(region.start - shift, region.end - shift) for region in found.regions if not region.problems]
    return blocks, frozenset(line - shift for line in found.marked)
