"""Ways out of a method that upstream added, where omni had made its own of the same ones.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values. May touch: nothing.

What omni hands out or cleans up at each early ``return`` it cannot have put at one that upstream had not got yet, and
nothing fails there: the result is only a little less than at the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.confidence import CONTESTED
from runner_sync.merge.contents import DISTINCT
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, any_node
from runner_sync.statements import Node


def added_exits(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """New ``return`` statements of upstream's that return what omni returns in another way wherever the base did."""
    theirs = {node.canon for node in weave.base if _is_exit(node)} - {node.canon for node in weave.omni}
    doubts = []
    for strand in kept:
        node = any_node(weave, strand)
        if strand.sides == "u" and node.canon in theirs:
            doubts.append(Doubt(strand, Reason("exit that omni has otherwise"), CONTESTED))
    return doubts


def _is_exit(node: Node) -> bool:
    return node.canon.startswith("return ") and node.weight >= DISTINCT
