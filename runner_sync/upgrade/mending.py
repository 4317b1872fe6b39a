"""Adapts call sites after the merge: adds required fields, arguments and parameters, drops arguments that nothing sets.

Comes in: drafts after all merges, and a ``ModuleJob``. Goes out: the drafts, the chosen ones mended, each change with a
question. May touch: nothing.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner_sync.compose import constructors, passing, records, successors, unset
from runner_sync.compose.member_text import self_names
from runner_sync.compose.mended import Mended
from runner_sync.compose.passing import Parameter
from runner_sync.confidence import DERIVED, INFERRED, REQUIRED
from runner_sync.model import ReviewItem
from runner_sync.units import texts
from runner_sync.upgrade.base import base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Inherited, ModuleJob, ModuleRevision
from runner_sync.upgrade.questions.reviews import Shown, review


def fit_records(drafts: Sequence[Draft], job: ModuleJob, twins: Mapping[str, str]) -> list[Draft]:
    """Completes code that unpacks or makes records with new fields, here or in a module that these come from.

    ``twins`` are the texts of the GPU runner's units, which name the locals.
    """
    own = {
        d.name: records.record(d.before, d.text, d.name, twin=twins.get(d.name, ""))
        for d in drafts
        if not d.owner and not d.removed
    }
    known = {name: found for name, found in {**job.target.records, **own}.items() if found.now}

    def fitted(draft: Draft) -> Draft:
        fit = partial(records.fit, records=known, before=draft.before, twin=twins.get(draft.name, ""))
        return _mended(draft, job, fit, REQUIRED) if draft.owner else draft

    return _each(drafts, fitted)


def follow_names(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Renames members in omni's own code, too, where upstream renamed them."""
    names: dict[str, str] = {}
    for base in _bases_of_copies(drafts, job):
        names = _new_names(base, drafts, job) | names

    def followed(draft: Draft) -> Draft:
        return _mended(draft, job, partial(successors.renamed, names=names), INFERRED) if draft.owner else draft

    return _each(drafts, followed) if names else [*drafts]


def _bases_of_copies(drafts: Sequence[Draft], job: ModuleJob) -> list[ModuleRevision]:
    """The revisions that copies in the module were made from, oldest first."""
    refs = {draft.base.ref for draft in drafts if draft.base is not None}
    return [side for side in job.upstream.bases if side.ref in refs] if job.upstream.is_followed else []


def _new_names(base: ModuleRevision, drafts: Sequence[Draft], job: ModuleJob) -> dict[str, str]:
    """``{old name: new name}`` of upstream's members that were renamed since ``base`` and that drafts still read."""
    name, now = job.module.upstreams[0].name, job.upstream.new
    if now is None:
        return {}
    old, new = (texts.members(side.text, name, side.path) for side in (base, now))
    read = {name for draft in drafts if draft.chosen and not draft.removed for name in self_names(draft.text)}
    return successors.renamed_members(old, new, read, _other_texts(drafts, job))


def _other_texts(drafts: Sequence[Draft], job: ModuleJob) -> Iterator[str]:
    """Texts besides upstream's class that may define members of the runner; lazily, because vLLM's may be a
    download."""
    yield from (draft.text for draft in drafts)
    yield job.twin.new.text if job.twin.new is not None else ""
    vllm = job.twin.load_vllm()
    yield vllm.text if vllm is not None else ""


def set_apart(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Sets a keyword that a constructor newly gets and does not accept as an attribute of the new object instead."""

    def mended(draft: Draft) -> Draft:
        change = partial(constructors.set_apart, draft.before, constructors=job.target.constructors)
        return _mended(draft, job, change, DERIVED)

    return _each(drafts, mended)


def leave_out(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Leaves out arguments that upstream's calls newly pass and whose values nothing here sets."""

    def mended(draft: Draft) -> Draft:
        if not draft.upstream or draft.text == draft.before:
            return draft
        change = partial(unset.left_out, draft.before, upstream=draft.upstream, base=base_text(draft, job) or "")
        return _mended(draft, job, change, DERIVED)

    return _each(drafts, mended)


def _each(drafts: Sequence[Draft], change: Callable[[Draft], Draft]) -> list[Draft]:
    """All drafts; those that are selected and not removed after ``change``."""
    return [change(draft) if draft.chosen and not draft.removed else draft for draft in drafts]


def pass_on(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Passes newly required parameters at the calls; omni's own helpers first take them from their callers."""
    made = [*drafts]
    for owner in dict.fromkeys(draft.owner for draft in drafts if draft.chosen and draft.owner):
        todo = [*_newly_required(owner, made, job)]
        for parameter, now in todo:
            for at, draft in enumerate(made):
                if not draft.chosen or draft.owner != owner or draft.removed:
                    continue
                if not passing.lacks(draft.text, now, parameter):
                    continue
                if not passing.has_local(draft.text, parameter.name):
                    grown = _taken(draft, parameter, made, job)
                    if grown is None:
                        continue
                    draft = draft.completed(grown)
                    todo.append((_on_method_of(draft, parameter), grown))
                made[at] = _mended(draft, job, partial(passing.passed, now=now, parameter=parameter), REQUIRED)
    return made


def _newly_required(owner: str, drafts: Sequence[Draft], job: ModuleJob) -> Iterator[tuple[Parameter, str]]:
    """Parameters that methods of a class newly require in this upgrade, each with the method's text."""
    own = {d.member: (d.before, d.text) for d in drafts if d.owner == owner and not d.removed}
    inherited = job.hierarchy.inherited.get(owner, Inherited())
    for name, text in inherited.members.items():
        before = inherited.before.get(name)
        if text is not None and before is not None:
            own.setdefault(name, (before, text))
    for name, (before, text) in own.items():
        if before == text:
            continue
        yield from ((parameter, text) for parameter in passing.newly_required(name, before, text))


def _on_method_of(draft: Draft, parameter: Parameter) -> Parameter:
    """The same parameter, as one of the draft's method."""
    return Parameter(draft.member, parameter.name, parameter.declared, parameter.following)


def _taken(draft: Draft, parameter: Parameter, drafts: Sequence[Draft], job: ModuleJob) -> str | None:
    """A helper of omni's own with one more parameter; ``None`` unless all its callers are known and have the value."""
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    callers = [d for d in drafts if d is not draft and not d.removed and draft.member in self_names(d.text)]
    is_known = draft.member in inherited.members or draft.member in job.target.elsewhere.at_all
    if is_known or not callers or not all(passing.has_local(d.text, parameter.name) for d in callers):
        return None
    return passing.taken(draft.text, parameter)


def _mended(draft: Draft, job: ModuleJob, change: Callable[[str], Mended | None], confidence: float) -> Draft:
    """The draft after ``change`` has been applied until it returns ``None``; one question each time, unless it is
    settled.

    There is no second question about the same thing: the reason joins an existing question that shows the removed text,
    or that shows just the changed statement. One about a port that is taken back by that goes.
    """
    while (mended := change(draft.text)) is not None:
        asked, shown = draft.reviews, _shown(draft, mended)
        draft = draft.completed(mended.text)
        if mended.is_settled:
            continue
        said = tuple(
            replace(item, reason=_with_reason(before, item, mended)) if _is_said_in(before, item, mended) else item
            for before, item in zip(asked, draft.reviews, strict=True)
            if not _is_taken_back(before, item)
        )
        if said != draft.reviews:
            draft = replace(draft, reviews=said)
            continue
        item = review(
            draft,
            job.path,
            reason=mended.reason,
            confidence=confidence,
            shown=shown,
            line=mended.line,
        )
        draft = draft.asking(item)
    return draft


def _brings_all(before: ReviewItem, now: ReviewItem) -> bool:
    """Whether the whole change that a question said was left out is in the statement now, so that no other is to be
    decided."""
    base, there = _words(before.base), _words(before.upstream)
    was_left_out = before.chosen.split() == before.omni.split() and there - base - _words(before.chosen)
    is_there_now = there - base <= _words(now.chosen) and not (base - there) & _words(now.chosen)
    return bool(was_left_out and is_there_now)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _is_taken_back(before: ReviewItem, now: ReviewItem) -> bool:
    """Whether a question is about a port of which nothing is left: the statement reads as omni had it."""
    was = before.omni.split()
    return before.from_gpu and bool(was) and before.chosen.split() != was == now.chosen.split()


def _is_said_in(before: ReviewItem, now: ReviewItem, mended: Mended) -> bool:
    """Whether a question shows what is mended: what was removed as a part, anything else as its whole text."""
    return before.chosen != now.chosen and (mended.is_gone or before.chosen.split() == mended.was.split())


def _with_reason(before: ReviewItem, now: ReviewItem, mended: Mended) -> str:
    """The reason of a question that shows what is mended; its own goes where all that it speaks of was left out again,
    so that omni's text stands, or came after all."""
    is_undone = mended.is_gone and before.chosen.split() != before.omni.split() == now.chosen.split()
    return mended.reason if is_undone or _brings_all(before, now) else f"{mended.reason}; {now.reason}"


def _shown(draft: Draft, mended: Mended) -> Shown:
    """What the question shows: the statement as it is now, and as it was, quoted for the side that has it in that form.

    Removed text came from upstream.
    """
    if mended.is_gone:
        return Shown(upstream=mended.statement)
    was, said = textwrap.dedent(mended.was), "".join(mended.was.split())
    is_omnis = bool(said) and said in "".join(draft.before.split())
    is_upstreams = bool(said) and not is_omnis and said in "".join((draft.upstream or "").split())
    chosen = textwrap.dedent(mended.statement)
    return Shown(omni=was if is_omnis else "", upstream=was if is_upstreams else "", chosen=chosen)
