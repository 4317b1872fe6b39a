"""The stages of an upgrade in their order: units → lineage → merge → port → mend → compose.

Comes in: a ``ModuleJob``. Goes out: a ``ModuleResult``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.units import texts
from runner_sync.upgrade import mending, outcomes, returning
from runner_sync.upgrade.composing import compose
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu import class_by_class
from runner_sync.upgrade.from_gpu.asking.call_fit import ask_about_calls
from runner_sync.upgrade.from_gpu.asking.helpers_shown import show_helpers
from runner_sync.upgrade.from_gpu.asking.other_uses import ask_about_other_uses
from runner_sync.upgrade.from_gpu.members import inheriting
from runner_sync.upgrade.from_gpu.twin import gpu_side, owing
from runner_sync.upgrade.from_gpu.twin.unset import unset
from runner_sync.upgrade.from_upstream import ascend
from runner_sync.upgrade.job import ModuleJob, ModuleResult, is_selected
from runner_sync.upgrade.questions.counterparts import ask_about_counterparts
from runner_sync.upgrade.questions.defects import (
    ask_about_never_set,
    ask_about_order,
    ask_about_repeated,
    ask_about_returns,
    ask_about_unset,
)
from runner_sync.upgrade.questions.ended_calls import ask_about_ended_calls
from runner_sync.upgrade.questions.hidden import (
    ask_about_replaced,
    ask_about_variants,
    hidden_changes,
    hooks_never_called,
    upstreams_members,
)
from runner_sync.upgrade.questions.mixed_in import join_under_mixins, mixed_in
from runner_sync.upgrade.questions.newly_reached import ask_about_newly_reached
from runner_sync.upgrade.questions.one_decision import drop_told, join_alike, join_replaced
from runner_sync.upgrade.questions.one_feature import join_features
from runner_sync.upgrade.questions.partners import name_partners
from runner_sync.upgrade.questions.replaced_calls import ask_about_replaced_calls
from runner_sync.upgrade.redundant import drop_redundant
from runner_sync.upgrade.set_aside import set_aside


def upgrade_module(job: ModuleJob) -> ModuleResult:
    """Upgrades one module. Raises ``InputError`` when its text does not parse.

    A class that vllm-ascend's change alters also gets the mixins that it has done without, for that is when people
    catch up. The stages after vllm-ascend's are repeated as long as a port brings half of a feature whose other half
    the GPU twin already has; and from the start without what reads attributes that even then nothing sets.
    """
    followed = _after_upstream(job)
    moved = {draft.owner for draft in followed if draft.text != draft.before}
    job = replace(job, hierarchy=job.hierarchy.with_late_mixins(moved))
    result, side = _with_what_is_owed(job, followed)
    while more := {name: why for name, why in unset(job, side, result.after).items() if name not in job.twin.unset}:
        job = replace(job, twin=replace(job.twin, unset={**job.twin.unset, **more}))
        result, side = _with_what_is_owed(job, followed)
    return result


def _with_what_is_owed(job: ModuleJob, followed: Sequence[Draft]) -> tuple[ModuleResult, gpu_side.GpuSide]:
    """The result and its GPU side, with the older code of the twin that belongs to what is ported."""
    result, side = _upgraded(job, followed)
    while not (found := owing.owed(job, side, result.after)).names <= job.twin.owed.names:
        job = replace(job, twin=replace(job.twin, owed=job.twin.owed.with_more(found)))
        result, side = _upgraded(job, followed)
    return result, side


def _after_upstream(job: ModuleJob) -> list[Draft]:
    """The units with vllm-ascend's change; this does not depend on what is ported from the GPU twin."""
    units = texts.unit_texts(job.text, job.path)
    drafts = [Draft(name, (Stage(text),), chosen=is_selected(name, job.settings.only)) for name, text in units.items()]
    return ascend.follow(set_aside(drafts, job), job)


def _upgraded(job: ModuleJob, drafts: Sequence[Draft]) -> tuple[ModuleResult, gpu_side.GpuSide]:
    """The result of all stages after vllm-ascend's change, and the GPU side that they used."""
    side = gpu_side.read_side(job, drafts)
    for class_name in job.hierarchy.with_twin:
        drafts, job = inheriting.adopt(class_name, drafts, job, side)
    drafts, decided = class_by_class.after_port(drafts, job, side)
    drafts = _after_mending(drafts, job, side)
    drafts = drop_redundant(drafts, job, side)
    drafts = _with_questions(drafts, job, side)
    text, drafts = compose(drafts, job, side)
    return outcomes.result(drafts, job, text, decided), side


def _after_mending(drafts: Sequence[Draft], job: ModuleJob, side: gpu_side.GpuSide) -> list[Draft]:
    """The drafts with returns, names, records, arguments and parameters adapted to what changed."""
    drafts = returning.hand_over(drafts, job)
    drafts = mending.follow_names(drafts, job)
    drafts = mending.fit_records(drafts, job, side.new)
    drafts = mending.leave_out(drafts, job)
    drafts = mending.set_apart(drafts, job)
    return mending.pass_on(drafts, job)


def _with_questions(drafts: Sequence[Draft], job: ModuleJob, side: gpu_side.GpuSide) -> list[Draft]:
    """The drafts with questions about the result, and further drafts for questions about things that are no unit."""
    drafts = ask_about_replaced(drafts, job)
    drafts = ask_about_other_uses(drafts, job, side)
    drafts = [*drafts, *mixed_in(drafts, job, side.new), *hidden_changes(drafts, job), *hooks_never_called(drafts, job)]
    drafts = ask_about_variants(drafts, job)
    _ref, old, new = upstreams_members(drafts, job)
    drafts = ask_about_replaced_calls(drafts, job, old=old, new=new)
    drafts = ask_about_newly_reached(drafts, job)
    drafts = [ask_about_returns(ask_about_order(draft, job.path), job) for draft in drafts]
    drafts = [ask_about_repeated(draft, side.new.get(draft.name, ""), job.path) for draft in drafts]
    drafts = ask_about_unset(drafts, job)
    drafts = ask_about_never_set(drafts, job, side.new)
    drafts = ask_about_counterparts(ask_about_calls(drafts, job), job)
    drafts = ask_about_ended_calls(drafts, job)
    joined = join_under_mixins(join_replaced(join_features(drop_told(join_alike(drafts)))), job)
    return show_helpers(name_partners(joined, side.new), job, side)
