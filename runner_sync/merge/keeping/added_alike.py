"""Leave out what both sides added at one place, if the weave has it as two strands.

Comes in: a weave that is being settled. Goes out: ``Doubt`` values; upstream's strand of the two is marked as left out.
May touch: ``kept`` of the strands.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.confidence import INFERRED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.matching.classify import find_gaps, is_one_strand
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements import ROOT, Node


def leave_out_added_alike(settling: Settling) -> None:
    """Leave out upstream's copy of a statement that both sides added at one place; else it would stand twice.

    The sides added it in a different order, or one of them under a new condition. If omni tests what upstream asserts
    (``if kv is not None:``, ``assert kv is not None``), the assertion is left out too. Skips statements inside a new
    loop, and those that a side added more than once.
    """
    weave = settling.weave
    for o, u in find_gaps(weave):
        added_by_omni, added_by_upstream = _index_additions(weave, o, "o"), _index_additions(weave, u, "u")
        for canon in [canon for canon in added_by_omni if canon in added_by_upstream]:
            (first, *others), (second, *more) = added_by_omni[canon], added_by_upstream[canon]
            if others or more:
                continue
            (*own, above), (*new, over) = (
                _find_own_heads(weave, first, "o"),
                _find_own_heads(weave, second, "u"),
            )
            heads = [*(weave.omni[k] for k in own), *(weave.upstream[k] for k in new)]
            if not is_one_strand(weave, above, over) or any(head.is_loop for head in heads):
                continue
            asserted = _find_assertions(weave, heads, second)
            for strand in (weave.of_upstream[second], *asserted):
                strand.kept = False
            reason = (
                Reason("both added under other conditions", tuple(head.canon for head in heads))
                if heads
                else Reason("both added in another order")
            )
            settling.doubts.append(Doubt(weave.of_upstream[second], reason, INFERRED, left_out=asserted))


def _find_own_heads(weave: Weave, index: int, side: str) -> list[int]:
    """Return the heads around a statement that only its side has, innermost first, then the first other head."""
    nodes, strands = weave.side(side)
    heads = [nodes[index].parent]
    while heads[-1] != ROOT and strands[heads[-1]].sides == side:
        heads.append(nodes[heads[-1]].parent)
    return heads


def _find_assertions(weave: Weave, heads: Sequence[Node], index: int) -> tuple[Strand, ...]:
    """Return upstream's new ``assert`` of the test of an ``if`` among ``heads``, in the suite of ``index``.

    Where that test may fail, the assertion would fail too.
    """
    asked = {f"assert {head.canon.removeprefix('if ')}" for head in heads if head.keyword == "if"}
    suite = weave.upstream[index].parent
    return tuple(
        strand
        for node, strand in zip(weave.upstream, weave.of_upstream, strict=True)
        if node.parent == suite and strand.sides == "u" and node.canon in asked
    )


def _index_additions(weave: Weave, places: range, side: str) -> dict[str, list[int]]:
    """Return ``{canonical text: indices}`` of the kept, telling simple statements that one side alone has."""
    nodes, strands = weave.side(side)
    found: dict[str, list[int]] = {}
    for k in places:
        node = nodes[k]
        if strands[k].sides == side and strands[k].kept and node.is_telling and not node.compound:
            found.setdefault(node.canon, []).append(k)
    return found
