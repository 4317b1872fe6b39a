"""Compares a class of the module with its GPU twin and decides about each member that only the twin has.

Comes in: drafts, a ``ModuleJob`` and its ``GpuSide``. Goes out: ``Twins`` and decisions. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from runner_sync.fitting.members import Member, Obstacle, Twins, classify_members
from runner_sync.texts.member_text import find_called_parents, self_names, self_names_of
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft, Stage, texts_by_member
from runner_sync.upgrade.from_gpu.twin import mixins
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide, read_side
from runner_sync.upgrade.job import Inherited, ModuleJob, is_selected


def decide_without_upgrade(job: ModuleJob, class_names: Iterable[str]) -> dict[str, Member]:
    """Decide about each member that only the GPU classes have, by its NPU name, if nothing is upgraded."""
    drafts = [Draft(name, (Stage(text),)) for name, text in job.units.items()]
    side = read_side(job, drafts)
    return {
        f"{class_name}.{member.name}": member
        for class_name in class_names
        for member in decide_members(class_name, pair_classes(class_name, drafts, job, side), job)
    }


def pair_classes(class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> Twins:
    """Pair a class with its GPU twin, and collect everything that decisions about their members need."""
    inherited = job.hierarchy.of(class_name)
    prefix = f"{class_name}."
    members, before = (texts.select_members(units, class_name) for units in (side.new, side.old))
    return Twins(
        gpu_old=before,
        gpu_new=members,
        npu=texts_by_member(drafts, class_name),
        npu_before={d.member: d.before for d in drafts if d.owner == class_name},
        inherited=_find_inherited(inherited, job, members.keys() - before.keys()),
        device=job.refused,
        called_elsewhere=job.target.elsewhere.called,
        called_by_twins=job.target.elsewhere.by_twins_now,
        upstream=inherited.upstream,
        vllm=inherited.vllm,
        helpers=_list_module_definitions(side, job),
        known_before={k.removeprefix(prefix) for k in side.known_before if k.startswith(prefix)},
        required=({job.profile.sampler_hook.method} if not job.twin.news_only else set())
        | _find_newly_called(drafts, job)
        | _find_selected(class_name, side, job)
        | _find_users_of_news(class_name, members, job),
        absent=_find_not_mixed_in(class_name, job, members),
    )


def _find_inherited(found: Inherited, job: ModuleJob, new: Collection[str]) -> Mapping[str, str | None]:
    """Return members that a class inherits.

    Without vllm-ascend, adds vLLM members that the twin newly (``new``) overrides: vllm-ascend's class inherits them
    from vLLM, too, and calls them.
    """
    if job.upstream.new is not None:
        return found.members
    return {**{name: None for name in found.vllm if name in new}, **found.members}


def _find_users_of_news(class_name: str, members: Mapping[str, str], job: ModuleJob) -> set[str]:
    """Return members of the twin that use names which the NPU class newly gets: the other half of that change."""
    names = job.hierarchy.from_mixins(class_name) | job.twin.owed.kept
    return {member for member, text in members.items() if names and names & self_names(text)}


def _find_not_mixed_in(class_name: str, job: ModuleJob, members: Mapping[str, str]) -> dict[str, Obstacle]:
    """Map names from mixins that only the GPU class has to their mixin as the obstacle.

    Skips names that the GPU class sets itself, except a method that calls the mixin's through ``super()``.
    """
    missing = job.hierarchy.missing_mixins.get(class_name, {})
    have = set(job.hierarchy.of(class_name).members)
    if missing and job.twin.new is not None:
        own = mixins.find_instance_names(job.twin.new.text, job.profile.gpu_name(class_name))
        have |= {name for name in own if "super()" not in find_called_parents(members.get(name, ""), name)}
    return {name: Obstacle("mixin", mixin) for mixin, names in missing.items() for name in names if name not in have}


def _find_selected(class_name: str, side: GpuSide, job: ModuleJob) -> set[str]:
    """Return members of the twin that ``--only`` selects, which is how to port members that ``check`` reports as
    missing."""
    names = [name for name in side.new if name.startswith(f"{class_name}.")] if job.settings.only else []
    return {name.rpartition(".")[2] for name in names if is_selected(name, job.settings.only)}


def _find_newly_called(drafts: Sequence[Draft], job: ModuleJob) -> frozenset[str]:
    """Return members of ``self`` that vllm-ascend's runner or the module itself newly calls in this upgrade."""
    followed = {draft.base.ref for draft in drafts if draft.base is not None}
    before = [side.text for side in job.upstream.bases if side.ref in followed]
    now = [job.upstream.new.text] if job.upstream.new is not None and before else []
    before += [draft.before for draft in drafts]
    now += [draft.text for draft in drafts if not draft.removed]
    news = self_names_of({*now}.difference(before))
    return news - self_names_of(before) if news else news


def _list_module_definitions(side: GpuSide, job: ModuleJob) -> dict[str, str]:
    """Return the twin's module-level definitions without the runner classes.

    Naming a runner class is not a use of its device code.
    """
    if not side.module_text or job.twin.new is None:
        return {}
    runners = {name for pair in job.profile.classes for name in pair}
    definitions = texts.whole_definitions(side.module_text, job.twin.new.path)
    return {name: text for name, text in definitions.items() if name not in runners}


def decide_members(class_name: str, pair: Twins, job: ModuleJob) -> list[Member]:
    """Decide about each member that only the GPU class has; none is copied if the NPU class inherits from the twin."""
    if job.profile.gpu_name(class_name) in job.hierarchy.of(class_name).classes:
        missing = [name for name in pair.gpu_new if name not in pair.npu]
        return [Member(name, "inherited", "the NPU class inherits from its GPU twin") for name in missing]
    beside = texts.beside_units(job.text, job.path)
    return [member for member in classify_members(pair) if f"{class_name}.{member.name}" not in beside]
