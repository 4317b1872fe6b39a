"""Removes ports whose GPU original is gone, or asks about them.

Comes in: drafts of a class, a ``ModuleJob``, the GPU methods before and now. Goes out: the drafts, some marked as
removed. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_sync.confidence import CONTESTED, REQUIRED
from runner_sync.fitting.members import is_port
from runner_sync.texts.member_text import canonical, is_same, self_names
from runner_sync.texts.names import read_in_class_body
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.moved_helpers import Moves, describe_changes
from runner_sync.upgrade.from_gpu.twin.new_homes import Homes
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask, make_review


def drop_gone_from_gpu(
    class_name: str,
    drafts: Sequence[Draft],
    job: ModuleJob,
    side: GpuSide,
    *,
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> list[Draft]:
    """Remove each port whose GPU original is gone, with a question, unless something on the NPU side still calls it.

    Asks about a port whose original is newly gone if another method of the class still calls it. Also asks about a port
    that NPU has edited and that lost its last caller, because the edits exist nowhere else. Keeps methods that
    vllm-ascend has, too. The question names the function of another module that the GPU runner moved the method to.
    """
    here = [d for d in drafts if d.owner == class_name]
    orphans = [d for d in here if _has_lost_original(d, job, old=old, new=new)]
    gone = _find_uncalled([d for d in orphans if is_same(d.before, old[d.member])], drafts, job)
    remaining = [d for d in drafts if d not in gone]
    new_on_both = {d.member: new[d.member] for d in here if d.member in new.keys() - old.keys()}
    inherited, moves = job.hierarchy.of(class_name).members, Moves(job, side)

    def settle(draft: Draft) -> Draft:
        if draft not in orphans or not (draft in gone or is_port(draft.before, old[draft.member])):
            return draft
        original = _Original(old[draft.member], _find_moved(draft, moves))
        if draft in gone:
            return _remove(draft, job, original)
        is_idle = was_called(draft, drafts) and not _is_needed(draft, remaining, job)
        if is_idle and not is_same(draft.before, original.then):
            return _ask_about_edited(draft, job, original, new_on_both)
        callers = [d.member for d in remaining if d.owner == class_name and is_called(draft, [d])]
        if callers and draft.member not in inherited and _is_newly_gone(draft, job):
            return _ask_about_called(draft, job, original, callers)
        return draft

    return [settle(draft) for draft in drafts]


def _has_lost_original(draft: Draft, job: ModuleJob, *, old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether the GPU class no longer has a method, and neither vllm-ascend nor the body of the NPU class needs it."""
    is_lost = draft.chosen and draft.member in old and draft.member not in new and draft.upstream is None
    return is_lost and not is_read_by_class(draft, job)


def _find_uncalled(methods: list[Draft], drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Return those of the ``methods`` that nothing calls but each other."""
    others = [d for d in drafts if d not in methods]
    called = [d for d in methods if _is_needed(d, others, job)]
    while called:
        methods = [d for d in methods if d not in called]
        called = [d for d in methods if is_called(d, called)]
    return methods


def _is_needed(draft: Draft, others: Sequence[Draft], job: ModuleJob) -> bool:
    """Whether one of ``others`` or another module uses a method."""
    return draft.member in job.target.elsewhere.at_all or is_called(draft, others)


def _is_newly_gone(draft: Draft, job: ModuleJob) -> bool:
    """Whether the twin still had a method at the last recorded upgrade; earlier removals were settled then."""
    return job.twin.settled is None or draft.name in translate_units(job, job.twin.settled)


def _find_moved(draft: Draft, moves: Moves) -> Homes:
    """Return what moved out of the class since the twin revision that a draft was aligned with."""
    base = moves.side.bases.get(draft.name)
    return moves.find_since(base.side, draft.owner) if base is not None else {}


@dataclass(frozen=True, slots=True)
class _Original:
    """The GPU method ``then``, and the methods that ``moved`` out of its class, which may include this one."""

    then: str
    moved: Homes

    def show(self, draft: Draft, *, chosen: str = "") -> Shown:
        now = self.moved[draft.member].whole if draft.member in self.moved else ""
        return Shown(base=self.then, omni=draft.before, upstream=now, chosen=chosen)

    def describe_fate(self, draft: Draft) -> str:
        """Return what the GPU runner did with the method."""
        if draft.member not in self.moved:
            return "the GPU runner dropped this method"
        news = describe_changes(self.then, draft.member, self.moved, have=draft.before)
        return (
            f"the GPU runner moved this method to {self.moved[draft.member].dotted}{news or ', where it does the same'}"
        )


def _ask_about_edited(draft: Draft, job: ModuleJob, original: _Original, new_on_both: Mapping[str, str]) -> Draft:
    """Ask about an edited port.

    ``new_on_both`` are methods that both classes newly have; one may be the same method under a new name.
    """
    reason = (
        f"{original.describe_fate(draft)}, and nothing on the NPU side calls it any more; it stays, because "
        "NPU had edited it"
    )
    if renamed := [name for name, text in new_on_both.items() if canonical(text)[1:] == canonical(original.then)[1:]]:
        reason += f"; it is called {renamed[0]} there now, and {renamed[0]} was ported without NPU's edits"
    return _ask_about_kept(draft, job, original, reason)


def _ask_about_called(draft: Draft, job: ModuleJob, original: _Original, callers: Sequence[str]) -> Draft:
    reason = (
        f"{original.describe_fate(draft)}; it stays, because the NPU class still calls it in {' and '.join(callers)}"
    )
    return _ask_about_kept(draft, job, original, reason)


def _ask_about_kept(draft: Draft, job: ModuleJob, original: _Original, reason: str) -> Draft:
    """Ask about a method that stays."""
    shown = original.show(draft, chosen=draft.text)
    return ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, from_gpu=bool(shown.upstream))


def _remove(draft: Draft, job: ModuleJob, original: _Original) -> Draft:
    reason = f"{original.describe_fate(draft)}; its port was removed, because nothing on the NPU side calls it any more"
    shown = original.show(draft)
    item = make_review(draft, job.path, reason=reason, confidence=REQUIRED, shown=shown, from_gpu=bool(shown.upstream))
    return draft.as_removed(*draft.reviews, item, source="gpu")


def is_read_by_class(draft: Draft, job: ModuleJob) -> bool:
    """Whether the class body itself reads this member, so that the module could not be imported without it."""
    return draft.member in read_in_class_body(job.text, draft.owner)


def is_called(draft: Draft, drafts: Sequence[Draft]) -> bool:
    """Whether another member calls this one."""
    return any(draft.member in self_names(d.text) for d in drafts if d is not draft and not d.removed)


def was_called(draft: Draft, drafts: Sequence[Draft]) -> bool:
    """Whether another member called this one before this upgrade."""
    return any(draft.member in self_names(other.before) for other in drafts if other is not draft)
