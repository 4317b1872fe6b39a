"""Find upstream's new ``return`` statements that omni writes otherwise.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values. May touch: nothing.

If omni changed every ``return`` to return more or to clean up, a new upstream ``return`` lacks that change. Nothing
fails, but the result is incomplete there.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, pick_node
from runner_sync.statements import Node
from runner_sync.thresholds import DISTINCT


def find_added_exits(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about new upstream ``return`` statements whose text the base has and omni has nowhere.

    Omni changed every ``return`` with that text.
    """
    changed = {node.canon for node in weave.base if _is_distinct_return(node)} - {node.canon for node in weave.omni}
    doubts = []
    for strand in kept:
        node = pick_node(weave, strand)
        if strand.sides == "u" and node.canon in changed:
            doubts.append(Doubt(strand, Reason("exit that omni has otherwise"), CONTESTED))
    return doubts


def _is_distinct_return(node: Node) -> bool:
    return node.keyword == "return" and node.weight >= DISTINCT
