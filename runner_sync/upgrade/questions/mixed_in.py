"""Questions about mixins that a class gets as its GPU twin has them, and about those that it does without.

Comes in: the drafts and a ``ModuleJob``. Goes out: drafts that are no units and carry a question per class. May touch:
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from runner_sync.compose.member_text import self_names
from runner_sync.confidence import CONTESTED, INFERRED
from runner_sync.model import ReviewItem
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import review


def mixed_in(drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]) -> list[Draft]:
    """Drafts with the questions about mixins; about those that a class does without only if all units are upgraded.

    ``twin`` are the units of the GPU twin by their NPU names.
    """
    declined = _declined(job) if not job.settings.only else []
    return [*declined, *_added(drafts, job, twin)]


def _declined(job: ModuleJob) -> list[Draft]:
    """Questions about mixins that a class does without; not about those settled at the last upgrade, nor about old ones
    where only news are asked for."""
    found = []
    settled, old = _settled_bases(job), _old_bases(job)
    for class_name, left in job.hierarchy.missing_mixins.items():
        asked = [name for name in left if name not in settled]
        draft = Draft.for_question(class_name)
        reasons = [
            *_why_without([name for name in asked if name in old and not job.twin.news_only], class_name, job),
            *_why_not_yet([name for name in asked if name not in old], class_name),
        ]
        items = [review(draft, job.path, reason=reason, confidence=CONTESTED) for reason in reasons]
        found += [draft.asking(*items)] if items else []
    return found


def _why_without(names: Sequence[str], class_name: str, job: ModuleJob) -> Iterator[str]:
    if not names:
        return
    reason = (
        f"the GPU twin mixes in {', '.join(names)}, which the NPU class has done without since before this "
        f"upgrade: is that intended? `runner-sync upgrade --only '{class_name}*'` adds it with what calls it"
    )
    missing = job.hierarchy.missing_mixins[class_name]
    given = frozenset[str]().union(*(missing[name] for name in names))
    if job.twin.new is not None and not self_names(job.twin.new.text) & given:
        reason += "; no method of the GPU twin itself uses anything of it"
    yield reason


def _why_not_yet(names: Sequence[str], class_name: str) -> Iterator[str]:
    """A mixin that is new in the twin stays out only where no twin uses it."""
    if names:
        yield (
            f"the GPU twin newly mixes in {', '.join(names)}, of which no GPU runner uses anything so far, so the NPU "
            f"class was left without: `runner-sync upgrade --only '{class_name}*'` adds it"
        )


def _added(drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]) -> list[Draft]:
    """Questions about mixins that a class gets."""
    found = []
    for class_name, mixins in job.hierarchy.added_mixins.items():
        reason = (
            f"the class mixes in {', '.join(mixins)} now, as its GPU twin does, with the GPU code that sets it up and "
            "calls it"
        )
        if left := [*_left_out(class_name, job.hierarchy.from_mixins(class_name), drafts, twin)]:
            reason += f", but for what was left out: {'; '.join(left)}"
        if late := [mixin for mixin in mixins if mixin in job.hierarchy.late_mixins.get(class_name, ())]:
            reason += f"; NPU has done without {', '.join(late)} since before this upgrade: if on purpose, take it out"
        draft = Draft.for_question(class_name)
        found.append(draft.asking(review(draft, job.path, reason=reason, confidence=INFERRED)))
    return found


def _left_out(
    class_name: str, given: frozenset[str], drafts: Sequence[Draft], twin: Mapping[str, str]
) -> Iterator[str]:
    """What methods of the GPU twin use of a mixin and the NPU class does not, as ``self.… in METHOD``.

    Another method of the class may use it instead: part of a method may have gone into one of its own, and what the
    twin has in a helper may stand in any.
    """
    mine = {draft.name: self_names(draft.text) for draft in drafts if draft.owner == class_name and not draft.removed}
    at_all = frozenset[str]().union(*mine.values())
    in_own = frozenset[str]().union(*(mine[name] for name in mine if name not in twin))
    for name, text in twin.items():
        if name.rpartition(".")[0] == class_name:
            here = mine[name] | in_own if name in mine else at_all
            missing = sorted(self_names(text) & given - here)
            if missing:
                yield f"{', '.join(f'self.{used}' for used in missing)} in {name.rpartition('.')[2]}"


def _settled_bases(job: ModuleJob) -> set[str]:
    """Bases that the GPU class had at the last upgrade: which of them NPU does without was settled then."""
    if job.twin.settled is None or job.module.gpu is None:
        return set()
    settled = job.twin.settled
    return {base.expression for base in texts.bases_of(settled.text, job.module.gpu.name, settled.path)}


def _old_bases(job: ModuleJob) -> set[str]:
    """Bases that the GPU class had in the last revision before this upgrade."""
    if job.module.gpu is None or job.twin.new is None or not job.twin.bases:
        return set()
    side = [*job.twin.bases[-1:], *(base for base in job.twin.bases if base.side.ref != job.twin.new.ref)][-1].side
    return {base.expression for base in texts.bases_of(side.text, job.module.gpu.name, side.path)}


def join_under_mixins(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """The drafts, each question about code that newly uses a mixin which the class gets as a part of the question about
    that: whoever takes the mixin out takes this out, too. What vllm-ascend uses by that name is its own."""
    leads = {
        draft.name: draft.reviews[0].id
        for draft in drafts
        if draft.name in job.hierarchy.added_mixins and draft.reviews
    }

    def joined(draft: Draft, item: ReviewItem) -> ReviewItem:
        had = item.omni if item.from_gpu else f"{item.omni}\n{item.upstream}"
        uses = frozenset(_WORD.findall(item.chosen)) - frozenset(_WORD.findall(had))
        is_part = not item.part_of and not uses.isdisjoint(job.hierarchy.from_mixins(draft.owner))
        return replace(item, part_of=leads[draft.owner]) if is_part else item

    return [
        replace(draft, reviews=tuple(joined(draft, item) for item in draft.reviews)) if draft.owner in leads else draft
        for draft in drafts
    ]


_WORD = re.compile(r"\w+")
