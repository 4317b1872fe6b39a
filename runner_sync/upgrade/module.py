"""One derived module through the whole line: units → lineage → merge → port → compose.

Comes in: a ``ModuleJob``. Goes out: a ``ModuleResult``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.compose.member_text import canonical, self_names
from runner_sync.compose.members import Twins, device_bound
from runner_sync.compose.rulers import enclose_additions
from runner_sync.confidence import CONTESTED, INFERRED
from runner_sync.markers import read_markers, ruler_style
from runner_sync.statements import as_module
from runner_sync.syntax import is_indented
from runner_sync.units import texts
from runner_sync.upgrade import mending, outcomes
from runner_sync.upgrade.composing import compose
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu import gpu, inheriting, members, owing, porting, twin_copies
from runner_sync.upgrade.from_gpu.call_fit import ask_about_calls
from runner_sync.upgrade.from_gpu.new_members import declined_members, is_asked_about, ported_members
from runner_sync.upgrade.from_gpu.refusing import veto_for
from runner_sync.upgrade.from_upstream import ascend
from runner_sync.upgrade.job import Fate, ModuleJob, ModuleResult, is_selected
from runner_sync.upgrade.questions.defects import (
    ask_about_order,
    ask_about_repeated,
    ask_about_returns,
    ask_about_unset,
)
from runner_sync.upgrade.questions.hidden import (
    ask_about_replaced,
    ask_about_variants,
    hidden_changes,
    hooks_never_called,
)
from runner_sync.upgrade.questions.other_uses import ask_about_other_uses
from runner_sync.upgrade.questions.partners import name_partners
from runner_sync.upgrade.questions.reviews import review
from runner_sync.upgrade.redundant import drop_gone_from_gpu, drop_redundant


def upgrade_module(job: ModuleJob) -> ModuleResult:
    """Upgrade one module. Raises ``InputError`` when its text does not parse.

    A class that takes a step with vllm-ascend gets the mixins, too, that it has done without: people catch up then.
    The rest is done again where it brings one half of something of which the GPU twin has the other half already.
    """
    followed = _after_upstream(job)
    moved = {draft.owner for draft in followed if draft.text != draft.before}
    job = replace(job, hierarchy=job.hierarchy.with_late_mixins(moved))
    result, side = _upgraded(job, followed)
    while not (found := owing.owed(job, side, result.after)).names <= job.twin.owed.names:
        job = replace(job, twin=replace(job.twin, owed=job.twin.owed.with_more(found)))
        result, side = _upgraded(job, followed)
    return result


def _after_upstream(job: ModuleJob) -> list[Draft]:
    """The units after their step with vllm-ascend, which is the same whatever of the GPU twin comes with it."""
    units = texts.unit_texts(job.text, job.path)
    drafts = [Draft(name, (Stage(text),), chosen=is_selected(name, job.settings.only)) for name, text in units.items()]
    return ascend.follow(drafts, job)


def _upgraded(job: ModuleJob, drafts: Sequence[Draft]) -> tuple[ModuleResult, gpu.GpuSide]:
    """The result of all stages behind the step with vllm-ascend, and the GPU side that they read."""
    side = gpu.read_side(job, drafts)
    for class_name in job.hierarchy.with_twin:
        drafts, job = inheriting.adopt(class_name, drafts, job, side)
    drafts, decided = _after_port(drafts, job, side)
    drafts = _after_mending(drafts, job)
    drafts = drop_redundant(drafts, job, side)
    drafts = _with_questions(drafts, job, side)
    text, drafts = compose(drafts, job, side)
    return outcomes.result(drafts, job, text, decided), side


def _after_mending(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """The drafts with members, records and calls that fit what they read, make, unpack and call."""
    drafts = mending.follow_names(drafts, job)
    drafts = mending.fit_records(drafts, job)
    drafts = mending.leave_out(drafts, job)
    drafts = mending.set_apart(drafts, job)
    return mending.pass_on(drafts, job)


def _with_questions(drafts: Sequence[Draft], job: ModuleJob, side: gpu.GpuSide) -> list[Draft]:
    """The drafts with questions about what was made of them, and drafts for questions about what is no unit."""
    drafts = ask_about_replaced(drafts, job)
    drafts = ask_about_other_uses(drafts, job, side)
    drafts = [*drafts, *_mixed_in(job), *hidden_changes(drafts, job), *hooks_never_called(drafts, job)]
    drafts = ask_about_variants(drafts, job)
    drafts = [ask_about_returns(ask_about_order(draft, job.path), job) for draft in drafts]
    drafts = [ask_about_repeated(draft, side.new.get(draft.name, ""), job.path) for draft in drafts]
    drafts = ask_about_unset(drafts, job)
    drafts = ask_about_calls(drafts, job)
    return name_partners(drafts)


def _after_port(drafts: Sequence[Draft], job: ModuleJob, side: gpu.GpuSide) -> tuple[Sequence[Draft], dict[str, Fate]]:
    """GPU omni changes ported, new members included; and what becomes of each member that only the GPU has."""
    decided: dict[str, Fate] = {}
    if job.twin.new is None:
        return drafts, decided
    drafts = twin_copies.follow_twin(drafts, job, side)
    for class_name in dict.fromkeys(d.owner for d in drafts if d.owner):
        pair = members.twins(class_name, drafts, job, side)
        drafts = _ported_into_class(class_name, drafts, job, side, pair)
        decisions = members.decide_members(class_name, members.twins(class_name, drafts, job, side), job)
        drafts = [*drafts, *ported_members(class_name, decisions, drafts, job, side)]
        drafts = [*drafts, *declined_members(class_name, decisions, job, side)]
        drafts = drop_gone_from_gpu(class_name, drafts, job, old=pair.gpu_old, new=pair.gpu_new)
        asked = {d.name for d in decisions if is_asked_about(class_name, d, job, side)}
        decided |= {f"{class_name}.{d.name}": "asked" if d.name in asked else d.action for d in decisions}
    methods = [d.text for d in drafts if d.owner and not d.removed]
    mine = [d for d in drafts if d.chosen and not d.owner]
    return _exchanged(drafts, mine, porting.port(mine, job, side, veto_for({}, {}), methods=methods)), decided


def _ported_into_class(
    class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: gpu.GpuSide, pair: Twins
) -> list[Draft]:
    """The drafts, those of one class with its twin's changes; what a port added to a copy stands between rulers."""
    have = [canon for draft in drafts for canon in canonical(draft.text)]
    veto = veto_for(device_bound(pair), job.refused, pair.upstream, have=have, helpers=pair.helpers)
    mine = [d for d in drafts if d.chosen and d.owner == class_name]
    beside = [d for d in drafts if not d.chosen and d.owner == class_name]
    ported = porting.port(mine, job, side, veto, beside=beside)
    grown = [
        _marked(now, job) if len(now.stages) > len(was.stages) else now for was, now in zip(mine, ported, strict=True)
    ]
    return _exchanged(drafts, mine, grown)


def _exchanged(drafts: Sequence[Draft], old: Sequence[Draft], new: Sequence[Draft]) -> list[Draft]:
    """The drafts, each of ``new`` in the place of the one of ``old`` that it was made of."""
    made = {was.name: now for was, now in zip(old, new, strict=True)}
    return [made[draft.name] if draft in old else draft for draft in drafts]


def _mixed_in(job: ModuleJob) -> list[Draft]:
    """A question about the new bases of each class, and about those that it goes on without."""
    found = []
    settled = _settled_bases(job)
    for class_name, left in job.hierarchy.missing_mixins.items() if not job.settings.only else ():
        asked = [name for name in left if name not in settled]
        if not asked:
            continue
        reason = (
            f"the GPU twin mixes in {', '.join(asked)}, which the NPU class has done without since before this "
            f"upgrade: is that intended? `runner-sync upgrade --only '{class_name}*'` adds it with what calls it"
        )
        if job.twin.new is not None and not self_names(job.twin.new.text) & frozenset().union(*left.values()):
            reason += "; no method of the GPU twin itself uses anything of it"
        draft = Draft.for_question(class_name)
        found.append(draft.asking(review(draft, job.path, reason=reason, confidence=CONTESTED)))
    for class_name, mixins in job.hierarchy.added_mixins.items():
        reason = (
            f"the class mixes in {', '.join(mixins)} now, as its GPU twin does; the GPU code that sets it up and "
            "calls it was ported only where the NPU class has a place for it"
        )
        if late := [mixin for mixin in mixins if mixin in job.hierarchy.late_mixins.get(class_name, ())]:
            reason += f"; NPU has done without {', '.join(late)} since before this upgrade: if on purpose, take it out"
        draft = Draft.for_question(class_name)
        found.append(draft.asking(review(draft, job.path, reason=reason, confidence=INFERRED)))
    return found


def _settled_bases(job: ModuleJob) -> set[str]:
    """Bases that the GPU class had at the last upgrade: what NPU does without of them was settled then."""
    if job.twin.settled is None or job.module.gpu is None:
        return set()
    return {base.expression for base in texts.bases_of(job.twin.settled.text, job.module.gpu.name)}


def _marked(draft: Draft, job: ModuleJob) -> Draft:
    """A copy with rulers around whole statements that a port, the last stage, added; omni's own method needs none."""
    if draft.kind != "copy":
        return draft
    ruler = ruler_style(job.text, label=job.profile.marker)
    marked = _marked_lines(draft.text, job.profile.marker)
    enclosed = enclose_additions(draft.stages[-2].text, draft.text, marked=marked, ruler=ruler)
    return draft.laid_out_anew(enclosed)


def _marked_lines(text: str, label: str) -> frozenset[int]:
    """Lines of a unit's text that rulers enclose."""
    shift = int(is_indented(text))
    return frozenset(line - shift for line in read_markers(as_module(text), label=label).marked)
