"""Passes upstream's new returns to the method that omni passes every other return of the same value to.

Comes in: drafts after all merges, and a ``ModuleJob``. Goes out: the drafts, the chosen ones with such returns changed.
One question per group of adjacent returns replaces all others about them. May touch: nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from runner_sync.confidence import INFERRED
from runner_sync.edits import lines_of, margin
from runner_sync.fitting.handing_over import HandedReturn, hand_over_returns
from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.lines import strip_lines, strip_written_lines
from runner_sync.upgrade.questions.reviews import Shown, make_review


def hand_over(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Return all drafts; upstream's new returns in copies of its methods go through omni's own method."""
    return [_hand_over_returns(draft, job) if draft.chosen and not draft.removed else draft for draft in drafts]


def _hand_over_returns(draft: Draft, job: ModuleJob) -> Draft:
    new, before, upstream = job.upstream.new, draft.before, draft.upstream
    if new is None or not upstream or not before or draft.text == before:
        return draft
    text, handed = hand_over_returns(before, draft.text, upstream, elsewhere=new.text)
    old = draft.text
    for group in _group_adjacent(handed):
        first, last = _find_first_line(group, old.split("\n")), group[-1].end_line
        was, now = (textwrap.dedent(lines_of(side, first, last)) for side in (old, text))
        kept = [item for item in draft.reviews if not _is_about_these(item, first, last, was)]
        shown = Shown(upstream=was, chosen=now)
        item = make_review(draft, job.path, reason=_word_reason(group), confidence=INFERRED, shown=shown, line=first)
        draft = replace(draft, reviews=(*kept, replace(item, end_line=last)))
    return draft.with_completion(text) if handed else draft


def _group_adjacent(handed: Sequence[HandedReturn]) -> list[list[HandedReturn]]:
    """Group returns that stand on adjacent lines."""
    groups: list[list[HandedReturn]] = []
    for one in handed:
        if groups and groups[-1][-1].end_line + 1 == one.line:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _find_first_line(group: Sequence[HandedReturn], lines: Sequence[str]) -> int:
    """Return a group's first line, or that of the condition around its first return if the others stand beside it."""
    first, outer = group[0].line, min(len(margin(lines[one.line - 1])) for one in group)
    is_deeper = len(margin(lines[first - 1])) > outer
    return first - 1 if is_deeper and first > 1 and len(margin(lines[first - 2])) == outer else first


def _is_about_these(item: ReviewItem, first: int, last: int, was: str) -> bool:
    """Whether the chosen text of a question at this place consists only of lines of these returns."""
    chosen = {*strip_written_lines(item.chosen)}
    is_here = item.in_file and first <= item.line <= last
    return is_here and bool(chosen) and chosen <= {*strip_lines(was)}


def _word_reason(group: Sequence[HandedReturn]) -> str:
    called = " and ".join(dict.fromkeys(f"self.{one.method}" for one in group))
    this, goes = ("this return", "it goes") if len(group) == 1 else ("these returns", "they go")
    more = "; what omni does before the others was not added here" if any(it.is_prepared for it in group) else ""
    resets = [f"`{reset}`" for reset in dict.fromkeys(reset for one in group for reset in one.resets)]
    more += f", such as {' and '.join(resets)}" if more and resets else ""
    return f"upstream added {this}; here {goes} through {called}, like all other returns of the same value{more}"
