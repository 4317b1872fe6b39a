"""Adapts call sites after the merge: adds required fields, arguments and parameters, drops arguments that nothing sets.

Comes in: drafts after all merges, and a ``ModuleJob``. Goes out: the drafts, the chosen ones mended, with a question
about each change. May touch: nothing.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner_sync.confidence import DERIVED, REQUIRED
from runner_sync.fitting import constructors, passing, records, shifted, unset
from runner_sync.fitting.passing import Parameter
from runner_sync.fitting.repair import Repair
from runner_sync.model import ReviewItem
from runner_sync.texts.member_text import self_names
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft, list_members, list_owners
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask


def fit_records(drafts: Sequence[Draft], job: ModuleJob, twins: Mapping[str, str]) -> list[Draft]:
    """Complete code that unpacks or makes records with new fields, of this module or one upgraded before it.

    ``twins`` are the texts of the GPU runner's units, which name the locals.
    """
    own_records = {
        d.name: records.read_record(d.before, d.text, d.name, twin=twins.get(d.name, ""))
        for d in drafts
        if not d.owner and not d.removed
    }
    records_by_name = {name: found for name, found in {**job.target.records, **own_records}.items() if found.now}

    def fit_draft(draft: Draft) -> Draft:
        fit = partial(
            records.fit_next_use, records=records_by_name, before=draft.before, twin=twins.get(draft.name, "")
        )
        return _apply_mending(draft, job, fit, REQUIRED) if draft.owner else draft

    return _change_chosen(drafts, fit_draft)


def set_as_attributes(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Set a keyword that a constructor newly gets but does not accept as an attribute of the new object."""

    def mend(draft: Draft) -> Draft:
        change = partial(constructors.move_keyword_to_attribute, draft.before, constructors=job.target.constructors)
        return _apply_mending(draft, job, change, DERIVED)

    return _change_chosen(drafts, mend)


def drop_unset_arguments(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Drop arguments that upstream's calls newly pass and whose values nothing here sets."""

    def mend(draft: Draft) -> Draft:
        if not draft.upstream or draft.text == draft.before:
            return draft
        change = partial(
            unset.drop_unset_argument, draft.before, upstream=draft.upstream, base=find_base_text(draft, job) or ""
        )
        return _apply_mending(draft, job, change, DERIVED)

    return _change_chosen(drafts, mend)


def _change_chosen(drafts: Sequence[Draft], change: Callable[[Draft], Draft]) -> list[Draft]:
    """Return all drafts, applying ``change`` to the chosen ones that are not removed."""
    return [change(draft) if draft.chosen and not draft.removed else draft for draft in drafts]


def pass_required_parameters(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Pass newly required parameters at the calls; a helper of omni's own first gets them from its callers."""
    mended_drafts = [*drafts]
    for owner in list_owners(drafts, only_chosen=True):
        changed = _find_changed_members(owner, mended_drafts, job)
        todo = [(new, now) for name, was, now in changed for new in passing.newly_required(name, was, now)]
        for parameter, now in todo:
            for index, draft in enumerate(mended_drafts):
                if not draft.chosen or draft.owner != owner or draft.removed:
                    continue
                if not passing.has_call_without(draft.text, now, parameter):
                    continue
                fitted = _get_value(draft, parameter, mended_drafts, job)
                if fitted is None:
                    continue
                if fitted is not draft:
                    todo.append((replace(parameter, method=fitted.member), fitted.text))
                change = partial(passing.pass_local, now=now, parameter=parameter)
                mended_drafts[index] = _apply_mending(fitted, job, change, REQUIRED)
    return mended_drafts


def _get_value(draft: Draft, parameter: Parameter, drafts: Sequence[Draft], job: ModuleJob) -> Draft | None:
    """Return the draft with the value of a parameter: as a local that it has, else as a further parameter of its own.

    Returns ``None`` if its callers do not all have the value.
    """
    if passing.has_local(draft.text, parameter.name):
        return draft
    grown = _add_parameter(draft, parameter, drafts, job)
    return draft.with_completion(grown) if grown is not None else None


def _find_changed_members(owner: str, drafts: Sequence[Draft], job: ModuleJob) -> list[tuple[str, str, str]]:
    """Return ``(name, text before, text now)`` of each member of a class, inherited ones included, that changed."""
    texts_by_member = {d.member: (d.before, d.text) for d in list_members(drafts, owner)}
    inherited = job.hierarchy.of(owner)
    for name, text in inherited.members.items():
        before = inherited.before.get(name)
        if text is not None and before is not None:
            texts_by_member.setdefault(name, (before, text))
    return [(name, before, text) for name, (before, text) in texts_by_member.items() if before != text]


def name_shifted_arguments(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Pass by name what a call of omni's passed by place to a parameter that has another place now."""
    changed = {owner: _find_changed_members(owner, drafts, job) for owner in list_owners(drafts, only_chosen=True)}

    def mend(draft: Draft) -> Draft:
        for method in changed.get(draft.owner, ()):
            change = partial(
                shifted.pass_shifted_by_name, before=draft.before, upstream=draft.upstream or "", method=method
            )
            draft = _apply_mending(draft, job, change, DERIVED)
        return draft

    return _change_chosen(drafts, mend)


def _add_parameter(draft: Draft, parameter: Parameter, drafts: Sequence[Draft], job: ModuleJob) -> str | None:
    """Return omni's helper with one more parameter, or ``None`` if not every caller is known and has the value."""
    inherited = job.hierarchy.of(draft.owner)
    callers = [d for d in drafts if d is not draft and not d.removed and draft.member in self_names(d.text)]
    is_known = draft.member in inherited.members or draft.member in job.target.elsewhere.at_all
    if is_known or not callers or not all(passing.has_local(d.text, parameter.name) for d in callers):
        return None
    return passing.add_parameter(draft.text, parameter)


def _apply_mending(draft: Draft, job: ModuleJob, change: Callable[[str], Repair | None], confidence: float) -> Draft:
    """Apply ``change`` until it returns ``None``, and ask at most once about each change that is not settled.

    If a question already shows the removed text or exactly the changed statement, the new reason joins that question.
    Drops a question about a port that the change undid, and one about a left-out change that a settled one brings in
    full. Ends where the change would undo itself.
    """
    seen = {draft.text}
    while (mended := change(draft.text)) is not None and mended.text not in seen:
        seen.add(mended.text)
        asked_before, shown = draft.reviews, _show_mended(draft, mended)
        draft = draft.with_completion(mended.text)
        if mended.is_settled:
            sides = zip(asked_before, draft.reviews, strict=True)
            draft = replace(draft, reviews=tuple(now for was, now in sides if not _has_come_in_full(was, now)))
            continue
        kept = tuple(
            replace(item, reason=_merge_reasons(before, item, mended)) if _shows_mended(before, item, mended) else item
            for before, item in zip(asked_before, draft.reviews, strict=True)
            if not _is_taken_back(before, item)
        )
        if kept != draft.reviews:
            draft = replace(draft, reviews=kept)
            continue
        draft = ask(draft, job.path, reason=mended.reason, confidence=confidence, shown=shown, line=mended.line)
    return draft


def _has_come_in_full(before: ReviewItem, now: ReviewItem) -> bool:
    """Whether the statement now has the whole change that a question reported as left out: nothing is to decide."""
    base, there = _split_words(before.base), _split_words(before.upstream)
    was_left_out = before.chosen.split() == before.omni.split() and there - base - _split_words(before.chosen)
    is_there_now = there - base <= _split_words(now.chosen) and not (base - there) & _split_words(now.chosen)
    return bool(was_left_out and is_there_now)


def _split_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _is_taken_back(before: ReviewItem, now: ReviewItem) -> bool:
    """Whether a question is about a port of which nothing is left: the statement reads as omni had it."""
    was = before.omni.split()
    return before.from_gpu and bool(was) and before.chosen.split() != was == now.chosen.split()


def _shows_mended(before: ReviewItem, now: ReviewItem, mended: Repair) -> bool:
    """Whether a question shows the mended text: removed text as a part of it, other text as its whole."""
    return before.chosen != now.chosen and (mended.is_gone or before.chosen.split() == mended.was.split())


def _merge_reasons(before: ReviewItem, now: ReviewItem, mended: Repair) -> str:
    """Return the reason for a question that shows the mended statement.

    Drops the old reason if its change was undone, so that omni's text stands, or has now come in full.
    """
    is_undone = mended.is_gone and before.chosen.split() != before.omni.split() == now.chosen.split()
    return mended.reason if is_undone or _has_come_in_full(before, now) else f"{mended.reason}; {now.reason}"


def _show_mended(draft: Draft, mended: Repair) -> Shown:
    """Show the statement as it is now, and its old text for the side that has that text.

    Removed text came from upstream.
    """
    if mended.is_gone:
        return Shown(upstream=mended.statement)
    was, squeezed = textwrap.dedent(mended.was), "".join(mended.was.split())
    is_omnis = bool(squeezed) and squeezed in "".join(draft.before.split())
    is_upstreams = bool(squeezed) and not is_omnis and squeezed in "".join((draft.upstream or "").split())
    chosen = textwrap.dedent(mended.statement)
    return Shown(omni=was if is_omnis else "", upstream=was if is_upstreams else "", chosen=chosen)
