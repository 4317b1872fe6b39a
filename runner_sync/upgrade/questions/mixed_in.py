"""Asks about mixins that a class gets because its GPU twin has them, and about mixins that it does without.

Comes in: the drafts and a ``ModuleJob``. Goes out: drafts that are no units, with the questions of one class each. May
touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner_sync.confidence import CONTESTED, INFERRED
from runner_sync.model import ReviewItem
from runner_sync.texts.member_text import self_names
from runner_sync.upgrade.draft import Draft, list_members
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import ask


def ask_about_mixins(drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]) -> list[Draft]:
    """Return drafts with questions about mixins; about missing mixins only if all units are upgraded.

    ``twin`` are the units of the GPU twin by their NPU names.
    """
    about_missing = _ask_about_missing(job) if not job.settings.only else []
    return [*about_missing, *_ask_about_added(drafts, job, twin)]


def _ask_about_missing(job: ModuleJob) -> list[Draft]:
    """Ask about mixins that a class does without.

    Skips mixins settled at the last upgrade, and old ones if only the twin's news were asked for.
    """
    asking_drafts = []
    settled, old = _read_settled_bases(job), _read_old_bases(job)
    for class_name, missing in job.hierarchy.missing_mixins.items():
        unsettled = [name for name in missing if name not in settled]
        draft = Draft.for_question(class_name)
        if names := [name for name in unsettled if name in old and not job.twin.news_only]:
            reason = _explain_missing(names, class_name, job)
            draft = ask(draft, job.path, reason=reason, confidence=CONTESTED)
        if names := [name for name in unsettled if name not in old]:
            # A mixin that is new in the twin stays out only if no twin uses it.
            reason = (
                f"the GPU twin newly mixes in {', '.join(names)}; the NPU class was left without it, because no GPU "
                f"runner uses it yet: `runner-sync upgrade --only '{class_name}*'` adds it"
            )
            draft = ask(draft, job.path, reason=reason, confidence=CONTESTED)
        asking_drafts += [draft] if draft.reviews else []
    return asking_drafts


def _explain_missing(names: Sequence[str], class_name: str, job: ModuleJob) -> str:
    reason = (
        f"the GPU twin mixes in {', '.join(names)}, which the NPU class lacked before this upgrade, too: is that "
        f"intended? `runner-sync upgrade --only '{class_name}*'` adds it and the code that calls it"
    )
    missing = job.hierarchy.missing_mixins[class_name]
    added_names = frozenset[str]().union(*(missing[name] for name in names))
    is_unused = job.twin.new is not None and not self_names(job.twin.new.text) & added_names
    return f"{reason}; no method of the GPU twin itself uses anything of it" if is_unused else reason


def _ask_about_added(drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]) -> list[Draft]:
    """Ask about mixins that a class gets."""
    asking_drafts = []
    for class_name, mixins in job.hierarchy.added_mixins.items():
        reason = f"the class mixes in {', '.join(mixins)} now, as its GPU twin does"
        if all(mixins.values()):
            reason += ", with the GPU code that sets it up and calls it"
        if left_out := [*_find_left_out(class_name, job.hierarchy.from_mixins(class_name), drafts, twin)]:
            reason += f", except for these uses, which were left out: {'; '.join(left_out)}"
        if late := [mixin for mixin in mixins if mixin in job.hierarchy.late_mixins.get(class_name, ())]:
            reason += f"; NPU lacked {', '.join(late)} before this upgrade, too: take it out if that was on purpose"
        asking_drafts.append(ask(Draft.for_question(class_name), job.path, reason=reason, confidence=INFERRED))
    return asking_drafts


def _find_left_out(
    class_name: str, added_names: frozenset[str], drafts: Sequence[Draft], twin: Mapping[str, str]
) -> Iterator[str]:
    """Yield uses of a mixin by GPU twin methods that the NPU class lacks, as ``self.… in METHOD``.

    Another method of the class may have the use instead: part of a method may have moved into one of its own, and code
    of a twin's helper may stand in any method.
    """
    used_by_unit = {draft.name: self_names(draft.text) for draft in list_members(drafts, class_name)}
    used_anywhere = frozenset[str]().union(*used_by_unit.values())
    used_in_own = frozenset[str]().union(*(used_by_unit[name] for name in used_by_unit if name not in twin))
    for name, text in twin.items():
        if name.rpartition(".")[0] == class_name:
            here = used_by_unit[name] | used_in_own if name in used_by_unit else used_anywhere
            missing = sorted(self_names(text) & added_names - here)
            if missing:
                yield f"{', '.join(f'self.{used}' for used in missing)} in {name.rpartition('.')[2]}"


def _read_settled_bases(job: ModuleJob) -> set[str]:
    """Return bases that the GPU class had at the last upgrade, when it was settled which of them NPU does without."""
    if job.twin.settled is None or job.module.gpu is None:
        return set()
    return job.twin.settled.bases_of(job.module.gpu.name)


def _read_old_bases(job: ModuleJob) -> set[str]:
    """Return bases that the GPU class had in the last revision before this upgrade."""
    if job.module.gpu is None or job.twin.new is None or not job.twin.bases:
        return set()
    side = [*job.twin.bases[-1:], *(base for base in job.twin.bases if base.side.ref != job.twin.new.ref)][-1].side
    return side.bases_of(job.module.gpu.name)


def join_under_mixins(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Make each question about code that newly uses an added mixin a part of the question about that mixin.

    A person who takes the mixin out takes this code out, too. A name that vllm-ascend's code uses does not count,
    because it is vllm-ascend's own.
    """
    leads = {
        draft.name: draft.reviews[0].id
        for draft in drafts
        if draft.name in job.hierarchy.added_mixins and draft.reviews
    }

    def mark_part(draft: Draft, item: ReviewItem) -> ReviewItem:
        known = item.omni if item.from_gpu else f"{item.omni}\n{item.upstream}"
        uses = frozenset(_WORD.findall(item.chosen)) - frozenset(_WORD.findall(known))
        is_part = not item.part_of and not uses.isdisjoint(job.hierarchy.from_mixins(draft.owner))
        return replace(item, part_of=leads[draft.owner]) if is_part else item

    return [draft.with_each_question(partial(mark_part, draft)) if draft.owner in leads else draft for draft in drafts]


_WORD = re.compile(r"\w+")
