"""Keep omni's pairs of rulers (``# --- Omni-new ---``) around the block that they mark.

Comes in: a ``Weave`` and its merged suites. Goes out: the suites, with rulers moved or removed. May touch: nothing.

Two rulers in one suite of omni's enclose a block. If upstream put a new suite around a part of it, both rulers go into
the suite with their block; upstream's own statements at either end of the block go outside the rulers; and a pair with
nothing left in between is removed. Two rulers without a statement of omni's in between are left alone: they are the end
of one block and the start of the next, after a ruler that somebody forgot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner_sync.merge.weave import Strand, Weave, any_node
from runner_sync.rulers import is_drawn

Suites = Mapping[Strand | None, list[Strand]]


def enclose_their_block(weave: Weave, children: Suites, clauses: Suites, *, is_copy: bool) -> None:
    """Put the rulers of every pair around its block, in place. In a copy, upstream's statements at either end of it go
    outside."""
    for first, last in list(pairs(weave)):
        home = {strand: suite for suite in children.values() for strand in suite}
        opening, closing = weave.of_omni[first], weave.of_omni[last]
        block = [weave.of_omni[k] for k in range(first + 1, last)]
        is_omnis = any(strand.sides == "o" and not any_node(weave, strand).is_comment for strand in block)
        if opening not in home or closing not in home or not is_omnis:
            continue
        _bring_together(weave, home, opening, closing, block)
        suite = home[opening]
        if suite is not home[closing] or suite.index(opening) > suite.index(closing):
            continue
        if suite.index(closing) == suite.index(opening) + 1:
            suite.remove(opening)
            suite.remove(closing)
        elif is_copy:
            _tighten(weave, suite, opening, closing, children, clauses)


def pairs(weave: Weave) -> Iterator[tuple[int, int]]:
    """``(opening, closing)`` indices of the rulers that omni alone has, paired in order within each suite."""
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
    """Put two rulers into one suite: that of the closing one, if it has a part of the block, else the opening one's."""
    before, after = home[opening], home[closing]
    if before is after:
        return
    inside = [strand for strand in block if home.get(strand) is after]
    if inside:
        before.remove(opening)
        after.insert(_above_remarks(weave, after, min(after.index(strand) for strand in inside)), opening)
        home[opening] = after
        return
    inside = [strand for strand in block if home.get(strand) is before]
    if inside:
        after.remove(closing)
        before.insert(max(before.index(strand) for strand in inside) + 1, closing)
        home[closing] = before


def _above_remarks(weave: Weave, suite: list[Strand], at: int) -> int:
    """The index of the first comment directly above the statement ``at``, or of the statement; stops at a ruler."""
    while at and not any_node(weave, suite[at]).blanks:
        above = any_node(weave, suite[at - 1])
        if not above.is_comment or is_drawn(above.text):
            break
        at -= 1
    return at


def _tighten(
    weave: Weave, suite: list[Strand], opening: Strand, closing: Strand, children: Suites, clauses: Suites
) -> None:
    """Move upstream's own statements at either end of a block out of its rulers."""
    start, end = suite.index(opening), suite.index(closing)
    inside = suite[start + 1 : end]
    theirs = [_is_upstreams(strand, children, clauses) for strand in inside]
    if all(theirs):
        return
    head = _above_remarks(weave, inside, theirs.index(False))
    tail = theirs[::-1].index(False)
    body = inside[head : len(inside) - tail]
    suite[start : end + 1] = [*inside[:head], opening, *body, closing, *inside[len(inside) - tail :]]


def _is_upstreams(strand: Strand, children: Suites, clauses: Suites) -> bool:
    """Whether only upstream has a statement and everything inside it."""
    below = [*children.get(strand, []), *clauses.get(strand, [])]
    return strand.sides == "u" and all(_is_upstreams(other, children, clauses) for other in below)
