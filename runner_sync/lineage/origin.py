"""Which candidate a unit was copied from, and whether it is a copy at all.

Comes in: the text of a unit and its candidates. Goes out: an ``Origin`` and a kind. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync.lineage.cover import cover
from runner_sync.lineage.likeness import comments, fingerprint, similarity
from runner_sync.model import Lineage
from runner_sync.statements.likeness import COPY

SHORT = 15
"""Statements; a method with fewer agrees with another by chance in a few."""

COPY_SHORT = 0.6
"""Dice coefficient of statements that such a method must reach to count as a copy, instead of ``COPY``: a judgement.
Four upgrades come out the same from 0.6 to 0.7; at 0.5 three are others."""

WRAPPER = 0.7
"""Dice coefficient of statements that what calls its namesake on a parent class must reach: closer yet, a
judgement. Four upgrades come out the same from 0.7 to 0.8; at 0.6 one is another."""

PART = 10
"""Statements that a method which wraps nothing must share with its namesake to be a copy of a part of it, however
little of the namesake that is. Measured on 0.12.0rc1 … 0.32.0rc1: partial copies share 12 … 27, what only has the name
3 at most."""

PART_SHARE = 0.3
"""Share of such a method's own statements that those must be (the overlap coefficient): of what omni has mostly written
anew, changes fit nowhere. Below it, three upgrades got statements that read what nothing there sets."""

NEAR = 0.02
"""Difference of two Dice coefficients below which candidates are a near tie: two or three statements of a large
method. Four upgrades come out the same from 0.01 to 0.02; at 0.04 three are others, by 20 lines."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The text of a unit at one upstream revision; ``ref`` is a version or a commit."""

    ref: str
    text: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The candidate a unit was copied from. ``composite`` are refs of other candidates that parts of it come from, and
    ``versions`` their statements, where somebody has looked them up."""

    ref: str
    text: str
    similarity: float
    heritage: frozenset[str] = frozenset()
    composite: tuple[str, ...] = ()
    versions: frozenset[str] = frozenset()


def infer(text: str, candidates: Sequence[Candidate]) -> Origin | None:
    """The candidate closest to ``text``; of equally close ones the earliest. ``None`` without candidates.

    A near tie goes to the earlier one, too, unless ``text`` has most of what the later one changed: a line or two that
    omni took out of turn would make all else of that revision something that omni had removed.
    """
    if not candidates:
        return None
    mine = fingerprint(text)
    scores = [similarity(text, candidate.text) for candidate in candidates]
    best = max(range(len(candidates)), key=lambda k: (scores[k], -k))
    at = next(k for k in range(best + 1) if k == best or _is_as_close(text, candidates, scores, k, best))
    base = candidates[at]
    known = fingerprint(base.text)
    others = [candidate for candidate in candidates if candidate.text != base.text]
    beyond = [frozenset(fingerprint(other.text)) - frozenset(known) for other in others]
    heritage = frozenset[str]().union(*beyond)
    parts = cover(frozenset(mine) & heritage, beyond)
    heritage |= frozenset[str]().union(*(comments(other.text) for other in others)) - comments(base.text)
    return Origin(base.ref, base.text, scores[at], heritage, tuple(dict.fromkeys(others[k].ref for k in parts)))


def _is_as_close(text: str, candidates: Sequence[Candidate], scores: Sequence[float], k: int, best: int) -> bool:
    if scores[best] - scores[k] > NEAR:
        return False
    mine, old, new = (fingerprint(one) for one in (text, candidates[k].text, candidates[best].text))
    added, removed = new - old, old - new
    taken, left = (added & mine).total(), (removed & mine).total()
    return taken <= added.total() - taken + left


def kind_of(text: str, origin: Origin | None) -> Lineage:
    """Whether a unit is a copy, a thin override of a namesake, or omni's own.

    What calls its namesake on a parent class wraps it: unless it is nearly all upstream's, its body is its own. In real
    upgrades people carried 90 … 99 % of upstream's changes into copies and none into wrappers.
    """
    if origin is None:
        return "own"
    mine, theirs = fingerprint(text), fingerprint(origin.text)
    if _is_wrapper(text):
        return "copy" if origin.similarity >= WRAPPER else "override"
    is_copy = origin.similarity >= (COPY_SHORT if mine.total() < SHORT else COPY)
    shared = (mine & theirs).total()
    return "copy" if is_copy or shared >= max(PART, mine.total() * PART_SHARE) else "override"


def _is_wrapper(text: str) -> bool:
    head = re.search(r"def (\w+)\(", text)
    return head is not None and re.search(rf"(?:super\(\)|\b[A-Z]\w*)\.{head[1]}\(", text) is not None
