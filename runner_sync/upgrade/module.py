"""Runs the stages of an upgrade in order: units → lineage → merge → port → mend → compose.

Comes in: a ``ModuleJob``. Goes out: a ``ModuleResult``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.upgrade import mending, outcomes, returning
from runner_sync.upgrade.composing import compose
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu import class_by_class
from runner_sync.upgrade.from_gpu.asking.call_fit import ask_about_calls
from runner_sync.upgrade.from_gpu.asking.changed_helpers import ask_about_changed_helpers
from runner_sync.upgrade.from_gpu.asking.helpers_shown import show_helpers
from runner_sync.upgrade.from_gpu.asking.inline_functions import ask_about_changed_functions
from runner_sync.upgrade.from_gpu.asking.other_uses import ask_about_other_uses
from runner_sync.upgrade.from_gpu.members import inheriting
from runner_sync.upgrade.from_gpu.members.freed_of_device import ask_about_freed
from runner_sync.upgrade.from_gpu.twin import gpu_side, owing, recorded_helpers
from runner_sync.upgrade.from_gpu.twin.unset import find_unset
from runner_sync.upgrade.from_upstream import ascend
from runner_sync.upgrade.isolation import Step, take_steps
from runner_sync.upgrade.job import GpuTwin, ModuleJob, ModuleResult, Owed, is_selected
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
    ask_about_hidden_changes,
    ask_about_overrides,
    ask_about_variants,
    find_upstream_members,
)
from runner_sync.upgrade.questions.linked_questions import name_partners
from runner_sync.upgrade.questions.made_twice import ask_about_made_twice
from runner_sync.upgrade.questions.mixed_in import ask_about_mixins, join_under_mixins
from runner_sync.upgrade.questions.newly_reached import ask_about_newly_reached
from runner_sync.upgrade.questions.one_decision import join_alike, link_same_replacements
from runner_sync.upgrade.questions.one_feature import join_features
from runner_sync.upgrade.questions.replaced_calls import ask_about_replaced_calls
from runner_sync.upgrade.questions.two_ends import ask_about_other_ends
from runner_sync.upgrade.questions.uncalled_hooks import ask_about_uncalled_hooks
from runner_sync.upgrade.redundant import drop_redundant
from runner_sync.upgrade.set_aside import set_aside_unread
from runner_sync.upgrade.twin_names import TakenOver, with_new_names


def upgrade_module(job: ModuleJob) -> ModuleResult:
    """Upgrade one module. Raises ``InputError`` if its text does not parse.

    A class that vllm-ascend's change alters also gets its late mixins, because people catch up at such upgrades.

    The stages after vllm-ascend's are repeated while a port brings half of a feature whose other half the GPU twin
    already has (``owed``), or code that reads attributes that nothing sets (``unset``), which then stays out.
    """
    followed = _follow_upstream(job)
    moved = {draft.owner for draft in followed if draft.text != draft.before}
    job = replace(job, hierarchy=job.hierarchy.with_late_mixins(moved), twin=_name_twin_as(followed, job))
    while True:
        result, side = _run_later_stages(job, followed)
        twin = _complete_twin(job, side, result.after)
        if twin is None:
            return result
        job = replace(job, twin=twin)


def _name_twin_as(followed: Sequence[Draft], job: ModuleJob) -> GpuTwin:
    """Return the twin with the new names that the drafts have taken over from vllm-ascend."""
    if job.upstream.new is None:
        return job.twin
    taken = {draft.name: TakenOver(dict(draft.new_names), dict(draft.new_forms), draft.text) for draft in followed}
    return replace(job.twin, translation=with_new_names(job.twin.translation, taken, job.upstream.new.text))


def _complete_twin(job: ModuleJob, side: gpu_side.GpuSide, after: str) -> GpuTwin | None:
    """Return the twin with what the result ``after`` shows to be owed or, if nothing is, unset; ``None`` if neither.

    What is owed to code that stays out now may not be: it is found anew.
    """
    found, twin = owing.find_owed(job, side, after), job.twin
    if not found.names <= twin.owed.names:
        return replace(twin, owed=twin.owed.with_more(found))
    more = {name: why for name, why in find_unset(job, side, after).items() if name not in twin.unset}
    return replace(twin, owed=Owed(), unset={**twin.unset, **more}) if more else None


def _follow_upstream(job: ModuleJob) -> list[Draft]:
    """Return the units with vllm-ascend's change, which does not depend on the port from the GPU twin."""
    units = job.units
    drafts = [Draft(name, (Stage(text),), chosen=is_selected(name, job.settings.only)) for name, text in units.items()]
    return ascend.follow(set_aside_unread(drafts, job), job)


def _run_later_stages(job: ModuleJob, drafts: Sequence[Draft]) -> tuple[ModuleResult, gpu_side.GpuSide]:
    """Run all stages after vllm-ascend's change; return the result and the GPU side that they used."""
    side = gpu_side.read_side(job, drafts)
    for class_name in job.hierarchy.with_twin:
        drafts, job = inheriting.inherit_from_twin(class_name, drafts, job, side)
    drafts, decided = class_by_class.port_module(drafts, job, side)
    drafts = _mend(drafts, job, side)
    drafts = ask_about_freed(drop_redundant(drafts, job, side), job, side)
    drafts = _ask_questions(drafts, job, side)
    text, drafts = compose(recorded_helpers.record_helpers(drafts, job, side), job, side)
    return outcomes.make_result(drafts, job, text, decided), side


def _mend(drafts: Sequence[Draft], job: ModuleJob, side: gpu_side.GpuSide) -> list[Draft]:
    """Adapt returns, records, arguments and parameters to the changes."""
    steps: list[Step] = [
        lambda found: returning.hand_over(found, job),
        lambda found: mending.fit_records(found, job, side.new),
        lambda found: mending.drop_unset_arguments(found, job),
        lambda found: mending.set_as_attributes(found, job),
        lambda found: mending.name_shifted_arguments(found, job),
        lambda found: mending.pass_required_parameters(found, job),
    ]
    return take_steps(steps, drafts, job, purpose="adapts the code to new signatures and records")


def _ask_questions(drafts: Sequence[Draft], job: ModuleJob, side: gpu_side.GpuSide) -> list[Draft]:
    """Add questions about the result, and drafts for questions that concern no unit."""
    steps: list[Step] = [
        lambda found: ask_about_made_twice(ask_about_overrides(found, job), job),
        lambda found: ask_about_other_uses(found, job, side),
        lambda found: ask_about_changed_helpers(found, job, side),
        lambda found: ask_about_changed_functions(found, job, side),
        lambda found: [
            *found,
            *inheriting.ask_about_twins(found, job, side),
            *ask_about_mixins(found, job, side.new),
            *ask_about_hidden_changes(found, job),
            *ask_about_uncalled_hooks(found, job),
        ],
        lambda found: ask_about_variants(found, job),
        lambda found: _ask_about_calls_of_upstream(found, job),
        lambda found: ask_about_newly_reached(found, job),
        lambda found: [ask_about_returns(ask_about_order(draft, job.path), job) for draft in found],
        lambda found: [ask_about_repeated(draft, side.new.get(draft.name, ""), job.path) for draft in found],
        lambda found: ask_about_unset(found, job, gpu_side.list_vllm_before(side)),
        lambda found: ask_about_never_set(found, job, side.new),
        lambda found: ask_about_calls(found, job),
        lambda found: ask_about_counterparts(found, job),
        lambda found: ask_about_other_ends(found, job),
        lambda found: ask_about_ended_calls(found, job),
        lambda found: join_under_mixins(link_same_replacements(join_features(join_alike(found), job.hierarchy)), job),
        lambda found: show_helpers(name_partners(found, side.new, job.hierarchy), job, side),
    ]
    return take_steps(steps, drafts, job, purpose="looks for open questions")


def _ask_about_calls_of_upstream(drafts: Sequence[Draft], job: ModuleJob) -> Sequence[Draft]:
    _ref, old, new = find_upstream_members(drafts, job)
    return ask_about_replaced_calls(drafts, job, old=old, new=new)
