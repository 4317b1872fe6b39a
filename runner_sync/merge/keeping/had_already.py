"""Leave out upstream's additions that omni already has at another place of the suite, where they stay.

Omni's statement may also stand outside a ``with`` that is around upstream's.

Comes in: a weave that is being settled. Goes out: ``Doubt`` values; left-out strands are marked. May touch: ``kept`` of
the strands.

The pass runs only in a port, because the GPU twin and the NPU method may do the same work in another order::

    omni        if self.state is not None:      upstream    self.begin(rows)
                    raise StateError                        if self.state is not None:
                self.begin(rows)                                raise StateError

                self.begin(rows)                    with self.lock():
                with self.lock():                       self.begin(rows)
                    self.send(rows)                     self.send(rows)

An addition that follows the same statement on both sides needs no question: others stand in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from runner_sync.confidence import INFERRED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.matching.classify import is_one_strand
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import (
    Doubt,
    Strand,
    Weave,
    find_nearest_sibling,
    index_omni_only,
    pick_node,
    strands_inside,
)
from runner_sync.statements import EXITS, Node, ancestors, said
from runner_sync.statements.dataflow import binds, reads

UNIQUE = EXITS | {"yield"}
"""Keywords of statements that are never duplicates, because each leaves, or yields, at its own place."""


def leave_out_had_already(settling: Settling) -> None:
    """Leave out each upstream addition that omni has as its own, if both sides have it exactly once."""
    if settling.terms.policy.is_copy:
        return
    found = _drop_read(settling.weave, _find_on_both_sides(settling.weave))
    for inside in found.values():
        for strand in inside:
            strand.kept = False
    asked = [strand for strand in found if not _has_same_predecessor(settling.weave, strand)]
    settling.doubts += [Doubt(strand, _choose_reason(settling.weave, strand), INFERRED) for strand in asked]


def _has_same_predecessor(weave: Weave, strand: Strand) -> bool:
    """Whether the statement before an addition in its suite is the same on both sides, under the same heads."""
    own = index_omni_only(weave)[weave.upstream[strand.in_upstream].canon]
    o, u = own.in_omni, strand.in_upstream
    before, before_there = find_nearest_sibling(weave.omni, o, -1), find_nearest_sibling(weave.upstream, u, -1)
    if before is None or before_there is None or weave.omni[before].canon != weave.upstream[before_there].canon:
        return False
    return is_one_strand(weave, weave.omni[o].parent, weave.upstream[u].parent)


def _choose_reason(weave: Weave, strand: Strand) -> Reason:
    """Return the reason: omni has the addition in another order, or under other ``with`` heads, which are named."""
    own = index_omni_only(weave)[weave.upstream[strand.in_upstream].canon]
    upstream = {weave.of_upstream[k]: k for k in _find_withs(weave.upstream, strand.in_upstream)}
    omni = {weave.of_omni[k]: k for k in _find_withs(weave.omni, own.in_omni)}
    heads = [pick_node(weave, head).canon for head in upstream.keys() ^ omni.keys()]
    return (
        Reason("both added under other conditions", tuple(sorted(heads)))
        if heads
        else Reason("both added in another order")
    )


def _find_on_both_sides(weave: Weave) -> dict[Strand, list[Strand]]:
    """Return ``{addition: it and all inside it}`` for upstream's additions that omni has in the same suite."""
    omni_alone = index_omni_only(weave)
    counted = Counter(node.canon for node in weave.upstream)
    found: dict[Strand, list[Strand]] = {}
    taken: set[Strand] = set()
    for k, (node, strand) in enumerate(zip(weave.upstream, weave.of_upstream, strict=True)):
        other = omni_alone.get(node.canon)
        if other is None or strand.sides != "u" or not strand.kept or strand in taken or counted[node.canon] > 1:
            continue
        is_same = said(weave.upstream, [k]) == said(weave.omni, [other.in_omni])
        is_here = _are_in_one_suite(weave, other.in_omni, k)
        inside = strands_inside(weave, strand, "u")
        if is_same and is_here and node.keyword not in UNIQUE and all(s.sides == "u" for s in inside):
            found[strand] = inside
            taken |= set(inside)
    return found


def _are_in_one_suite(weave: Weave, o: int, u: int) -> bool:
    """Whether two statements stand in one suite, or would without the ``with`` heads around them.

    A new ``with`` of upstream's is not ignored, because it would be around nothing.
    """
    omni_withs, upstream_withs = _find_withs(weave.omni, o), _find_withs(weave.upstream, u)
    if any(weave.of_upstream[k].omni is None for k in upstream_withs):
        return is_one_strand(weave, weave.omni[o].parent, weave.upstream[u].parent)
    return is_one_strand(
        weave, weave.omni[[o, *omni_withs][-1]].parent, weave.upstream[[u, *upstream_withs][-1]].parent
    )


def _find_withs(nodes: Sequence[Node], index: int) -> list[int]:
    """Return the ``with`` heads directly around a statement, innermost first."""
    return [*takewhile(lambda head: nodes[head].is_with, ancestors(nodes, index))]


def _drop_read(weave: Weave, found: dict[Strand, list[Strand]]) -> dict[Strand, list[Strand]]:
    """Drop additions from ``found`` that set a local which a remaining addition reads.

    That addition might come to stand above omni's statement, and read the local before it is set.
    """
    while True:
        out = {strand for inside in found.values() for strand in inside}
        coming = [s for s in weave.of_upstream if s.sides == "u" and s.kept and s not in out]
        read = {name for strand in coming for name in reads(weave.upstream[strand.in_upstream])}
        left = {
            strand: inside
            for strand, inside in found.items()
            if not any(binds(weave.upstream[s.in_upstream]) & read for s in inside)
        }
        if len(left) == len(found):
            return found
        found = left
