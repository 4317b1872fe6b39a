"""Recognise blocks that omni removed among upstream's additions: upstream moved them, or they have grown.

Comes in: a weave, before or after it is settled. Goes out: ``Doubt`` values; left-out strands are marked. May touch:
``kept`` of the strands.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, find_nearest_sibling, strands_inside
from runner_sync.statements import Node, below, clauses, said


def find_returned(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about blocks that omni removed and that came in again, because upstream has them elsewhere now."""
    sides = ((weave.base, weave.of_base), (weave.upstream, weave.of_upstream))
    old, new = (
        [(said(nodes, [k]), strands[k]) for k in range(len(nodes)) if nodes[k].compound] for nodes, strands in sides
    )
    removed = {block for block, strand in old if strand.sides == "b"}
    alive = set(kept)
    back = [
        strand
        for block, strand in new
        if strand.sides == "u" and strand in alive and any(_has_grown(block, old_one) for old_one in removed)
    ]
    return [Doubt(strand, Reason("removed block came back"), CONTESTED) for strand in back]


def leave_out_stayed_blocks(settling: Settling) -> None:
    """Leave out blocks that omni removed and that look new in upstream only because other statements moved past them.

    Such a block still stands before or behind the same statement as in the base; if it has grown, there is a doubt.
    """
    weave = settling.weave
    removed = [
        (said(weave.base, [k]), _find_neighbours(weave.base, k), strand)
        for k, strand in enumerate(weave.of_base)
        if strand.sides == "b" and weave.base[k].compound
    ]
    for k, strand in enumerate(weave.of_upstream):
        if strand.sides != "u" or not weave.upstream[k].compound:
            continue
        block, (before, behind) = said(weave.upstream, [k]), _find_neighbours(weave.upstream, k)
        same = [(other, was) for other, (first, last), was in removed if before == first != "" or behind == last != ""]
        stayed, was = next((pair for pair in same if _has_grown(block, pair[0])), ((), strand))
        if not stayed:
            continue
        for inside in strands_inside(weave, strand, "u"):
            inside.kept = False
        if block != stayed:
            settling.doubts.append(Doubt(was, _choose_reason(weave, k, stayed), CONTESTED, instead=strand))


def _choose_reason(weave: Weave, index: int, old: Sequence[str]) -> Reason:
    """Return what upstream did to a removed block ``old`` that has grown: it added only branches, or statements."""
    nodes = weave.upstream
    new = {k for clause in clauses(nodes, index) if nodes[clause].canon not in old for k in below(nodes, clause)}
    rest = tuple(nodes[k].canon for k in below(nodes, index) if k not in new and not nodes[k].is_comment)
    is_branch = nodes[index].keyword == "if" and rest == tuple(old)
    return Reason("branch of a removed condition" if is_branch else "addition to a removed block")


def _has_grown(block: Sequence[str], old: Sequence[str]) -> bool:
    """Whether ``block`` has the same head as ``old`` and everything inside it, in order, with or without more."""
    rest = iter(block)
    return block[0] == old[0] and len(old) > 1 and all(canon in rest for canon in old)


def _find_neighbours(nodes: Sequence[Node], index: int) -> tuple[str, str]:
    """Return the texts before and behind a statement in its suite, empty where nothing stands.

    For an assigned call, only the targets and the function count, so that changed arguments do not matter.
    """

    def nearest(step: int) -> str:
        k = find_nearest_sibling(nodes, index, step)
        return "" if k is None else nodes[k].made_by or nodes[k].canon

    return nearest(-1), nearest(1)
