"""Keep omni's pairs of rulers (``# --- Omni-new ---``) around their block.

Comes in: a ``Weave`` and its merged suites. Goes out: the suites, with rulers moved or removed. May touch: the suites.

Two rulers in one omni suite enclose a block. If upstream put a new suite around the block or a part of it, both rulers
go into that suite. Upstream's own statements at either end of the block go outside the rulers. A pair with nothing left
in between is removed. Two rulers without an omni statement in between are left alone: they end one block and start the
next, because somebody forgot a ruler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner_sync.merge.weave import Strand, Weave, pick_node
from runner_sync.rulers import is_drawn

Suites = Mapping[Strand | None, list[Strand]]


def enclose_their_block(weave: Weave, children: Suites, clauses: Suites, *, is_copy: bool) -> None:
    """Put the rulers of every pair around its block, in place.

    In a copy, upstream's statements at either end of the block go outside.
    """
    for first, last in list(find_ruler_pairs(weave)):
        home = {strand: suite for suite in children.values() for strand in suite}
        opening, closing = weave.of_omni[first], weave.of_omni[last]
        block = [weave.of_omni[k] for k in range(first + 1, last)]
        is_omnis = any(strand.sides == "o" and not pick_node(weave, strand).is_comment for strand in block)
        if opening not in home or closing not in home or not is_omnis:
            continue
        _bring_together(weave, home, opening, closing, block)
        suite = home[opening]
        if suite is not home[closing] or suite.index(opening) > suite.index(closing):
            continue
        if suite.index(closing) == suite.index(opening) + 1:
            suite.remove(opening)
            suite.remove(closing)
            _follow_block(weave, home, opening, closing, block)
        elif is_copy:
            _move_upstream_outside(weave, suite, opening, closing, children, clauses)


def find_ruler_pairs(weave: Weave) -> Iterator[tuple[int, int]]:
    """Yield the ``(opening, closing)`` indices of rulers that only omni has, paired in order within each suite."""
    waiting: dict[int, int] = {}
    for index, node in enumerate(weave.omni):
        if not node.is_comment or not is_drawn(node.text) or weave.of_omni[index].sides != "o":
            continue
        if node.parent in waiting:
            yield waiting.pop(node.parent), index
        else:
            waiting[node.parent] = index


def _bring_together(
    weave: Weave, home: dict[Strand, list[Strand]], opening: Strand, closing: Strand, block: list[Strand]
) -> None:
    """Put two rulers into one suite: the closing ruler's if it has a part of the block, else the opening ruler's."""
    before, after = home[opening], home[closing]
    if before is after:
        return
    inside = [strand for strand in block if home.get(strand) is after]
    if inside:
        before.remove(opening)
        after.insert(_find_first_remark(weave, after, min(after.index(strand) for strand in inside)), opening)
        home[opening] = after
        return
    inside = [strand for strand in block if home.get(strand) is before]
    if inside:
        after.remove(closing)
        before.insert(max(before.index(strand) for strand in inside) + 1, closing)
        home[closing] = before


def _follow_block(
    weave: Weave, home: Mapping[Strand, list[Strand]], opening: Strand, closing: Strand, block: list[Strand]
) -> None:
    """Put two rulers around what is left of their block, if all of it stands together in one other suite."""
    head = weave.omni[opening.in_omni].parent
    left = [strand for strand in block if strand in home and weave.omni[strand.in_omni].parent == head]
    suite = home[left[0]] if left else []
    places = sorted(suite.index(strand) for strand in left if home[strand] is suite)
    if len(places) == len(left) > 0 and places[-1] - places[0] < len(places):
        suite.insert(places[-1] + 1, closing)
        suite.insert(places[0], opening)


def _find_first_remark(weave: Weave, suite: list[Strand], at: int) -> int:
    """Return the index of the first comment directly above the statement ``at``, else ``at``; stops at a ruler."""
    while at and not pick_node(weave, suite[at]).blanks:
        above = pick_node(weave, suite[at - 1])
        if not above.is_comment or is_drawn(above.text):
            break
        at -= 1
    return at


def _move_upstream_outside(
    weave: Weave, suite: list[Strand], opening: Strand, closing: Strand, children: Suites, clauses: Suites
) -> None:
    """Move upstream's own statements at either end of a block out of its rulers."""
    start, end = suite.index(opening), suite.index(closing)
    inside = suite[start + 1 : end]
    is_upstream = [_is_only_upstream(strand, children, clauses) for strand in inside]
    if all(is_upstream):
        return
    head = _find_first_remark(weave, inside, is_upstream.index(False))
    tail = is_upstream[::-1].index(False)
    body = inside[head : len(inside) - tail]
    suite[start : end + 1] = [*inside[:head], opening, *body, closing, *inside[len(inside) - tail :]]


def _is_only_upstream(strand: Strand, children: Suites, clauses: Suites) -> bool:
    """Whether only upstream has a statement and everything inside it."""
    below = [*children.get(strand, []), *clauses.get(strand, [])]
    return strand.sides == "u" and all(_is_only_upstream(other, children, clauses) for other in below)
