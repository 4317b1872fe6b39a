"""Methods that the NPU class no longer needs after this upgrade: each is removed with a question.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts, some marked as removed. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runner_sync.compose.member_text import canonical, self_names
from runner_sync.compose.members import is_port
from runner_sync.confidence import CONTESTED, DERIVED, INFERRED, REBUILT
from runner_sync.units.splitting import bare_name
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.members import inheriting
from runner_sync.upgrade.from_gpu.members.gone_from_gpu import is_called, is_read_by_class
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import Inherited, ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review

SAME = "it equals the method that the class inherits"

SHOWN = 3
"""How many statements of NPU's own a question quotes at most."""

MOST_MOVED = 0.8
"""Share of omni's own statements of a copy that must stand in other methods for the copy to be removed."""


def drop_redundant(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """The drafts, without overrides that have nothing of omni's left: the inherited method does the same.

    They are checked one after the other, so that of two which could replace each other one stays.
    """
    left = [*drafts]
    for at, draft in enumerate(drafts):
        if draft.chosen and not draft.removed:
            left[at] = _unless_redundant(draft, left, job, side)
    return left


def _unless_redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> Draft:
    """The draft; dropped if the class no longer needs it, or with a question if its original is gone or inherited."""
    reason = _why_removable(draft, drafts, job, side)
    if reason and all(_why_removable(other, drafts, job, side) for other in _hiding_too(draft, drafts, job)):
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
    below = _inherited_by_twin(draft, job, side)
    if below:
        reason = (
            "the GPU runner gave up its own version of this method, of which this is a port, and inherits another one; "
            "the NPU class has that below, too, and this hides it"
        )
        reason += _edited(draft, side)
        shown = Shown(omni=draft.text, upstream=below, chosen=draft.text)
        return draft.asking(review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, from_gpu=True))
    return draft


def _why_removable(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> str:
    """``_why_redundant`` of a member that the class body does not read, and that is chosen; else an empty string."""
    may_go = draft.chosen and bool(draft.owner) and not is_read_by_class(draft, job)
    return _why_redundant(draft, drafts, job, side) if may_go else ""


def _hiding_too(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """What the class defines under the same name as an inherited member, as the setter of a property or what an
    ``@overload`` is a stub of: as long as one of them stays, none is inherited."""
    if draft.member not in job.hierarchy.inherited.get(draft.owner, Inherited()).members:
        return []
    name = bare_name(draft.name)
    return [other for other in drafts if other is not draft and not other.removed and bare_name(other.name) == name]


def _inherited_by_twin(draft: Draft, job: ModuleJob, side: GpuSide) -> str:
    """Omni's base-class version of a method that the GPU twin no longer overrides, where NPU still has a port of the
    twin's old text, which was another one.

    Otherwise an empty string.
    """
    below = job.hierarchy.inherited.get(draft.owner, Inherited()).members.get(draft.member)
    old = side.old.get(draft.name) if draft.name not in side.new else None
    if below is None or old is None or draft.text != draft.before:
        return ""
    return below if is_port(draft.text, old) and canonical(old) != canonical(below) != canonical(draft.text) else ""


def _edited(draft: Draft, side: GpuSide) -> str:
    """What a question adds about a port that has something of NPU's own, which only stands here."""
    return "; NPU had edited it" if canonical(draft.before) != canonical(side.old[draft.name]) else ""


def _why_redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> str:
    """Why the class can do without this member since this upgrade, or an empty string.

    A method that was redundant before is left: people had a reason, or ``check`` reports it.
    """
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    below = inherited.members.get(draft.member)
    if below is not None:
        return _why_same_as_inherited(draft, below, inherited.before.get(draft.member), job, side)
    if draft.kind != "copy":
        return ""
    reason = _why_unneeded(draft, drafts, inherited)
    # What GPU runs in its place says what omni had changed it for.
    is_on_gpu = reason and draft.name in side.new
    return f"{reason}; GPU has one of its own, which is not ported in its place" if is_on_gpu else reason


def _why_same_as_inherited(draft: Draft, below: str, was: str | None, job: ModuleJob, side: GpuSide) -> str:
    """Why omni's inherited version, ``below``, can replace a member, or an empty string.

    ``was`` is the inherited version before this upgrade; ``None`` if there was none.
    """
    if _is_free_port(draft, side) and not _own_of_port(draft, side):
        return "the GPU method that it translated has no device code any more and is inherited"
    if was is None and draft.text == draft.before and _stands_in(canonical(draft.before)[1:], [below]):
        return "a base class has it since this upgrade, in the version that the callers of today have"
    already = was is not None and canonical(draft.before) == canonical(was)
    same = canonical(draft.text) == canonical(below) and not already
    return SAME if same and inheriting.can_stand_for(below, inheriting.upstream_version(job, draft.member)) else ""


def _could_be_inherited(draft: Draft, job: ModuleJob, side: GpuSide) -> bool:
    """Whether a port no longer needs translation and a base class of omni's has the method."""
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    return inherited.members.get(draft.member) is not None and _is_free_port(draft, side)


def _is_free_port(draft: Draft, side: GpuSide) -> bool:
    """Whether a member is the port of a GPU method that needed translation before this upgrade and no longer does."""
    return draft.name in side.device_free and is_port(draft.before, side.old[draft.name])


def _own_of_port(draft: Draft, side: GpuSide) -> list[str]:
    """Statements that a port had and has and that its GPU method, old or new, does not have.

    Without calls of the parent's method by class name, which are a form of ``super()``.
    """
    known = {*canonical(side.old[draft.name]), *canonical(side.new[draft.name])}
    passed_on = re.compile(rf"(return )?\w+\.{re.escape(draft.member)}\(self\b")
    kept = [canon for canon in canonical(draft.before)[1:] if canon in canonical(draft.text) and canon not in known]
    return [canon for canon in kept if not passed_on.match(canon)]


def _why_unneeded(draft: Draft, drafts: Sequence[Draft], inherited: Inherited) -> str:
    """Why a copy of upstream's method can be removed, though no base class of omni's has it; or an empty string."""
    inherits = draft.member in inherited.members
    if inherits and draft.upstream is not None and canonical(draft.text) == canonical(draft.upstream):
        return _same_as_upstream(draft)
    if not draft.own:
        if draft.upstream is None and (inherits or not is_called(draft, drafts)):
            return "upstream dropped the method, and the copy has nothing of omni's"
        return ""
    if draft.upstream is None and draft.base is not None and _is_abandoned(draft, drafts, inherited):
        return "upstream dropped the method that this is a copy of, and nothing calls the copy any more"
    other_methods = [d.text for d in drafts if d is not draft and not d.removed and d.owner == draft.owner]
    other_methods += [text for text in inherited.members.values() if text is not None]
    if inherits and _stands_in(draft.own, other_methods):
        return "everything that omni had added to the copy stands in other methods now"
    return ""


def _same_as_upstream(draft: Draft) -> str:
    """Why a copy that equals the upstream method can go; whether it did so before the merge is said."""
    if canonical(draft.text) == canonical(draft.before):
        return "the copy equals the upstream method that the class inherits"
    return "with upstream's changes the copy equals the upstream method that the class inherits"


def _stands_in(own: Collection[str], methods: Sequence[str]) -> bool:
    """Whether nearly all of the statements also stand in the other methods."""
    known = {canon for text in methods for canon in canonical(text)}
    return sum(canon in known for canon in own) >= MOST_MOVED * len(own)


def _is_abandoned(draft: Draft, drafts: Sequence[Draft], inherited: Inherited) -> bool:
    """Whether a method lost its last calls in this upgrade: there were some, and no known code calls it now."""
    had = any(draft.member in self_names(other.before) for other in drafts if other is not draft)
    below = any(draft.member in self_names(text) for text in inherited.members.values() if text is not None)
    return had and not below and not is_called(draft, drafts)
