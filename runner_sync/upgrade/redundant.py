"""Methods that the NPU class can do without since this upgrade: each goes with a question.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the same drafts, some marked as removed. May touch:
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from runner_sync.compose.members import canonical, is_port, self_names
from runner_sync.merge.confidence import DERIVED, REBUILT, REQUIRED
from runner_sync.upgrade import inheriting
from runner_sync.upgrade.doubts import review
from runner_sync.upgrade.gpu import GpuSide
from runner_sync.upgrade.job import Draft, Inherited, ModuleJob

SAME = "it equals the method that the class inherits"

MOVED = 0.8
"""Share of omni's statements of a copy that must stand in other methods for the copy to go."""


def drop_gone_from_gpu(
    mine: Sequence[Draft], drafts: Sequence[Draft], job: ModuleJob, *, old: Mapping[str, str], new: Mapping[str, str]
) -> None:
    """A port whose GPU original is gone goes too, unless something on the NPU side still calls it."""
    gone = [d for d in mine if d.member in old and d.member not in new and d.upstream is None]
    gone = [d for d in gone if canonical(d.before) == canonical(old[d.member])]
    elsewhere = job.target.called_elsewhere
    called = [d for d in gone if d.member in elsewhere or _is_called(d, [o for o in drafts if o not in gone])]
    while called:
        gone = [d for d in gone if d not in called]
        called = [d for d in gone if _is_called(d, called)]
    for draft in gone:
        draft.removed = True
        reason = "the GPU runner dropped this method, and nothing on the NPU side calls its port any more"
        draft.reviews.append(
            review(draft, job.path, reason=reason, confidence=REQUIRED, base=old[draft.member], omni=draft.before)
        )


def drop_redundant(chosen: Sequence[Draft], drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> None:
    """Overrides that no longer say anything of omni's: inheritance does the same."""
    for draft in chosen:
        reason = "" if draft.removed or not draft.owner else _redundant(draft, drafts, job, side)
        if reason:
            _remove(draft, job, reason)
        elif draft.kind == "copy" and draft.upstream is None and draft.base is not None and not draft.removed:
            reason = "upstream no longer has the method that this is a copy of"
            draft.reviews.append(
                review(draft, job.path, reason=reason, confidence=REBUILT, omni=draft.before, chosen=draft.text)
            )


def _redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> str:
    """Why the class can do without this member since this upgrade, or an empty string.

    What was redundant before is left: people had a reason, or ``check`` tells them.
    """
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    inherits = draft.member in inherited.members
    below = inherited.members.get(draft.member)
    if below is not None:
        was = inherited.before.get(draft.member)
        already = was is not None and canonical(draft.before) == canonical(was)
        if draft.name in side.device_free and is_port(draft.before, side.old[draft.name]):
            return "the GPU method that it translated has no device code any more and is inherited"
        if was is None and draft.text == draft.before and _stands_in(canonical(draft.before)[1:], [below]):
            return "a base class has it since this upgrade, in the version that the callers of today have"
        same = canonical(draft.text) == canonical(below) and not already
        return SAME if same and inheriting.can_stand_for(below, inheriting.upstream_version(job, draft.member)) else ""
    if draft.kind != "copy":
        return ""
    if inherits and draft.upstream is not None and canonical(draft.text) == canonical(draft.upstream):
        return "the copy equals the upstream method that the class inherits"
    if not draft.own:
        if draft.upstream is None and (inherits or not _is_called(draft, drafts)):
            return "upstream dropped the method, and the copy has nothing of omni's"
        return ""
    if draft.upstream is None and draft.base is not None and _is_abandoned(draft, drafts, inherited):
        return "upstream dropped the method that this is a copy of, and nothing calls the copy any more"
    elsewhere = [d.text for d in drafts if d is not draft and not d.removed and d.owner == draft.owner]
    elsewhere += [text for text in inherited.members.values() if text is not None]
    if inherits and _stands_in(draft.own, elsewhere):
        return "everything that omni had added to the copy stands in other methods now"
    return ""


def _stands_in(own: Collection[str], elsewhere: Sequence[str]) -> bool:
    """Whether nearly all of the statements stand, the same or alike, in the other methods."""
    known = {canon for text in elsewhere for canon in canonical(text)}
    return sum(canon in known for canon in own) >= MOVED * len(own)


def _is_called(draft: Draft, drafts: Sequence[Draft]) -> bool:
    return any(draft.member in self_names(d.text) for d in drafts if d is not draft and not d.removed)


def _is_abandoned(draft: Draft, drafts: Sequence[Draft], inherited: Inherited) -> bool:
    """Whether the calls of a method went with this upgrade: the module had some, and neither it nor a base class has
    one now."""
    had = any(draft.member in self_names(other.before) for other in drafts if other is not draft)
    below = any(draft.member in self_names(text) for text in inherited.members.values() if text is not None)
    return had and not below and not _is_called(draft, drafts)


def _remove(draft: Draft, job: ModuleJob, reason: str) -> None:
    draft.removed = True
    draft.reviews = [
        review(draft, job.path, reason=reason, confidence=DERIVED, omni=draft.before, upstream=draft.upstream or "")
    ]
