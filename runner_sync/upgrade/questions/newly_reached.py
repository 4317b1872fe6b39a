"""Calls that upstream newly makes in a copy, and that reach an override of omni's there.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

The call is upstream's and merges without a doubt, but upstream's own method is not what it runs::

    base      hidden = self._dummy_states(rows)         in upstream's class, which omni inherits
    upstream  hidden = self._model_forward(rows)        omni's override also does what only a request needs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from runner_sync.compose.member_text import self_names
from runner_sync.confidence import CONTESTED
from runner_sync.model import TITLES, ReviewItem
from runner_sync.statements import flatten
from runner_sync.upgrade.base import base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Inherited, ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


def ask_about_newly_reached(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """The drafts; each copy with a question for every override of omni's that it calls only since upstream does."""
    return [
        draft.asking(*_questions(draft, job, _overrides(draft, drafts, job)))
        if draft.kind == "copy" and draft.chosen and not draft.removed
        else draft
        for draft in drafts
    ]


def _overrides(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> AbstractSet[str]:
    """The methods of upstream's class that omni had another version of before this upgrade.

    A copy without a statement of omni's own is no other version.
    """
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    below = {name for name, text in inherited.before.items() if text is not None}
    own = {d.member for d in drafts if d.owner == draft.owner and d.before and not d.removed}
    plain = {d.member for d in drafts if d.owner == draft.owner and d.kind == "copy" and not d.own}
    return (below | own) & inherited.upstream - plain


def _questions(draft: Draft, job: ModuleJob, overrides: AbstractSet[str]) -> Iterator[ReviewItem]:
    base, upstream = base_text(draft, job), draft.upstream
    if base is None or upstream is None:
        return
    was = self_names(base) | self_names(draft.before)
    wanted = overrides & self_names(upstream) & self_names(draft.text) - was - {draft.member}
    theirs = {node.canon for node in flatten(upstream)}
    for name in sorted(wanted):
        call = f"self.{name}("
        node = next(
            (n for n in flatten(draft.text) if call in n.canon and n.canon in theirs and not n.is_comment), None
        )
        if node is not None:
            title = TITLES[job.module.upstreams[0].project]
            reason = f"{title} calls {name} here now, which omni overrides: does omni's version fit this call?"
            shown = Shown(upstream=node.text, chosen=node.text)
            yield review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=node.start)
