"""One derived module through the whole line: units → lineage → merge → port → compose.

Comes in: a ``ModuleJob``. Goes out: a ``ModuleResult``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.compose.members import Action, canonical, device_bound, self_names
from runner_sync.compose.rulers import enclose_additions
from runner_sync.markers import read_markers, ruler_style
from runner_sync.merge.confidence import CONTESTED, INFERRED
from runner_sync.statements import as_module, is_indented
from runner_sync.units import texts
from runner_sync.upgrade import ascend, gpu, inheriting, members, mending, outcomes, owing, porting, twin_copies
from runner_sync.upgrade.asking import ask_about_order, ask_about_returns, ask_about_unset
from runner_sync.upgrade.callers import ask_about_other_uses
from runner_sync.upgrade.calling import ask_about_calls
from runner_sync.upgrade.composing import compose
from runner_sync.upgrade.doubts import relocate, review
from runner_sync.upgrade.hidden import ask_about_replaced, hidden_changes, hidden_in_variants, hooks_never_called
from runner_sync.upgrade.job import Draft, ModuleJob, ModuleResult, Stage, is_selected
from runner_sync.upgrade.new_members import declined_members, ported_members
from runner_sync.upgrade.partners import name_partners
from runner_sync.upgrade.redundant import drop_gone_from_gpu, drop_redundant
from runner_sync.upgrade.refusing import veto_for


def upgrade_module(job: ModuleJob) -> ModuleResult:
    """Upgrade one module. Raises ``InputError`` when its text does not parse.

    It is done again where it brings one half of something of which the GPU twin has the other half already.
    """
    followed = _followed(job)
    result, side = _upgraded(job, followed)
    while not (found := owing.owed(job, side, result.after)).names <= job.twin.owed.names:
        job = replace(job, twin=replace(job.twin, owed=job.twin.owed.with_more(found)))
        result, side = _upgraded(job, followed)
    return result


def _followed(job: ModuleJob) -> list[Draft]:
    """The units after their step with vllm-ascend, which is the same whatever of the GPU twin comes with it."""
    drafts = [Draft(name, [Stage(text)]) for name, text in texts.unit_texts(job.text, job.path).items()]
    return drafts + ascend.follow(_chosen(drafts, job), job)


def _chosen(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Those that were asked for; what upstream split off one of them is."""
    return [draft for draft in drafts if is_selected(draft.split_from or draft.name, job.settings.only)]


def _upgraded(job: ModuleJob, followed: Sequence[Draft]) -> tuple[ModuleResult, gpu.GpuSide]:
    drafts = [draft.copy() for draft in followed]
    chosen = _chosen(drafts, job)
    side = gpu.read_side(job, drafts)
    decided: dict[str, Action] = {}
    for class_name in job.hierarchy.with_twin:
        job = inheriting.adopt(class_name, drafts, job, side)
    if job.twin.new is not None:
        twin_copies.follow_twin(chosen, job, side)
        decided = _port(chosen, drafts, job, side)
    mending.fit_records(chosen, drafts, job)
    mending.leave_out(chosen, job)
    mending.set_apart(chosen, job)
    mending.pass_on(chosen, drafts, job)
    drop_redundant(chosen, drafts, job, side)
    ask_about_replaced(drafts, job)
    ask_about_other_uses(drafts, job, side)
    drafts += [*_mixed_in(job), *hidden_changes(drafts, job), *hooks_never_called(drafts, job)]
    drafts += [*hidden_in_variants(drafts, job)]
    for draft in drafts:
        ask_about_order(draft, job.path)
        ask_about_returns(draft, job)
    ask_about_unset(drafts, job)
    ask_about_calls(drafts, job)
    name_partners(drafts)
    text = compose(drafts, job, side)
    return outcomes.result(drafts, job, text, decided), side


def _port(chosen: Sequence[Draft], drafts: list[Draft], job: ModuleJob, side: gpu.GpuSide) -> dict[str, Action]:
    """Port GPU omni changes, new members included; returns what becomes of each member that only the GPU has."""
    decided: dict[str, Action] = {}
    for class_name in dict.fromkeys(d.owner for d in drafts if d.owner):
        pair = members.twins(class_name, drafts, job, side)
        bound = device_bound(pair)
        mine = [d for d in chosen if d.owner == class_name]
        stages = {d.name: len(d.stages) for d in mine}
        have = [canon for draft in drafts for canon in canonical(draft.text)]
        beside = [d for d in drafts if d.owner == class_name and d.name not in stages]
        porting.port(mine, job, side, veto_for(bound, job.refused, pair.upstream, have=have), beside=beside)
        _mark([d for d in mine if len(d.stages) > stages[d.name]], job)
        decisions = members.decide_members(class_name, members.twins(class_name, drafts, job, side), job)
        drafts += ported_members(class_name, decisions, drafts, job, side)
        drafts += declined_members(class_name, decisions, job, side)
        drop_gone_from_gpu(mine, drafts, job, old=pair.gpu_old, new=pair.gpu_new)
        decided |= {f"{class_name}.{d.name}": d.action for d in decisions}
    methods = [d.text for d in drafts if d.owner and not d.removed]
    porting.port([d for d in chosen if not d.owner], job, side, veto_for({}, {}), methods=methods)
    return decided


def _mixed_in(job: ModuleJob) -> list[Draft]:
    """A question about the new bases of each class, and about those that it goes on without."""
    found = []
    settled = _settled_bases(job)
    for class_name, left in job.hierarchy.missing_mixins.items() if not job.settings.only else ():
        asked = [name for name in left if name not in settled]
        if not asked:
            continue
        draft = Draft(class_name, [Stage("")], "own", "review")
        reason = (
            f"the GPU twin mixes in {', '.join(asked)}, which the NPU class has done without since before this "
            f"upgrade: is that intended? `runner-sync upgrade --only '{class_name}*'` adds it with what calls it"
        )
        if job.twin.new is not None and not self_names(job.twin.new.text) & frozenset().union(*left.values()):
            reason += "; no method of the GPU twin itself uses anything of it"
        draft.reviews = [review(draft, job.path, reason=reason, confidence=CONTESTED)]
        found.append(draft)
    for class_name, mixins in job.hierarchy.added_mixins.items():
        draft = Draft(class_name, [Stage("")], "own", "review")
        reason = (
            f"the class mixes in {', '.join(mixins)} now, as its GPU twin does; the GPU code that sets it up and "
            "calls it was ported only where the NPU class has a place for it"
        )
        draft.reviews = [review(draft, job.path, reason=reason, confidence=INFERRED)]
        found.append(draft)
    return found


def _settled_bases(job: ModuleJob) -> set[str]:
    """Bases that the GPU class had at the last upgrade: what NPU does without of them was settled then."""
    if job.twin.settled is None or job.module.gpu is None:
        return set()
    return {base.expression for base in texts.bases_of(job.twin.settled.text, job.module.gpu.name)}


def _mark(drafts: Sequence[Draft], job: ModuleJob) -> None:
    """Put rulers around whole statements that a port, the last stage, added to a copy; omni's own method needs none."""
    ruler = ruler_style(job.text, label=job.profile.marker)
    for draft in drafts:
        if draft.kind != "copy":
            continue
        marked = _marked_lines(draft.text, job.profile.marker)
        enclosed = enclose_additions(draft.stages[-2].text, draft.text, marked=marked, ruler=ruler)
        draft.reviews = relocate(draft.reviews, old=draft.text, new=enclosed)
        draft.stages[-1] = draft.stages[-1]._replace(text=enclosed)


def _marked_lines(text: str, label: str) -> frozenset[int]:
    """Lines of a unit's text that rulers enclose."""
    shift = int(is_indented(text))
    return frozenset(line - shift for line in read_markers(as_module(text), label=label).marked)
