"""New early ``return``s of upstream where omni's own return something else, and ``break``/``continue`` left without a
loop.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values; what leaves no loop is marked. May touch:
``kept`` of the strands.

What omni hands out or cleans up at each early ``return`` it cannot have put at one that upstream had not got yet, and
nothing fails there: the result is only a little less than at the others.

A ``break`` outside of any loop is no Python: where omni has emptied or removed the loop, what upstream adds to leave it
stays out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.phrases.contents import DISTINCT
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


def out_of_no_loop(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Leave out each ``break`` and ``continue`` that no loop is around, with the suites that hold nothing else."""
    inside = Counter(s.parent for s in kept if s.parent is not None and not any_node(weave, s).is_comment)
    inside.update(s.owner for s in kept if s.owner is not None)
    doubts = []
    for strand in kept:
        if not _leaves_a_loop(any_node(weave, strand)) or _is_in_loop(weave, strand):
            continue
        strand.kept, outermost = False, strand
        while (above := outermost.parent) is not None and inside[above] == 1:
            above.kept, outermost = False, above
        if outermost.parent is not None:
            inside[outermost.parent] -= 1
        doubts.append(Doubt(outermost, Reason("exit of no loop"), CONTESTED))
    return doubts


_OUT_OF_A_LOOP = re.compile(r"^ *(?:break|continue)$", re.MULTILINE)
"""A statement on a line of its own, which it is in canonical text wherever it stood."""


def _leaves_a_loop(node: Node) -> bool:
    return not node.is_comment and not node.is_loop and _OUT_OF_A_LOOP.search(node.canon) is not None


def _is_in_loop(weave: Weave, strand: Strand) -> bool:
    """Whether a loop is around a statement, in the function that it stands in; the ``else`` of one is outside of it."""
    above = strand.parent
    while above is not None and not any_node(weave, above).defines:
        if any_node(weave, above).is_loop:
            return True
        above = (above.owner or above).parent
    return False


def _is_exit(node: Node) -> bool:
    return node.keyword == "return" and node.weight >= DISTINCT
