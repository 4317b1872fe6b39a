"""Methods that the NPU class can do without since this upgrade: each goes with a question.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts, some marked as removed. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runner_sync.compose.member_text import canonical, self_names
from runner_sync.compose.members import is_port
from runner_sync.confidence import CONTESTED, DERIVED, INFERRED, REBUILT
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu import inheriting
from runner_sync.upgrade.from_gpu.gone_from_gpu import is_called, is_read_by_class
from runner_sync.upgrade.from_gpu.gpu import GpuSide
from runner_sync.upgrade.job import Inherited, ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review

SAME = "it equals the method that the class inherits"

SHOWN = 3
"""Statements of NPU's own that a question names, the first ones."""

ELSEWHERE = 0.8
"""Share of omni's statements of a copy that must stand in other methods for the copy to go."""


def drop_redundant(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Overrides that no longer say anything of omni's: inheritance does the same.

    One after the other: of two that each stand in the other's place, one stays.
    """
    left = [*drafts]
    for at, draft in enumerate(drafts):
        if draft.chosen and not draft.removed:
            left[at] = _unless_redundant(draft, left, job, side)
    return left


def _unless_redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> Draft:
    """The draft; dropped where the class can do without it, with a question where upstream gave up what it copies."""
    may_go = bool(draft.owner) and not is_read_by_class(draft, job)
    reason = _why_redundant(draft, drafts, job, side) if may_go else ""
    if reason:
        shown = Shown(omni=draft.before, upstream=draft.upstream or "")
        return draft.dropped(review(draft, job.path, reason=reason, confidence=DERIVED, shown=shown))
    own = _own_of_port(draft, side) if _could_be_inherited(draft, job, side) else []
    if own:
        reason = "the GPU method that it translated has no device code any more and could be inherited, but for what "
        reason += "only NPU does: " + "; ".join(f"`{canon}`" for canon in own[:SHOWN])
        shown = Shown(omni=draft.before, upstream=side.new[draft.name], chosen=draft.text)
        return draft.asking(review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown, from_gpu=True))
    if draft.kind == "copy" and draft.upstream is None and draft.base is not None:
        reason = "upstream no longer has the method that this is a copy of"
        shown = Shown(omni=draft.before, chosen=draft.text)
        return draft.asking(review(draft, job.path, reason=reason, confidence=REBUILT, shown=shown))
    below = _taken_by_twin(draft, job, side)
    if below:
        reason = (
            "the GPU runner gave up its own version of this method, of which this is a port, and inherits another one; "
            "the NPU class has that below, too, and this hides it"
        )
        shown = Shown(omni=draft.text, upstream=below, chosen=draft.text)
        return draft.asking(review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, from_gpu=True))
    return draft


def _taken_by_twin(draft: Draft, job: ModuleJob, side: GpuSide) -> str:
    """What omni's base class has for a method that the GPU twin had as it stands here, and has no more; or an empty
    string."""
    below = job.hierarchy.inherited.get(draft.owner, Inherited()).members.get(draft.member)
    old = side.old.get(draft.name) if draft.name not in side.new else None
    if below is None or old is None or draft.text != draft.before:
        return ""
    return below if canonical(draft.text) == canonical(old) != canonical(below) else ""


def _why_redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> str:
    """Why the class can do without this member since this upgrade, or an empty string.

    What was redundant before is left: people had a reason, or ``check`` tells them.
    """
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    below = inherited.members.get(draft.member)
    if below is not None:
        return _why_same_as_inherited(draft, below, inherited.before.get(draft.member), job, side)
    return _why_unneeded(draft, drafts, inherited) if draft.kind == "copy" else ""


def _why_same_as_inherited(draft: Draft, below: str, was: str | None, job: ModuleJob, side: GpuSide) -> str:
    """Why a member can go in favour of ``below``, omni's version of it in a base class, which ``was`` another before
    this upgrade (``None``: there was none); or an empty string."""
    if _is_free_port(draft, side) and not _own_of_port(draft, side):
        return "the GPU method that it translated has no device code any more and is inherited"
    if was is None and draft.text == draft.before and _stands_in(canonical(draft.before)[1:], [below]):
        return "a base class has it since this upgrade, in the version that the callers of today have"
    already = was is not None and canonical(draft.before) == canonical(was)
    same = canonical(draft.text) == canonical(below) and not already
    return SAME if same and inheriting.can_stand_for(below, inheriting.upstream_version(job, draft.member)) else ""


def _could_be_inherited(draft: Draft, job: ModuleJob, side: GpuSide) -> bool:
    """Whether a port needs no translation since this upgrade, and a base class of omni's has the method."""
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    return inherited.members.get(draft.member) is not None and _is_free_port(draft, side)


def _is_free_port(draft: Draft, side: GpuSide) -> bool:
    """Whether a member is the port of a GPU method that had to be translated, and has not since this upgrade."""
    return draft.name in side.device_free and is_port(draft.before, side.old[draft.name])


def _own_of_port(draft: Draft, side: GpuSide) -> list[str]:
    """What a port did before, and does, that its GPU method, old or new, does not; that it calls the parent's by the
    name of its class is no such thing."""
    known = {*canonical(side.old[draft.name]), *canonical(side.new[draft.name])}
    passed_on = re.compile(rf"(return )?\w+\.{re.escape(draft.member)}\(self\b")
    kept = [canon for canon in canonical(draft.before)[1:] if canon in canonical(draft.text) and canon not in known]
    return [canon for canon in kept if not passed_on.match(canon)]


def _why_unneeded(draft: Draft, drafts: Sequence[Draft], inherited: Inherited) -> str:
    """Why a copy of upstream's method can go, of which no base class has a version of omni's; or an empty string."""
    inherits = draft.member in inherited.members
    if inherits and draft.upstream is not None and canonical(draft.text) == canonical(draft.upstream):
        return "the copy equals the upstream method that the class inherits"
    if not draft.own:
        if draft.upstream is None and (inherits or not is_called(draft, drafts)):
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
    return sum(canon in known for canon in own) >= ELSEWHERE * len(own)


def _is_abandoned(draft: Draft, drafts: Sequence[Draft], inherited: Inherited) -> bool:
    """Whether the calls of a method went with this upgrade: the module had some, and neither it nor a base class has
    one now."""
    had = any(draft.member in self_names(other.before) for other in drafts if other is not draft)
    below = any(draft.member in self_names(text) for text in inherited.members.values() if text is not None)
    return had and not below and not is_called(draft, drafts)
