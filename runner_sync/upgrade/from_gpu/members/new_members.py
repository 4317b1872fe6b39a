"""Drafts members that only the GPU class has, or asks about those that cannot be ported.

Comes in: the decision about each such member, drafts, a ``ModuleJob`` and the GPU side. Goes out: further drafts. May
touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner_sync.confidence import INFERRED, REQUIRED
from runner_sync.fitting.hooks import describe_skipped_steps, fit_sampler_hook
from runner_sync.fitting.members import Member, find_predecessor, find_successor, list_other_definitions
from runner_sync.model import ReviewItem
from runner_sync.texts.member_text import find_reached, self_names, self_names_of
from runner_sync.units.splitting import bare_name
from runner_sync.upgrade.draft import Draft, Stage, list_members
from runner_sync.upgrade.from_gpu.asking.untranslated import ask_about_untranslated, explain_unconfirmed
from runner_sync.upgrade.from_gpu.members.imports_at_hand import without_imports_at_hand
from runner_sync.upgrade.from_gpu.twin import owing
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide, record_twin
from runner_sync.upgrade.job import ModuleJob, is_selected
from runner_sync.upgrade.questions.reviews import Shown, make_not_ported_review, make_review


def port_members(
    class_name: str,
    decisions: Sequence[Member],
    drafts: Sequence[Draft],
    job: ModuleJob,
    side: GpuSide,
    *,
    renamed: Mapping[str, Draft],
) -> list[Draft]:
    """Return drafts of the members to be ported; ``renamed`` are those that NPU has under an old name.

    Each goes behind its predecessor in the GPU class or, if NPU has none of those, in front of its successor. With
    ``--only``, these are the selected members and the members that they call.
    """
    prefix = f"{class_name}."
    wanted = _find_wanted(class_name, decisions, drafts, job, side)
    order = [name.removeprefix(prefix) for name in side.new if name.startswith(prefix)]
    have = {d.member for d in list_members(drafts, class_name)}
    added = []
    for decision in decisions:
        if decision.name not in wanted:
            continue
        was = renamed.get(prefix + decision.name)
        before = was.member if was is not None else find_predecessor(decision.name, order, have)
        behind = None if before else find_successor(decision.name, order, have)
        text, changes = fit_sampler_hook(side.new[prefix + decision.name], job.profile.sampler_hook)
        draft = Draft(
            prefix + decision.name,
            (Stage(""), Stage(without_imports_at_hand(text, job.text), "gpu")),
            "own",
            "added",
            after=prefix + before if before else None,
            ahead_of=prefix + behind if behind else None,
        )
        draft = record_twin(draft, job, text, side)
        draft = ask_about_untranslated(draft, job.path, before="", doubts=side.untranslated)
        notes = (*changes, *_describe_sampler_steps(decision.name, job))
        if was is None:
            item = _review_added(draft, job, decision, notes)
        else:
            item = _review_renamed(draft, job, was, is_npus=was.name not in side.old)
        added.append(draft.with_questions(item))
        have.add(decision.name)
    return added


def _describe_sampler_steps(name: str, job: ModuleJob) -> tuple[str, ...]:
    """Return what vllm-ascend's own method does before it samples, for the sampler hook, which asks the model first."""
    hook, side = job.profile.sampler_hook, job.upstream.new
    if name != hook.method or side is None:
        return ()
    return describe_skipped_steps(side.members(job.module.anchor.name).get(name, ""), hook)


def _review_added(draft: Draft, job: ModuleJob, decision: Member, notes: Sequence[str]) -> ReviewItem:
    what = "ported as a hook" if decision.action == "hook" else "ported"
    doubts = f"{owing.explain(draft.text, job)}{explain_unconfirmed(draft.text, job)}"
    reason = "; ".join([f"{what} from the GPU runner: {decision.reason}{doubts}", *notes])
    shown = Shown(upstream=draft.text, chosen=draft.text)
    return make_review(draft, job.path, reason=reason, confidence=REQUIRED, shown=shown, from_gpu=True)


def _review_renamed(draft: Draft, job: ModuleJob, was: Draft, *, is_npus: bool) -> ReviewItem:
    """Ask about a method that got the twin's name for it; ``is_npus`` if only NPU had it under the old one."""
    reason = (
        f"the GPU runner has a method for this, too, now; NPU's {was.member} got its name"
        if is_npus
        else f"the GPU runner renamed {was.member}, and NPU's own form of it was renamed, too"
    )
    shown = Shown(omni=was.before, upstream=draft.text, chosen=draft.text)
    return make_review(draft, job.path, reason=reason, confidence=REQUIRED, shown=shown, from_gpu=True)


def _find_wanted(
    class_name: str, decisions: Sequence[Member], drafts: Sequence[Draft], job: ModuleJob, side: GpuSide
) -> set[str]:
    """Return names of members to port: selected ones, and portable ones that they or existing members newly call.

    Includes new ones that omni's inherited code calls. Calls are followed transitively.
    """
    portable = {decision.name for decision in decisions if decision.action in ("port", "hook")}
    wanted = {name for name in portable if is_selected(f"{class_name}.{name}", job.settings.only)}
    members = list_members(drafts, class_name)
    have = {draft.member for draft in members}
    inherited = job.hierarchy.of(class_name).omnis
    run = [text for name, text in inherited.items() if text and name not in have]
    called = self_names_of(run) & {decision.name for decision in decisions if decision.action == "port"}
    wanted |= {name for name in called if f"{class_name}.{name}" not in side.known_before}
    for draft in members:
        wanted |= (self_names(draft.text) - self_names(draft.before)) & portable
    wanted |= {d.name for d in decisions if d.name in portable and "#" in d.name and bare_name(d.name) in have}
    methods = {name: side.new[f"{class_name}.{name}"] for name in portable}
    reached = wanted.union(*(find_reached(methods[name], methods) for name in wanted))
    return reached.union(*(list_other_definitions(name, portable) for name in reached))


def is_asked_about(class_name: str, decision: Member, job: ModuleJob, side: GpuSide) -> bool:
    """Whether a question, possibly shared, covers a member that could not be ported."""
    name = f"{class_name}.{decision.name}"
    is_open = bool(job.settings.only) or name not in side.unchanged or decision.is_newly_called
    return decision.action in ("device", "rebuilt", "skipped") and is_selected(name, job.settings.only) and is_open


def ask_about_declined(class_name: str, decisions: Sequence[Member], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Return empty drafts with questions about members that could not be ported, one question per cause.

    Asks again about members settled at an earlier upgrade only if ``--only`` names them.
    """
    groups: dict[str, list[Member]] = {}
    for decision in decisions:
        if is_asked_about(class_name, decision, job, side):
            cause = decision.obstacle.cause if decision.obstacle is not None else decision.name
            groups.setdefault(cause, []).append(decision)
    found = []
    for members in groups.values():
        first = next((m for m in members if m.obstacle is not None and not m.obstacle.needs), members[0])
        others = ", ".join(member.name for member in members if member is not first)
        draft = Draft.for_question(f"{class_name}.{first.name}")
        why = first.reason + (f"; what needs it was not ported either: {others}" if others else "")
        upstream = side.new[draft.name]
        found.append(
            draft.with_questions(
                make_not_ported_review(draft, job.path, why=why, confidence=INFERRED, upstream=upstream)
            )
        )
    return found
