"""Ask about upstream's new block at the statement of omni's that the block would be around.

Comes in: a ``Weave`` and doubts. Goes out: the doubts. May touch: nothing.

    base      rows, marks = self.extract(out)       upstream   if self.is_pooling:
    omni      rows, marks = self.extract(rows)                     marks = None
                                                               else:
                                                                   rows, marks = self.extract(out)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.merge.placing.pruning import HOLLOW, PARTIAL
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements import below, clauses

_AROUND = (HOLLOW, Reason("addition to a removed block"))
"""Reasons to leave out a new block; what it is around does not count as omni's, because the arguments differ."""


def ask_at_same_calls(weave: Weave, doubts: Sequence[Doubt]) -> list[Doubt]:
    """Move doubts about a left-out block, which is around one old statement, to omni's form of that statement.

    Both must give the same names what the same function returns, and no other statement of omni's may do so. Drops the
    doubts about the clauses of such a block, because the question shows the whole block.
    """
    found = {d.strand: own for d in doubts if d.reason in _AROUND and (own := _find_own(weave, d.strand)) is not None}
    inside = {weave.of_upstream[k] for strand in found for k in clauses(weave.upstream, strand.in_upstream)}
    return [
        replace(doubt, reason=PARTIAL, instead=found[doubt.strand]) if doubt.strand in found else doubt
        for doubt in doubts
        if doubt.strand not in inside
    ]


def _find_own(weave: Weave, block: Strand) -> Strand | None:
    """Return omni's own form of the only old statement in a new block of upstream's."""
    if block.sides != "u" or block.kept or weave.upstream[block.in_upstream].is_clause:
        return None
    inside = [
        weave.upstream[k] for k in below(weave.upstream, block.in_upstream) if weave.of_upstream[k].base is not None
    ]
    made = inside[0].made_by if len(inside) == 1 else ""
    own = [s for node, s in zip(weave.omni, weave.of_omni, strict=True) if made and node.made_by == made]
    return own[0] if len(own) == 1 and own[0].sides == "o" and own[0].kept else None
