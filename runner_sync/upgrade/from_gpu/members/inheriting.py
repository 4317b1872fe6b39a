"""Makes a class of copies of its GPU twin's methods inherit from the twin instead.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts without the copies, and the job with the class
as a subclass of its twin. May touch: nothing.

The profile lists the classes that are meant to inherit. The change happens at a vllm-ascend upgrade that would
otherwise copy one more method word for word. It waits while the new base would activate a method that must not run: one
with device code that the class does not override, or one that hides vllm-ascend's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.confidence import DERIVED, INFERRED
from runner_sync.fitting.members import Obstacle, Twins, find_obstacles
from runner_sync.signatures import accepts, of_method
from runner_sync.statements import parse_function
from runner_sync.texts.member_text import is_same
from runner_sync.thresholds import MOST_COPIES
from runner_sync.upgrade.draft import Draft, list_members
from runner_sync.upgrade.from_gpu.members import beside_twin
from runner_sync.upgrade.from_gpu.twin import gpu_side
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask, make_review
from runner_sync.upgrade.running import find_running


def inherit_from_twin(
    class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: gpu_side.GpuSide
) -> tuple[list[Draft], ModuleJob]:
    """Drop the copies from the drafts and let ``class_name`` inherit from its GPU twin in the job.

    Returns both unchanged if that is not safe or saves no copy.
    """
    grown = job.hierarchy.with_twin.get(class_name)
    if grown is None or job.settings.only or not job.upstream.is_followed:
        return [*drafts], job
    pair = beside_twin.pair_classes(class_name, drafts, job, side)
    case = _Case(class_name, pair, find_obstacles(pair), job, side)
    shared = [draft for draft in list_members(drafts, class_name) if case.is_shared(draft)]
    copies = {draft.name for draft in shared if case.is_copy(draft)}
    if not copies or len(copies) < MOST_COPIES * len(shared) or not case.would_copy() or case.has_obstacle():
        return [*drafts], job
    assert job.module.gpu is not None
    twin = job.module.gpu.name
    left = [_drop_copy(draft, twin, job, side) if draft.name in copies else draft for draft in drafts]
    hierarchy = replace(
        job.hierarchy,
        inherited={**job.hierarchy.inherited, class_name: grown},
        bases_in_front={**job.hierarchy.bases_in_front, class_name: (twin,)},
    )
    return left, replace(job, hierarchy=hierarchy)


def _drop_copy(draft: Draft, twin: str, job: ModuleJob, side: gpu_side.GpuSide) -> Draft:
    """Drop a copy; if the twin's method has changed since, the copy gets a question of its own."""
    if is_same(draft.before, side.new[draft.name]):
        return draft.as_removed(source="gpu")
    reason = f"removed: the class now inherits {twin}.{draft.member}, of which this was a copy before {twin} changed it"
    shown = Shown(omni=draft.before, upstream=side.new[draft.name])
    item = make_review(draft, job.path, reason=reason, confidence=DERIVED, shown=shown, from_gpu=True)
    return draft.as_removed(item, source="gpu")


def ask_about_twins(drafts: Sequence[Draft], job: ModuleJob, side: gpu_side.GpuSide) -> Iterator[Draft]:
    """Yield a draft with one question for each class that inherits from its twin now.

    The question names the copies that have none of their own, and the twin's other members that run from now on.
    """
    for class_name, (twin,) in job.hierarchy.bases_in_front.items():
        copies = [d.member for d in drafts if d.owner == class_name and d.removed and not d.reviews]
        running, known = find_running(class_name, drafts, job), {d.name for d in drafts}
        names = [
            name.rpartition(".")[2] for name in side.new if name.startswith(f"{class_name}.") and name not in known
        ]
        active = [name for name in names if running.is_reached(name) or name in job.target.elsewhere.called]
        reason = f"the class inherits from {twin} now"
        if copies:
            reason += f", whose versions of {', '.join(copies)} are the same as the copies that went"
        if active:
            reason += f"; other members of {twin} that run from now on: {', '.join(active)}"
        yield ask(Draft.for_question(class_name), job.path, reason=reason, confidence=INFERRED)


@dataclass(frozen=True, slots=True)
class _Case:
    """One class beside its twin; ``bound`` are the twin's members that are bound to the device."""

    class_name: str
    pair: Twins
    bound: Mapping[str, Obstacle]
    job: ModuleJob
    side: gpu_side.GpuSide

    def is_shared(self, draft: Draft) -> bool:
        """Whether the twin also has this member, without device code."""
        return draft.member in self.pair.gpu_new and not self._is_bound(draft.member)

    def is_copy(self, draft: Draft) -> bool:
        """Whether the class can inherit this member: it equals the twin's old or new text, and nothing forbids it."""
        if not self.is_shared(draft) or self._hides(draft.member):
            return False
        versions = (self.side.old.get(draft.name), self.side.new.get(draft.name))
        return any(is_same(draft.before, text) for text in versions if text is not None)

    def would_copy(self) -> bool:
        """Whether a port would add another member that reads the same on both sides."""
        decisions = beside_twin.decide_members(self.class_name, self.pair, self.job)
        return any(d.action in ("port", "hook") and not self._is_bound(d.name) for d in decisions)

    def has_obstacle(self) -> bool:
        """Whether the twin has a member that the class does not define and must not inherit."""
        missing = [name for name in self.pair.gpu_new if name not in self.pair.npu]
        return any(self._is_bound(name) or self._hides(name) for name in missing)

    def _is_bound(self, member: str) -> bool:
        """Whether the twin's member has device code: it names the GPU, or uses members that NPU lacks."""
        name = f"{self.class_name}.{member}"
        plain = self.side.as_written[name][1]
        return (
            not is_same(plain, self.side.new[name])
            or gpu_side.mentions_device(plain, self.job.profile)
            or member in self.bound
        )

    def _hides(self, member: str) -> bool:
        """Whether the twin's member hides one of vllm-ascend's, because it never calls it or takes other arguments."""
        if member not in self.pair.upstream:
            return False
        text = self.pair.gpu_new[member]
        return not re.search(rf"super\(\)\.{member}\(", text) or not can_stand_for(
            text, find_upstream_version(self.job, member)
        )


def find_upstream_version(job: ModuleJob, member: str) -> str:
    """Return vllm-ascend's own version of a member, or an empty string."""
    new = job.upstream.new
    units = new.units if new is not None else {}
    names = [f"{anchor.name}.{member}" for anchor in job.module.upstreams]
    return next((units[name] for name in names if name in units), "")


def can_stand_for(text: str, original: str) -> bool:
    """Whether ``text`` accepts every call that ``original`` accepts; true if either is not a method."""
    own, inherited = (parse_function(one) for one in (text, original))
    return own is None or inherited is None or accepts(of_method(own), of_method(inherited))
