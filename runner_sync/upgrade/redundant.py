"""Removes methods that the NPU class no longer needs after this upgrade, each with a question.

Brings omni's text of a copy back if upstream's method, which the copy equals now, runs what omni had left out.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts, some marked as removed. May touch: nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync.confidence import CONTESTED, DERIVED, REBUILT
from runner_sync.fitting.members import is_port
from runner_sync.lineage import list_nodes
from runner_sync.listing import at_most
from runner_sync.texts.member_text import canonical, find_called_parents, is_same, is_same_but_for_hints, self_names
from runner_sync.thresholds import MOST_MOVED, NAMED
from runner_sync.units.splitting import bare_name
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft, texts_by_member
from runner_sync.upgrade.from_gpu.members import inheriting
from runner_sync.upgrade.from_gpu.members.gone_from_gpu import is_called, is_read_by_class, was_called
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import Inherited, ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask, make_review
from runner_sync.upgrade.renamed_locals import find_held
from runner_sync.upgrade.running import find_running

SAME = "removed: it equals the method that the class inherits"


def drop_redundant(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Drop overrides that have nothing of omni's left, because the inherited method does the same.

    Checks the drafts one after the other, so that one of two methods which could replace each other stays.
    """
    result = [*drafts]
    for index, draft in enumerate(drafts):
        if draft.chosen and not draft.removed:
            result[index] = _drop_if_redundant(draft, result, job, side)
    return result


def _drop_if_redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> Draft:
    """Drop the draft if the class no longer needs it, or ask about it if its original is gone."""
    reason = _explain_redundant(draft, drafts, job, side)
    if reason and all(
        _explain_redundant(other, drafts, job, side) for other in _find_other_definitions(draft, drafts, job)
    ):
        shown = Shown(omni=draft.before, upstream=draft.upstream or "")
        item = make_review(draft, job.path, reason=reason, confidence=DERIVED, shown=shown)
        return draft.as_removed(item, source="gpu" if draft.stages[-1].source == "gpu" else "upstream")
    if again := _explain_run_again(draft, drafts, job):
        draft = replace(draft, stages=draft.stages[:1], outcome="review", reviews=())
        shown = Shown(find_base_text(draft, job) or "", draft.text, draft.upstream or "", chosen=draft.text)
        return ask(draft, job.path, reason=again, confidence=CONTESTED, shown=shown)
    if draft.kind == "copy" and draft.upstream is None and draft.base is not None:
        reason = "upstream no longer has the method that this is a copy of; the copy stays"
        shown = Shown(omni=draft.before, chosen=draft.text)
        return ask(draft, job.path, reason=reason, confidence=REBUILT, shown=shown)
    inherited_text = _find_inherited_by_twin(draft, job, side)
    if inherited_text:
        reason = (
            "the GPU runner removed its own version of this method, of which this is a port, and inherits it now; "
            "the NPU class would inherit the same version, but this port hides it"
        )
        if not is_same(draft.before, side.old[draft.name]):
            reason += "; NPU had edited the port"
        shown = Shown(omni=draft.text, upstream=inherited_text, chosen=draft.text)
        return ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, from_gpu=True)
    return draft


def _find_other_definitions(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Return the class's other definitions of an inherited member's name, such as a setter or ``@overload``.

    The inherited member stays hidden as long as one of them stays.
    """
    if draft.member not in job.hierarchy.of(draft.owner).members:
        return []
    name = bare_name(draft.name)
    return [other for other in drafts if other is not draft and not other.removed and bare_name(other.name) == name]


def _find_inherited_by_twin(draft: Draft, job: ModuleJob, side: GpuSide) -> str:
    """Return omni's base-class version of a method whose GPU override is gone while NPU still has its port.

    Returns an empty string otherwise, or if the base-class version equals the port or the twin's old text.
    """
    inherited_text = job.hierarchy.of(draft.owner).members.get(draft.member)
    old = side.old.get(draft.name) if draft.name not in side.new else None
    if inherited_text is None or old is None or draft.text != draft.before:
        return ""
    return (
        inherited_text
        if is_port(draft.text, old) and not is_same(old, inherited_text) and not is_same(inherited_text, draft.text)
        else ""
    )


def _explain_redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> str:
    """Return why the class can do without this chosen member since this upgrade, or an empty string.

    Skips a method that was redundant before: people had a reason, or ``check`` reports it. Also skips one that the
    class body reads.
    """
    if not draft.chosen or not draft.owner or is_read_by_class(draft, job):
        return ""
    inherited = job.hierarchy.of(draft.owner)
    inherited_text = inherited.members.get(draft.member)
    if inherited_text is not None:
        return _explain_same_as_inherited(draft, inherited_text, inherited.before.get(draft.member), job)
    if draft.kind != "copy":
        return ""
    reason = _explain_unneeded(draft, drafts, inherited, job)
    # The GPU version shows why omni had changed the method.
    is_on_gpu = reason and draft.name in side.new
    return f"{reason}; the GPU class has its own version, which was not ported in its place" if is_on_gpu else reason


def _explain_same_as_inherited(draft: Draft, below: str, was: str | None, job: ModuleJob) -> str:
    """Return why omni's inherited version, ``below``, can replace a member, or an empty string.

    ``was`` is the inherited version before this upgrade; ``None`` if there was none.
    """
    if (
        was is None
        and draft.text == draft.before
        and _find_hosts(canonical(draft.before)[1:], draft, {draft.member: below})
    ):
        return "removed: a base class has this method since this upgrade, in a version that fits today's callers"
    already = was is not None and is_same_but_for_hints(draft.before, was)
    same = is_same_but_for_hints(draft.text, below) and not already
    return SAME if same and inheriting.can_stand_for(below, inheriting.find_upstream_version(job, draft.member)) else ""


def _explain_unneeded(draft: Draft, drafts: Sequence[Draft], inherited: Inherited, job: ModuleJob) -> str:
    """Return why a copy of upstream's method that no omni base class has can be removed, or an empty string."""
    inherits = draft.member in inherited.members
    if inherits and _equals_upstream(draft):
        return _explain_same_as_upstream(draft, drafts, job)
    if not draft.own:
        if draft.upstream is None and (inherits or not is_called(draft, drafts)):
            return "removed: upstream dropped this method, and the copy has no omni code"
        return ""
    if draft.upstream is None and draft.base is not None and _is_abandoned(draft, drafts, inherited):
        return "removed: upstream dropped the method that this was a copy of, and nothing calls the copy any more"
    hosts = _find_reached_hosts(draft, drafts, inherited, job) if inherits and _has_all_of_upstream(draft) else []
    return f"removed: omni's additions to this copy stand in {' and '.join(hosts)} now" if hosts else ""


def _has_all_of_upstream(draft: Draft) -> bool:
    """Whether a copy has every statement of upstream's method: inheriting that brings nothing back that omni edited."""
    had = {*canonical(draft.text)}
    return all(node.canon in had for node in list_nodes(draft.upstream or "")[1:] if node.is_telling)


def _equals_upstream(draft: Draft) -> bool:
    return draft.upstream is not None and is_same(draft.text, draft.upstream)


def _explain_same_as_upstream(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> str:
    """Return why a copy that equals the upstream method can go; the reason tells whether it did so before the merge."""
    if is_same(draft.text, draft.before):
        return "removed: the copy equals the upstream method that the class inherits"
    if _find_run_again(draft, drafts, job):
        return ""
    return "removed: with upstream's changes, the copy equals the upstream method that the class inherits"


def _explain_run_again(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> str:
    """Return why omni's text of a copy must stay although the merge made it equal to the upstream method, or nothing.

    The upstream method now calls another one, and that runs statements of the copy's base that omni had left out.
    """
    if draft.kind != "copy" or not _equals_upstream(draft):
        return ""
    again = [
        f"{name}(), which runs {at_most(NAMED, [f'`{canon}`' for canon in statements])}"
        for name, statements in _find_run_again(draft, drafts, job).items()
    ]
    end = ": omni had left that out, so omni's text stays"
    return f"upstream's method now calls {' and '.join(again)}{end}" if again else ""


def _find_run_again(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> dict[str, list[str]]:
    """Return the calls that are new in upstream's method, with the statements there that omni had left out of it."""
    base, upstream, member = find_base_text(draft, job), draft.upstream, draft.member
    if base is None or upstream is None:
        return {}
    kept = {*canonical(draft.before), *canonical(upstream)}
    # A bare exit says nothing about which one omni had left out.
    left_out = [node.canon for node in list_nodes(base)[1:] if node.is_telling and node.canon not in kept]
    called = self_names(upstream) - self_names(base)
    run = [(name, text) for name, text in find_running(draft.owner, drafts, job).run if name in called]
    if find_called_parents(upstream, member) - find_called_parents(base, member):
        inherited = job.hierarchy.of(draft.owner)
        run.append((f"super().{member}", inherited.vllm.get(member, "")))
    again: dict[str, list[str]] = {}
    for name, text in run:
        if statements := [canon for canon in left_out if canon in canonical(text)]:
            again.setdefault(name, []).extend(statements)
    return again


def _find_reached_hosts(draft: Draft, drafts: Sequence[Draft], inherited: Inherited, job: ModuleJob) -> list[str]:
    """Return methods that have omni's statements of a copy and that something calls without the copy, or none."""
    others = [d for d in drafts if d is not draft]
    methods = {name: text for name, text in inherited.members.items() if text is not None}
    methods |= texts_by_member(others, draft.owner)
    own, repeated = list(draft.own), _find_repeated(draft, job)
    if not _find_hosts(own, draft, methods) or _find_hosts(own, draft, _list_methods_before(draft, others, inherited)):
        return []
    running = find_running(draft.owner, others, job)
    reached = {name: text for name, text in methods.items() if running.is_reached(name)}
    # What the base has, too, may stand in any method, so it must not make up for omni's own statements.
    return _find_hosts([*own, *repeated], draft, reached) if _find_hosts(own, draft, reached) else []


def _list_methods_before(draft: Draft, others: Sequence[Draft], inherited: Inherited) -> dict[str, str]:
    """Return the class's other methods before this upgrade, in which omni's statements may have stood all along."""
    methods = {name: text for name, text in inherited.before.items() if text is not None}
    return methods | {other.member: other.before for other in others if other.owner == draft.owner}


def _find_repeated(draft: Draft, job: ModuleJob) -> list[str]:
    """Return the statements of the base that a copy has once more, for example in place of another statement."""
    base = Counter(canonical(find_base_text(draft, job) or ""))
    more = Counter(canonical(draft.before)[1:]) - base
    return [canon for canon in more.elements() if canon in base]


def _find_hosts(own: Sequence[str], draft: Draft, methods: Mapping[str, str]) -> list[str]:
    """Return the few methods that have at least ``MOST_MOVED`` of the draft's ``own`` statements, or none."""
    known = {name: find_held(own, draft.before, text) for name, text in methods.items()}
    hosts: list[str] = []
    left = [*own]
    while len(own) - len(left) < MOST_MOVED * len(own):
        host = max(known, key=lambda name: sum(canon in known[name] for canon in left), default="")
        if not host or known[host].isdisjoint(left):
            return []
        hosts.append(host)
        left = [canon for canon in left if canon not in known[host]]
    return hosts


def _is_abandoned(draft: Draft, drafts: Sequence[Draft], inherited: Inherited) -> bool:
    """Whether a method lost its last calls in this upgrade: it was called before, and no known code calls it now."""
    below = any(draft.member in self_names(text) for text in inherited.members.values() if text is not None)
    return was_called(draft, drafts) and not below and not is_called(draft, drafts)
