"""Makes review items and gives them their ids.

Comes in: a draft, and a merge decision or another subject of a question. Goes out: ``ReviewItem`` values. May touch:
nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import NamedTuple

from runner_sync import merge
from runner_sync.confidence import UNMERGED
from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.questions.wording import MERGED, PORTED, Sides, word_reason


class Shown(NamedTuple):
    """The texts that a question shows: each side and the chosen text; empty for a side that has nothing there."""

    base: str = ""
    omni: str = ""
    upstream: str = ""
    chosen: str = ""


_NOTHING = Shown()


def make_review(
    draft: Draft,
    path: str,
    *,
    reason: str,
    confidence: float,
    shown: Shown = _NOTHING,
    line: int = 1,
    from_gpu: bool = False,
) -> ReviewItem:
    """Return a review item of a draft; its ``line`` is still relative to the unit.

    The id depends on content, not on lines. With ``from_gpu``, ``shown.upstream`` is the GPU runner's text.
    """
    sides = shown.base, shown.omni, shown.upstream
    seed = "\0".join((path, draft.name, reason, *(sides if any(sides) else (shown.chosen,))))
    identity = "R" + hashlib.sha256(seed.encode(errors="surrogatepass")).hexdigest()[:8]
    at = max(line, 1)
    return ReviewItem(identity, draft.name, path, at, at, reason, confidence, *shown, from_gpu=from_gpu)


def ask(
    draft: Draft,
    path: str,
    *,
    reason: str,
    confidence: float,
    shown: Shown = _NOTHING,
    line: int = 1,
    from_gpu: bool = False,
) -> Draft:
    """Return the draft with a further review item, made by ``make_review``."""
    item = make_review(draft, path, reason=reason, confidence=confidence, shown=shown, line=line, from_gpu=from_gpu)
    return draft.with_questions(item)


def make_not_ported_review(
    draft: Draft, path: str, *, why: str, confidence: float, upstream: str, base: str = "", omni: str = ""
) -> ReviewItem:
    """Return a review item about GPU code that was left out as a whole; ``omni`` stands.

    The item gets no comment in the file, because nothing of the code is there.
    """
    shown = Shown(base, omni, upstream, chosen=omni)
    item = make_review(draft, path, reason=f"not ported: {why}", confidence=confidence, shown=shown, from_gpu=True)
    return replace(item, in_file=False)


def make_unmerged_review(
    draft: Draft, path: str, *, reason: str, base: str, upstream: str, from_gpu: bool = False
) -> ReviewItem:
    """Return a review item about a merge whose result cannot be used: the draft keeps its text."""
    shown = Shown(base, draft.text, upstream, chosen=draft.text)
    return make_review(draft, path, reason=reason, confidence=UNMERGED, shown=shown, from_gpu=from_gpu)


def make_review_of_decision(
    decision: merge.Decision, draft: Draft, path: str, *, line: int, sides: Sides = MERGED
) -> ReviewItem:
    """Return the review item for a merge decision, at ``line`` of the draft; ``sides`` names the two sides."""
    decision = decision.under_conditions()
    return make_review(
        draft,
        path,
        reason=word_reason(decision.reason, sides),
        confidence=decision.confidence,
        shown=Shown(decision.base, decision.omni, decision.upstream, decision.chosen),
        line=line,
        from_gpu=sides is PORTED,
    )
