"""Asks about calls that upstream newly makes in a copy and that reach an omni override there.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

The call merges without a doubt, but it does not run upstream's method::

    base      hidden = self._dummy_states(rows)         in upstream's class, which omni inherits
    upstream  hidden = self._model_forward(rows)        omni's override also does what only a request needs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from runner_sync.confidence import CONTESTED
from runner_sync.model import ReviewItem
from runner_sync.statements import flatten
from runner_sync.texts.member_text import self_names
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft, list_members
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review


def ask_about_newly_reached(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask, in each copy, about every omni override that the copy calls only since upstream does."""
    return [
        draft.with_questions(*_ask_about_overrides(draft, job, _find_overrides(draft, drafts, job)))
        if draft.kind == "copy" and draft.chosen and not draft.removed
        else draft
        for draft in drafts
    ]


def _find_overrides(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> AbstractSet[str]:
    """Return the methods of upstream's class of which omni had another version before this upgrade.

    A copy without omni statements is not another version.
    """
    inherited = job.hierarchy.of(draft.owner)
    below = {name for name, text in inherited.before.items() if text is not None}
    own = {d.member for d in list_members(drafts, draft.owner) if d.before}
    plain = {d.member for d in drafts if d.owner == draft.owner and d.kind == "copy" and not d.own}
    return (below | own) & inherited.upstream - plain


def _ask_about_overrides(draft: Draft, job: ModuleJob, overrides: AbstractSet[str]) -> Iterator[ReviewItem]:
    base, upstream = find_base_text(draft, job), draft.upstream
    if base is None or upstream is None:
        return
    used_before = self_names(base) | self_names(draft.before)
    wanted = overrides & self_names(upstream) & self_names(draft.text) - used_before - {draft.member}
    canons = {node.canon for node in flatten(upstream)}
    for name in sorted(wanted):
        call = f"self.{name}("
        node = next(
            (n for n in flatten(draft.text) if call in n.canon and n.canon in canons and not n.is_comment), None
        )
        if node is not None:
            title = job.upstream_title
            reason = f"{title} now calls {name} here, and omni overrides {name}: does omni's version fit this call?"
            shown = Shown(upstream=node.text, chosen=node.text)
            yield make_review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=node.start)
