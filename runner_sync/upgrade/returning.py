"""Hands upstream's new returns over to the method that omni hands each other return of their values to.

Comes in: drafts after all merges, and a ``ModuleJob``. Goes out: the drafts, the chosen ones with such returns changed,
and one question about those next to each other, in the place of all others. May touch: nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from runner_sync.compose.handing_over import Handed, handed_over
from runner_sync.confidence import INFERRED
from runner_sync.edits import margin
from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


def hand_over(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """All drafts; upstream's new returns in copies of its methods go through omni's own method."""
    return [_handing_over(draft, job) if draft.chosen and not draft.removed else draft for draft in drafts]


def _handing_over(draft: Draft, job: ModuleJob) -> Draft:
    new, before, upstream = job.upstream.new, draft.before, draft.upstream
    if new is None or not upstream or not before or draft.text == before:
        return draft
    text, handed = handed_over(before, draft.text, upstream, elsewhere=new.text)
    old = draft.text
    for group in _side_by_side(handed):
        first, last = _with_head(group, old.split("\n")), group[-1].end_line
        was, now = (textwrap.dedent("\n".join(side.split("\n")[first - 1 : last])) for side in (old, text))
        left = [item for item in draft.reviews if not _is_about_these(item, first, last, was)]
        shown = Shown(upstream=was, chosen=now)
        item = review(draft, job.path, reason=_reason(group), confidence=INFERRED, shown=shown, line=first)
        draft = replace(draft, reviews=(*left, replace(item, end_line=last)))
    return draft.completed(text) if handed else draft


def _side_by_side(handed: Sequence[Handed]) -> list[list[Handed]]:
    """The returns in groups of those that stand in lines next to each other."""
    groups: list[list[Handed]] = []
    for one in handed:
        if groups and groups[-1][-1].end_line + 1 == one.line:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _with_head(group: Sequence[Handed], lines: Sequence[str]) -> int:
    """The first line of a group; that of the condition around its first return, if the others stand beside that."""
    first, outer = group[0].line, min(len(margin(lines[one.line - 1])) for one in group)
    is_deeper = len(margin(lines[first - 1])) > outer
    return first - 1 if is_deeper and first > 1 and len(margin(lines[first - 2])) == outer else first


def _is_about_these(item: ReviewItem, first: int, last: int, was: str) -> bool:
    """Whether a question chose nothing but some of these returns, at their place."""
    chosen = {line.strip() for line in item.chosen.split("\n") if line.strip()}
    is_here = item.in_file and first <= item.line <= last
    return is_here and bool(chosen) and chosen <= {line.strip() for line in was.split("\n")}


def _reason(group: Sequence[Handed]) -> str:
    called = " and ".join(dict.fromkeys(f"self.{one.method}" for one in group))
    this, goes, its = ("this return", "goes", "its") if len(group) == 1 else ("these returns", "go", "their")
    more = "; what omni does in front of the others is not done here" if any(it.is_prepared for it in group) else ""
    return f"upstream added {this}, which {goes} through {called} here, as all others of {its} value do{more}"
