"""Pairs of what says nothing by itself: ``try``, ``else``, and ``break``, ``continue``, ``pass``, ``return``.

Comes in: two node sequences and the pairs of their nodes. Goes out: the pairs with others of such statements. May
touch: nothing.

Every ``try`` reads the same. Two are one where something inside of them is; two ``break`` are, where they stand in the
same suite, or one of them in what was put around it there::

    base        if is_last(row):        upstream    if is_last(row):
                    break                               note(row)
                pack(row)                               break
                                                    if is_late(row):
                                                        break
                                                    pack(row)
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.statements import ROOT, Node, enclosing


@dataclass(frozen=True, slots=True)
class Pair:
    """``left`` and ``right`` are indices; ``equal`` is whether the canonical texts are the same."""

    left: int
    right: int
    equal: bool


def by_what_is_around_and_inside(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, increasing on both sides, with those of commonplace statements that belong together."""
    others = [pair for pair in pairs if not _is_head(left[pair.left])]
    pairs = with_more(others, _heads(left, right, pairs))
    partners = {ROOT: ROOT} | {pair.left: pair.right for pair in pairs}
    sides = (left, partners), (right, {j: i for i, j in partners.items()})
    pairs = [pair for pair in pairs if not leaves(left[pair.left]) or _in_one_suite(*sides, pair)]
    return with_more(pairs, _exits(left, right, pairs))


def with_clauses(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with the equal clauses of two statements that are one: of several ``else`` another one was nearer."""
    paired = {pair.left: pair.right for pair in pairs}
    partners = set(paired.values())
    theirs = {(node.owner, node.canon): k for k, node in enumerate(right) if node.is_clause and k not in partners}
    keys = {k: (paired.get(node.owner, ROOT), node.canon) for k, node in enumerate(left) if node.is_clause}
    found = [Pair(k, theirs[key], equal=True) for k, key in keys.items() if k not in paired and key in theirs]
    return with_more(pairs, found)


def is_commonplace(node: Node) -> bool:
    """Whether a statement is one of these; a clause is paired with its statement."""
    return _is_head(node) or _is_exit(node)


def _is_head(node: Node) -> bool:
    return node.canon == "try" and node.compound


def _is_exit(node: Node) -> bool:
    return node.kind == "statement" and not node.is_telling and not node.compound


def leaves(node: Node) -> bool:
    """Whether a statement is an exit, or gives back a local, which many suites end in: what it is called tells little
    about which of them."""
    return _is_exit(node) or _OF_A_LOCAL.match(node.canon) is not None


_OF_A_LOCAL = re.compile(r"return \w+$")


def _is_telling(node: Node) -> bool:
    return node.is_telling and not node.is_clause


def _heads(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """The ``try`` that have the most in common, each with one other; two of which one is around nothing that tells
    anything remain the pair that they were."""
    shared = Counter(
        (i, j)
        for pair in pairs
        if _is_telling(left[pair.left])
        for i in _tried(left, pair.left)
        for j in _tried(right, pair.right)
    )
    before = [(pair.left, pair.right) for pair in pairs if _is_head(left[pair.left])]
    full, others = (
        {i for k, node in enumerate(side) if _is_telling(node) for i in _tried(side, k)} for side in (left, right)
    )
    found = sorted(shared, key=lambda pair: (-shared[pair], pair not in before, pair))
    found += [(i, j) for i, j in before if i not in full or j not in others]
    taken: dict[int, int] = {}
    for i, j in found:
        if i not in taken and j not in taken.values():
            taken[i] = j
    return [Pair(i, j, equal=True) for i, j in taken.items()]


def _tried(nodes: Sequence[Node], index: int) -> Iterator[int]:
    """The ``try`` around a statement, also where it is in a clause of one."""
    return (k for k in enclosing(nodes, index) if _is_head(nodes[k]))


_Side = tuple[Sequence[Node], Mapping[int, int]]
"""Nodes, and those that some of them are paired with."""


def _in_one_suite(left: _Side, right: _Side, pair: Pair) -> bool:
    """Whether the suite of one of two statements has a partner, and the other one is in that, at any depth in what is
    new there. Or neither has one, and the two heads stand in one suite: a condition that was replaced as a whole."""
    (mine, of_mine), (theirs, of_theirs) = left, right
    a, b = mine[pair.left].parent, theirs[pair.right].parent
    if a not in of_mine and b not in of_theirs:
        return of_mine.get(mine[a].parent) == theirs[b].parent
    return _known_around(theirs, b, of_theirs) == of_mine.get(a) or _known_around(mine, a, of_mine) == of_theirs.get(b)


def _known_around(nodes: Sequence[Node], suite: int, partners: Mapping[int, int]) -> int:
    """The innermost head, of a suite and those around it, that has a partner."""
    while suite not in partners:
        suite = nodes[suite].parent
    return suite


def _exits(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """The exits without a partner that stand in one suite, where that has only one such exit on either side."""
    paired = {ROOT: ROOT} | {pair.left: pair.right for pair in pairs}
    partners = set(paired.values())
    mine = [k for k, node in enumerate(left) if k not in paired and node.parent in paired and _is_exit(node)]
    theirs = [k for k, node in enumerate(right) if k not in partners and node.parent in partners and _is_exit(node)]
    places = _only_of_their_text((right[k].parent, right[k].canon, k) for k in theirs)
    found = _only_of_their_text((paired[left[k].parent], left[k].canon, k) for k in mine)
    return [Pair(k, places[key], equal=True) for key, k in found.items() if key in places]


def _only_of_their_text(rows: Iterable[tuple[int, str, int]]) -> dict[tuple[int, str], int]:
    """The places of exits of which a suite has only one of their text."""
    found: dict[tuple[int, str], list[int]] = {}
    for suite, canon, place in rows:
        found.setdefault((suite, canon), []).append(place)
    return {key: places[0] for key, places in found.items() if len(places) == 1}


def with_more(pairs: Sequence[Pair], more: Sequence[Pair]) -> list[Pair]:
    """The pairs with those of ``more`` that leave them increasing on both sides."""
    out = list(pairs)
    for pair in more:
        at = bisect_left(out, pair.left, key=lambda one: one.left)
        is_behind = at == 0 or out[at - 1].right < pair.right
        if is_behind and (at == len(out) or pair.right < out[at].right):
            out.insert(at, pair)
    return out
