"""Find the candidate that a unit was copied from, and decide whether the unit is a copy at all.

Comes in: the text of a unit and its candidates. Goes out: an ``Origin`` and a kind. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from runner_sync.lineage.cover import cover
from runner_sync.lineage.likeness import FEWEST, Fingerprint, comments, fingerprint, list_nodes
from runner_sync.model import Lineage
from runner_sync.statements import Node
from runner_sync.statements.likeness import COPY, dice
from runner_sync.statements.parents import parent_calls
from runner_sync.statements.parsing import first_function

SHORT = 15
"""A method with fewer statements than this may agree with another in a few by chance."""

COPY_SHORT = 0.6
"""Dice coefficient from which a method shorter than ``SHORT`` counts as a copy (longer ones: ``COPY``). A judgement:
four upgrades give the same result with 0.6 to 0.7; with 0.5 three differ."""

WRAPPER = 0.7
"""Dice coefficient from which a method that calls its parent's method counts as a copy. A judgement: four upgrades give
the same result with 0.7 to 0.8; with 0.6 one differs."""

PART = 10
"""A method that does not call its parent's method is a partial copy if it shares at least this many statements with
upstream. Measured on 0.12.0rc1 … 0.32.0rc1: partial copies share 12 … 27 statements, other namesakes at most 3."""

PART_SHARE = 0.3
"""Least share of a partial copy's statements that upstream must have, too (the overlap coefficient). Upstream changes
do not fit into a method that omni mostly rewrote: below this value, three upgrades got statements that read undefined
names."""

CUT_OUT = 0.7
"""Share of upstream statements from which even a short method counts as a part cut out of upstream's method. Measured
on 0.14.0 … 0.32.0rc1: ``init_device`` of omni's workers has three of four; no other override that does not call its
parent's method has more than 0.4."""

NEAR = 0.02
"""Two candidates nearly tie if their Dice coefficients differ by at most this: two or three statements of a large
method. Four upgrades give the same result with 0.01 to 0.02; with 0.04 three differ, by 20 lines."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The text of a unit at one upstream revision; ``ref`` is a version or a commit.

    Whoever runs the program says that the copies come from a revision that ``is_named``.
    """

    ref: str
    text: str
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """The candidate that a unit was copied from.

    ``heritage`` holds the statements and comments that only other candidates have. ``composite`` holds the refs of
    other candidates that parts of the unit come from. ``versions`` holds the statements of these candidates once they
    have been looked up.
    """

    ref: str
    text: str
    similarity: float
    heritage: frozenset[str] = frozenset()
    composite: tuple[str, ...] = ()
    versions: frozenset[str] = frozenset()


def find_origin(text: str, candidates: Sequence[Candidate]) -> Origin | None:
    """Return the candidate most similar to ``text``, the earliest of equally similar ones; ``None`` without candidates.

    In a near tie the earlier candidate wins unless ``text`` has most of the change between the two. Otherwise a line or
    two that omni removed early would select the later candidate, and everything new in that candidate would look
    removed by omni. If omni removed most of the method, this test is meaningless; then a passage that only the later
    candidate has decides (`_advance_to_passage`). A candidate that is named wins over a later one of which ``text`` has
    next to nothing new (`_has_its_share`), unless ``text`` is that one: it is only shorter, and ``text`` may be older
    than both. What a text lacks that took only a part of the method tells nothing.
    """
    if not candidates:
        return None
    own = fingerprint(text)
    scores = [
        dice(_fingerprint_without_elif(text), _fingerprint_without_elif(candidate.text)) for candidate in candidates
    ]
    best = max(range(len(candidates)), key=lambda k: (scores[k], -k))
    at = next(k for k in range(best + 1) if k == best or _is_as_close(text, candidates, scores, k, best))
    at = _advance_to_passage(text, candidates, [scores[best] - score <= NEAR for score in scores], at)
    named = next((k for k in range(at) if candidates[k].is_named and scores[k] >= COPY), at)
    at = at if scores[at] == 1 or _has_its_share(text, candidates, named, at) else named
    base = candidates[at]
    known = fingerprint(base.text)
    others = [candidate for candidate in candidates if candidate.text != base.text]
    beyond = [frozenset(fingerprint(other.text)) - frozenset(known) for other in others]
    heritage = frozenset[str]().union(*beyond)
    parts = cover(frozenset(own) & heritage, beyond)
    heritage |= frozenset[str]().union(*(comments(other.text) for other in others)) - comments(base.text)
    return Origin(base.ref, base.text, scores[at], heritage, tuple(dict.fromkeys(others[k].ref for k in parts)))


def _is_as_close(text: str, candidates: Sequence[Candidate], scores: Sequence[float], k: int, best: int) -> bool:
    """Whether candidate ``k`` nearly ties with ``best`` and ``text`` has at most half of the change between the two.

    Commonplace statements do not count: a text has some ``else`` of its own. Of another statement, ``text`` must have
    one more than the other candidate has.
    """
    if scores[best] - scores[k] > NEAR:
        return False
    own, old, new = _list_telling(text, candidates, k, best)
    added, removed = new - old, old - new
    taken, left = (added & (own - old)).total(), (removed & (own - new)).total()
    return taken <= added.total() - taken + left


def _has_its_share(text: str, candidates: Sequence[Candidate], k: int, later: int) -> bool:
    """Whether ``text`` has more than half as large a share of what a later candidate added as of candidate ``k``."""
    own, old, new = _list_telling(text, candidates, k, later)
    added, share = new - old, (own & old).total() / max(1, old.total())
    return 2 * (added & (own - old)).total() > share * added.total()


def _list_telling(text: str, candidates: Sequence[Candidate], k: int, later: int) -> list[Fingerprint]:
    """Return the fingerprints of ``text`` and two candidates without commonplace statements."""
    texts = (text, candidates[k].text, candidates[later].text)
    common = {node.canon for one in texts for node in list_nodes(one) if not node.is_telling}
    return [_without(_fingerprint_without_elif(one), common) for one in texts]


def _without(counts: Fingerprint, common: Collection[str]) -> Fingerprint:
    return Counter({canon: times for canon, times in counts.items() if canon not in common})


def _advance_to_passage(text: str, candidates: Sequence[Candidate], is_near: Sequence[bool], at: int) -> int:
    """Return the index of a nearly tied candidate after ``at`` that introduced a passage of ``text``, else ``at``.

    Applies only if ``text`` lacks most of candidate ``at``: the shorter candidate then scores higher whatever ``text``
    has of either. ``text`` must have nothing that the later candidate removed.
    """
    own = _fingerprint_without_elif(text)
    for k in range(at + 1, len(candidates)):
        old, new = (_fingerprint_without_elif(candidates[index].text) for index in (at, k))
        is_rest = 2 * (old & own).total() < old.total()
        if is_near[k] and is_rest and not (old - new) & own and _is_first_with_passage(text, candidates, k):
            at = k
    return at


def _is_first_with_passage(text: str, candidates: Sequence[Candidate], k: int) -> bool:
    """Whether candidate ``k`` introduced at least ``FEWEST`` statements and comments in a row that ``text`` has, one of
    them a statement.

    If ``text`` lacks what stands between them, they may be omni's own form of the passage, ported from a GPU twin.
    """
    earlier = [one.text for one in candidates[:k]]
    past = frozenset[str]().union(*(_fingerprint_without_elif(one).keys() | comments(one) for one in earlier))
    own = (_fingerprint_without_elif(text).keys() | comments(text)) - past
    run = list[Node]()
    for node in list_nodes(candidates[k].text):
        if _canon_without_elif(node.text.strip() if node.is_comment else node.canon) in own:
            run.append(node)
        elif node.is_comment or node.is_telling:
            run = []
        if len(run) >= FEWEST and not all(one.is_comment for one in run):
            return True
    return False


def _fingerprint_without_elif(text: str) -> Fingerprint:
    """Return the fingerprint with ``elif`` read as ``if``: omni may have put its own branch in front of upstream's
    first one."""
    known = fingerprint(text)
    if not any(canon.startswith("elif ") for canon in known):
        return known
    found = Fingerprint()
    for canon, count in known.items():
        found[_canon_without_elif(canon)] += count
    return found


def _canon_without_elif(canon: str) -> str:
    return canon.removeprefix("el") if canon.startswith("elif ") else canon


def classify(text: str, origin: Origin | None, *, owner: str = "", is_locked: bool = False) -> Lineage:
    """Return whether a unit is a copy, a thin override or omni's own. ``owner`` is the upstream class.

    A unit whose origin ``is_locked`` was a copy when the lock was written, so only a call of its parent's method, with
    which somebody may have replaced the copied body since, lets its similarity decide.

    A method that calls its parent's method is a wrapper with a body of its own, unless it is nearly identical to
    upstream. In real upgrades people carried 90 … 99 % of the upstream changes into copies and none into wrappers. If
    the upstream method calls its parent's method as well, a copy does so too; then only the other statements are
    compared, unless the unit calls the method of ``owner`` itself.
    """
    if origin is None:
        return "own"
    own, upstream = fingerprint(text), fingerprint(origin.text)
    if parents := _find_parents(text):
        is_alike = owner not in parents and _find_parents(origin.text)
        likeness = (
            dice(_fingerprint_around_parent(text), _fingerprint_around_parent(origin.text))
            if is_alike
            else origin.similarity
        )
        return "copy" if likeness >= WRAPPER else "override"
    if is_locked:
        return "copy"
    is_copy = origin.similarity >= (COPY_SHORT if own.total() < SHORT else COPY)
    shared = (own & upstream).total()
    is_part = shared >= max(PART, own.total() * PART_SHARE) or _is_cut_out(text, upstream)
    return "copy" if is_copy or is_part else "override"


def _is_cut_out(text: str, upstream: Fingerprint) -> bool:
    """Whether at least ``CUT_OUT`` of a method's telling statements, and at least ``FEWEST``, are upstream
    statements."""
    telling = [node.canon for node in list_nodes(text)[1:] if node.is_telling and node.keyword != "return"]
    shared = sum(canon in upstream for canon in telling)
    return shared >= max(FEWEST, len(telling) * CUT_OUT)


def _find_parents(text: str) -> frozenset[str]:
    """Return the classes (or ``super()``) whose method of the same name this method calls."""
    return frozenset(parent for parent, _ in _find_parent_calls(text))


def _fingerprint_around_parent(text: str) -> Fingerprint:
    """Return the fingerprint of a method without its signature, its returns and the call of its parent's method."""
    lines = {call.lineno for _, call in _find_parent_calls(text)}
    rest = [node for node in list_nodes(text)[1:] if node.is_telling and node.keyword != "return"]
    return Counter(node.canon for node in rest if lines.isdisjoint(range(node.start, node.start + len(node.lines))))


def _find_parent_calls(text: str) -> Sequence[tuple[str, ast.Call]]:
    function = first_function(text)
    return parent_calls(function, function.name) if function is not None else ()
