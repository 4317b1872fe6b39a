"""Find the statements that upstream has in place of others, between the same neighbours.

Comes in: nodes of base and upstream, and which of them are paired. Goes out: indices. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner_sync.statements import ROOT, Node, below, said, siblings


def find_successors(
    base: Sequence[Node], upstream: Sequence[Node], was: Sequence[int], in_upstream: Mapping[int, int]
) -> list[int]:
    """Return the statements that upstream has in place of others, between their neighbours; none if that is unclear."""
    above, under = (
        next((k for k in siblings(base, end, step=step) if not base[k].is_comment), ROOT)
        for end, step in ((was[0], -1), (was[-1], 1))
    )
    if above not in in_upstream or (under != ROOT and under not in in_upstream):
        return []
    first, last = in_upstream[above], in_upstream.get(under, len(upstream))
    if under != ROOT and upstream[first].parent != upstream[last].parent:
        return []
    inside = {k for top in was for k in below(base, top)}
    taken = {right for left, right in in_upstream.items() if left not in inside}
    new = [k for k in siblings(upstream, first, step=1) if k < last and not upstream[k].is_comment]
    there = {k for top in new for k in below(upstream, top)}
    is_elsewhere = any(in_upstream[k] not in there for k in inside & in_upstream.keys())
    return [] if is_elsewhere or not there.isdisjoint(taken) or said(base, was) == said(upstream, new) else new
