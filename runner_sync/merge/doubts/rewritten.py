"""Find clauses that both sides filled with something else, so that what stands there now is neither side's.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.placing.clauses import REWRITTEN
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements import in_suite


def find_rewritten(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """A doubt about each clause that was joined whatever is inside, if something of both sides stays and nothing of it
    is the same."""
    return [
        Doubt(strand, REWRITTEN, CONTESTED)
        for strand in kept
        if strand in weave.joined and _has_nothing_shared(weave, strand)
    ]


def _has_nothing_shared(weave: Weave, clause: Strand) -> bool:
    mine, theirs = (_find_kept_inside(weave, clause, side) for side in "ou")
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _find_kept_inside(weave: Weave, clause: Strand, side: str) -> set[Strand]:
    """The statements directly under a clause on one side that stay, wherever."""
    nodes, strands = weave.side(side)
    return {strands[k] for k in in_suite(nodes, clause.on(side)) if strands[k].kept}
