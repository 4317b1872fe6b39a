"""Asks about methods that upstream added or changed and that do not run, because omni overrides them.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions, and further drafts with one question each. No
text is changed. May touch: nothing.

There is no copy to merge the change into, and nothing fails: the method just does not run. For example, vllm-omni
0.27.0rc1 restored vllm-ascend's ``_update_states`` by hand, because ``OmniGPUModelRunner`` hides it. That version then
lacked what vllm-ascend 0.28.0rc1 added to its own.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import MODELLED, follows, has_change, share
from runner_sync.listing import at_most
from runner_sync.statements.calls import names_called
from runner_sync.texts.member_text import canonical, find_called_parents, has_class_call
from runner_sync.texts.rewording import is_only_reworded
from runner_sync.thresholds import NAMED
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft, list_members
from runner_sync.upgrade.import_forms import spell_as_upstream
from runner_sync.upgrade.job import ModuleJob, is_selected
from runner_sync.upgrade.questions.concerned import is_concerned
from runner_sync.upgrade.questions.objects_used import ObjectMember, find_related
from runner_sync.upgrade.questions.partial_overrides import find_set_again, lags_beside_call
from runner_sync.upgrade.questions.reviews import Shown, ask


def ask_about_overrides(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask about overrides of methods that upstream changed: about a change that is lacking, and attributes set again.

    Skips copies, which are merged. An override that resembles neither upstream's nor vLLM's method only shares the
    name, and lacks no change. An attribute is set again if that follows a call of a method in which upstream now sets
    it in another way.
    """
    ref, old, new = find_upstream_members(drafts, job)
    upstream, inherited = job.module.anchor.name, job.hierarchy.of(job.module.name)
    in_front = inherited.members if is_direct_base(job) else {}

    def ask_about(draft: Draft) -> Draft:
        member = draft.member
        is_override = draft.owner == job.module.name and draft.kind == "override" and not draft.removed
        if not is_override or member not in old.keys() & new.keys():
            return draft
        text, was, now, behind = draft.text, old[member], new[member], in_front.get(member)
        is_version = any(share(text, model) >= MODELLED for model in (was, inherited.vllm.get(member, "")))
        if is_version and (place := _explain_lag(text, member, upstream, behind, old=was, new=now)):
            changed = f"{job.upstream_title} changed the method that this override hides since {ref}"
            reason = f"{changed}{_mention_new_calls(was, now)}; {place}"
            draft = _ask_about_method(draft, job, reason, old=was, new=now, override=text)
        for found in find_set_again(text, member, _find_ways_to(upstream, member, behind), old=was, new=now):
            there, override = f"{job.upstream_title}'s method, called above, sets in another way", found.own
            reason = f"this replaces {found.name}, which {there} since {ref}"
            shown = Shown(base=found.old, omni=override.text, upstream=found.new, chosen=override.text)
            draft = ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=override.start)
        return draft

    return [ask_about(draft) for draft in drafts]


def _explain_lag(text: str, member: str, upstream: str, behind: str | None, *, old: str, new: str) -> str:
    """Return where an override lacks upstream's change of the method; empty if nowhere."""
    if is_only_reworded(old, new):
        return ""
    if not _runs_upstream(text, member, upstream, behind):
        has_it = follows(text, old, new) or not is_concerned(text, old=old, new=new)
        return "" if has_it else "the override does not call it"
    lags = lags_beside_call(text, member, _find_ways_to(upstream, member, behind), old=old, new=new)
    return "the override calls it on one path only" if lags else ""


def _say_what_upstream_did(old: str, new: str, ref: str, job: ModuleJob) -> str:
    """Return the beginning of a reason: upstream changed or, without an ``old`` text, added a method."""
    done, calls = ("changed", _mention_new_calls(old, new)) if old else ("added", "")
    return f"{job.upstream_title} {done} this method since {ref}{calls}"


def _mention_new_calls(old: str, new: str) -> str:
    """Return the end of a phrase that names calls that ``new`` makes and ``old`` does not; empty if there are none."""
    before, after = ([name.lstrip(".") for name in names_called(text)] for text in (old, new))
    names = [name for name in dict.fromkeys(after) if name not in before and not hasattr(builtins, name)]
    return f" (it now calls {at_most(NAMED, names)})" if names else ""


def _mention_ended_calls(text: str, old: Mapping[str, str], present: Sequence[str], title: str) -> str:
    """Return the end of a reason that names calls which upstream's class ended and which are of one feature with new
    calls in ``text``.

    ``old`` are its methods before; ``present`` those of now and omni's own, none of which may mention what ended.

    A copy loses such a call without a question. For example, vllm-ascend 0.27 no longer receives sampled tokens in
    ``sample_tokens``, but applies them in ``_update_states``, which omni hides.
    """
    before = find_own_calls(old.values())
    news = find_own_calls([text]) - before
    mentioned = {word for one in present for word in re.findall(r"\.(\w+)", one)}
    ended = find_related((one for one in before if one.name not in mentioned), news)
    names = at_most(NAMED, [".".join(one) for one in ended])
    return f"; {title} no longer calls {names}: does this method do that work now?" if ended else ""


def find_own_calls(methods: Iterable[str]) -> set[ObjectMember]:
    """Return the calls that methods make on the runner itself."""
    called = (name.rpartition(".") for text in methods for name in names_called(text))
    return {ObjectMember(owner, name) for owner, _, name in called if owner == "self"}


def _runs_upstream(text: str, member: str, upstream: str, behind: str | None) -> bool:
    """Whether a method runs upstream's method, by class name or by ``super()``.

    ``behind`` is omni's method that ``super()`` finds first, if any.
    """
    ways = _find_ways_to(upstream, member, behind)
    return has_class_call(text, upstream, member) or not ways.isdisjoint(find_called_parents(text, member))


def _find_ways_to(upstream: str, member: str, behind: str | None) -> frozenset[str]:
    """Return the classes through which a call of ``member`` reaches upstream's method.

    ``super()`` counts as a class if the next method is the upstream one or calls it.
    """
    is_next = behind is None or calls_super(behind, member)
    return frozenset({upstream, "super()"} if is_next else {upstream})


def calls_super(text: str, member: str) -> bool:
    """Whether a method calls ``member`` of ``super()``."""
    return "super()" in find_called_parents(text, member)


def ask_about_hidden_changes(drafts: Sequence[Draft], job: ModuleJob) -> Iterator[Draft]:
    """Yield a draft with a question for each method that upstream added or changed and another base class hides."""
    if not is_direct_base(job):
        return
    anchor, name = job.module.anchor, job.module.name
    members = list_members(drafts, name)
    own, inherited = {draft.member for draft in members}, job.hierarchy.of(name).members
    omnis = [draft.text for draft in members] + [text for text in inherited.values() if text is not None]
    ref, old, now = find_upstream_members(drafts, job)
    for member, new in now.items():
        override = inherited.get(member)
        if member in own or override is None or not is_selected(f"{name}.{member}", job.settings.only):
            continue
        before = old.get(member, "")
        if not calls_super(override, member) and not is_only_reworded(before, new):
            reason = (
                f"{_say_what_upstream_did(before, new, ref, job)}, but it does not run: a base class in front of "
                f"{anchor.name} overrides it without calling it"
                + (
                    f"; it calls super(), so a copy of it in {name} would run together with that override"
                    if calls_super(new, member)
                    else ""
                )
                + _mention_ended_calls(new, old, [*now.values(), *omnis], job.upstream_title)
            )
            draft = Draft.for_question(f"{name}.{member}")
            yield _ask_about_method(draft, job, reason, old=before, new=new, override=override)


def ask_about_variants(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask the same questions about the other classes that a conditional base may be.

    Appends drafts for methods that have none. For example, ``OmniNPUModelRunner`` has the base ``NPUModelRunner310``
    ``if is_310p():`` since 0.26.0. vllm-ascend 0.21.0rc1 gave that class an ``_update_states`` that waits for the
    device, and omni's method runs in its place.
    """
    ref = _find_base_ref(drafts, job)
    if job.upstream.new is None or ref in ("", job.upstream.new.ref):
        return [*drafts]
    name = job.module.name
    inherited = job.hierarchy.of(name).members
    asked_drafts = [*drafts]
    places = {draft.member: index for index, draft in enumerate(drafts) if draft.owner == name and not draft.removed}
    for variant in job.upstream.variants(ref):
        for member, new in variant.new.items():
            index, behind = places.get(member), inherited.get(member)
            own = asked_drafts[index].text if index is not None else ""
            before = variant.old.get(member, "")
            if not is_selected(f"{name}.{member}", job.settings.only):
                continue
            if not _hides_change(own, behind, member, variant.alias, old=before, new=new):
                continue
            reason = (
                f"{_say_what_upstream_did(before, new, ref, job)} in {variant.name}, the base class where "
                f"{variant.condition}; it does not run there, because omni's version hides it and does not call it"
            )
            if index is None:
                index = places[member] = len(asked_drafts)
                asked_drafts.append(Draft.for_question(f"{name}.{member}"))
            asked_drafts[index] = _ask_about_method(
                asked_drafts[index], job, reason, old=before, new=new, override=own or behind or ""
            )
    return asked_drafts


def _hides_change(own: str, behind: str | None, member: str, upstream: str, *, old: str, new: str) -> bool:
    """Whether omni's version of a method runs in place of upstream's and lacks the change from ``old`` to ``new``.

    Omni's version is the class's ``own``, else that of an omni base class (``behind``).
    """
    override = own or behind
    if override is None or _runs_upstream(override, member, upstream, behind if override is not behind else None):
        return False
    return not is_only_reworded(old, new) and not _has_upstream_change(override, old, new, member)


def _ask_about_method(draft: Draft, job: ModuleJob, reason: str, *, old: str, new: str, override: str) -> Draft:
    """Ask about an upstream method that omni's method, ``override``, hides."""
    shown = Shown(base=old, omni=override, upstream=new, chosen=override)
    return ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown)


def _has_upstream_change(override: str, old: str, new: str, member: str) -> bool:
    """Whether ``override`` has all statements added from ``old`` to ``new`` and none of the removed ones.

    Ignores signatures and calls of ``member`` itself (on ``super()``).
    """
    return has_change(
        *(
            Counter(canon for canon in canonical(text)[1:] if f".{member}(" not in canon)
            for text in (override, old, new)
        )
    )


def find_upstream_members(drafts: Sequence[Draft], job: ModuleJob) -> tuple[str, Mapping[str, str], Mapping[str, str]]:
    """Return the revision that the module follows, and the methods of upstream's class then and now, if at hand.

    Those of then have the forms of imports that those of now have.
    """
    ref, anchor = _find_base_ref(drafts, job), job.module.anchor
    side = job.upstream.settled or job.upstream.at(ref)
    if job.upstream.new is None or side is None:
        return ref, {}, {}
    old, new = (one.members(anchor.name) for one in (side, job.upstream.new))
    for name in old.keys() & new.keys():
        module, now = side.text, job.upstream.new.text
        old[name] = spell_as_upstream(old[name], module, upstream=new[name], upstream_module=now)
    return ref, old, new


def _find_base_ref(drafts: Sequence[Draft], job: ModuleJob) -> str:
    """Return the revision of the last run or, without a lock, the one that most statements of the copies come from."""
    if job.upstream.settled is not None:
        return job.upstream.settled.ref
    refs: Counter[str] = Counter()
    for draft in drafts:
        if draft.base is not None:
            refs[draft.base.ref] += len(canonical(draft.before))
    return refs.most_common(1)[0][0] if refs else ""


def is_direct_base(job: ModuleJob) -> bool:
    """Whether the module's class itself names upstream's class as a base; a subclass would get the same questions."""
    anchor = job.module.anchor
    bases = texts.bases_of(job.text, job.module.name, job.path)
    return any(anchor.name in (base.expression, *(origin.name for origin in base.origins)) for base in bases)
