"""Which candidate a unit was copied from, and whether it is a copy at all.

Comes in: the text of a unit and its candidates. Goes out: an ``Origin`` and a kind. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync.lineage.cover import cover
from runner_sync.lineage.likeness import FEWEST, Fingerprint, comments, fingerprint, nodes_of
from runner_sync.model import Lineage
from runner_sync.statements.likeness import COPY, dice
from runner_sync.statements.parsing import first_function
from runner_sync.syntax import parent_calls

SHORT = 15
"""A method with fewer statements than this may agree with another in a few by chance."""

COPY_SHORT = 0.6
"""Dice coefficient from which on such a short method counts as a copy, instead of ``COPY``: a judgement. Four upgrades
give the same result with 0.6 to 0.7; with 0.5 three differ."""

WRAPPER = 0.7
"""Dice coefficient from which on a method that calls its parent's method counts as a copy: higher still, a judgement.
Four upgrades give the same result with 0.7 to 0.8; with 0.6 one differs."""

PART = 10
"""A method that does not call its parent's counts as a copy of part of it if they share this many statements, however
small that part. Measured on 0.12.0rc1 … 0.32.0rc1: partial copies share 12 … 27, others of the same name 3 at most."""

PART_SHARE = 0.3
"""Share of such a method's own statements that must be among those (the overlap coefficient). If omni rewrote most of a
method, upstream's changes fit nowhere: below this, three upgrades got statements that read names which nothing sets."""

CUT_OUT = 0.7
"""Share of a method's own statements from which on it is a part cut out of upstream's, however short. Measured on
0.14.0 … 0.32.0rc1: ``init_device`` of omni's workers has three of four, no other override of the same name more than
0.4, but for those that call their parent's."""

NEAR = 0.02
"""Candidates whose Dice coefficients differ by no more than this are a near tie: two or three statements of a large
method. Four upgrades give the same result with 0.01 to 0.02; with 0.04 three differ, by 20 lines."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The text of a unit at one upstream revision; ``ref`` is a version or a commit."""

    ref: str
    text: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The candidate that a unit was copied from.

    ``heritage`` are statements and comments that only other candidates have. ``composite`` are refs of other candidates
    that parts of the unit come from, and ``versions`` the statements of those, where they have been looked up.
    """

    ref: str
    text: str
    similarity: float
    heritage: frozenset[str] = frozenset()
    composite: tuple[str, ...] = ()
    versions: frozenset[str] = frozenset()


def infer(text: str, candidates: Sequence[Candidate]) -> Origin | None:
    """The candidate most similar to ``text``; of equally similar ones the earliest. ``None`` without candidates.

    A near tie goes to the earlier one, too, unless ``text`` has most of what the later one changed. Otherwise, because
    of a line or two that omni removed early, all else that is new in the later one would look removed by omni. Where
    omni removed most, that says nothing, and a passage which only the later one has decides (`_with_passage`).
    """
    if not candidates:
        return None
    mine = fingerprint(text)
    scores = [dice(_by_condition(text), _by_condition(candidate.text)) for candidate in candidates]
    best = max(range(len(candidates)), key=lambda k: (scores[k], -k))
    at = next(k for k in range(best + 1) if k == best or _is_as_close(text, candidates, scores, k, best))
    at = _with_passage(text, candidates, [scores[best] - score <= NEAR for score in scores], at)
    base = candidates[at]
    known = fingerprint(base.text)
    others = [candidate for candidate in candidates if candidate.text != base.text]
    beyond = [frozenset(fingerprint(other.text)) - frozenset(known) for other in others]
    heritage = frozenset[str]().union(*beyond)
    parts = cover(frozenset(mine) & heritage, beyond)
    heritage |= frozenset[str]().union(*(comments(other.text) for other in others)) - comments(base.text)
    return Origin(base.ref, base.text, scores[at], heritage, tuple(dict.fromkeys(others[k].ref for k in parts)))


def _is_as_close(text: str, candidates: Sequence[Candidate], scores: Sequence[float], k: int, best: int) -> bool:
    """Whether candidate ``k`` nearly ties with the ``best``, and ``text`` has at most half of what changed between."""
    if scores[best] - scores[k] > NEAR:
        return False
    mine, old, new = (_by_condition(one) for one in (text, candidates[k].text, candidates[best].text))
    added, removed = new - old, old - new
    taken, left = (added & mine).total(), (removed & mine).total()
    return taken <= added.total() - taken + left


def _with_passage(text: str, candidates: Sequence[Candidate], is_near: Sequence[bool], at: int) -> int:
    """The index of the candidate that was the first to have a passage of ``text``, if it comes after ``at`` and nearly
    ties; else ``at``.

    Only for a text that lacks most of the candidate at ``at``, so that the shorter of two candidates is more like it,
    whatever it has of either. It may have nothing that the later candidate lost.
    """
    mine = _by_condition(text)
    for k in range(at + 1, len(candidates)):
        old, new = (_by_condition(candidates[index].text) for index in (at, k))
        is_rest = 2 * (old & mine).total() < old.total()
        if is_near[k] and is_rest and not (old - new) & mine and _brings_passage(text, candidates, k):
            at = k
    return at


def _brings_passage(text: str, candidates: Sequence[Candidate], k: int) -> bool:
    """Whether ``text`` has enough statements and comments, and one statement at least, that candidate ``k`` was the
    first to have."""
    earlier = [one.text for one in candidates[:k]]
    statements = (_by_condition(text) & _by_condition(candidates[k].text)).keys()
    brought = statements - frozenset[str]().union(*(_by_condition(one).keys() for one in earlier))
    remarks = comments(text) & comments(candidates[k].text) - frozenset[str]().union(*map(comments, earlier))
    return bool(brought) and len(brought) + len(remarks) >= FEWEST


def _by_condition(text: str) -> Fingerprint:
    """The fingerprint with ``if`` for ``elif``: omni may have put a branch of its own in front of upstream's."""
    known = fingerprint(text)
    if not any(canon.startswith("elif ") for canon in known):
        return known
    found = Fingerprint()
    for canon, count in known.items():
        found[canon.removeprefix("el") if canon.startswith("elif ") else canon] += count
    return found


def kind_of(text: str, origin: Origin | None, *, owner: str = "") -> Lineage:
    """Whether a unit is a copy, a thin override of the upstream method, or omni's own. ``owner`` is upstream's class.

    A method that calls its parent's wraps it: unless it is nearly identical, its body is its own. In real upgrades
    people carried 90 … 99 % of upstream's changes into copies and none into wrappers. Where upstream's own method calls
    its parent's, too, a copy of it does as well, so there the rest decides.
    """
    if origin is None:
        return "own"
    mine, theirs = fingerprint(text), fingerprint(origin.text)
    if parents := _parents(text):
        is_alike = owner not in parents and _parents(origin.text)
        likeness = dice(_around_parent(text), _around_parent(origin.text)) if is_alike else origin.similarity
        return "copy" if likeness >= WRAPPER else "override"
    is_copy = origin.similarity >= (COPY_SHORT if mine.total() < SHORT else COPY)
    shared = (mine & theirs).total()
    is_part = shared >= max(PART, mine.total() * PART_SHARE) or _is_cut_out(text, theirs)
    return "copy" if is_copy or is_part else "override"


def _is_cut_out(text: str, theirs: Fingerprint) -> bool:
    """Whether nearly all statements of a short method are upstream's, which has many more."""
    told = [node.canon for node in nodes_of(text)[1:] if node.is_telling and node.keyword != "return"]
    shared = sum(canon in theirs for canon in told)
    return shared >= max(FEWEST, len(told) * CUT_OUT)


def _parents(text: str) -> frozenset[str]:
    """The classes, or ``super()``, whose method of the same name a method calls."""
    return frozenset(parent for parent, _ in _parent_calls(text))


def _around_parent(text: str) -> Fingerprint:
    """What a method does besides calling its parent's: its statements but that call, the signature and returns."""
    lines = {call.lineno for _, call in _parent_calls(text)}
    rest = [node for node in nodes_of(text)[1:] if node.is_telling and node.keyword != "return"]
    return Counter(node.canon for node in rest if lines.isdisjoint(range(node.start, node.start + len(node.lines))))


def _parent_calls(text: str) -> Sequence[tuple[str, ast.Call]]:
    function = first_function(text)
    return parent_calls(function, function.name) if function is not None else ()
