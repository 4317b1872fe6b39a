"""Find what upstream now has for an omni statement that is not in the result.

Comes in: a ``Weave`` and the kept strands. Goes out: one of these. May touch: nothing.

Sequences are paired in order, so a statement that upstream both moved and edited counts as removed and added.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements.likeness import VERSION, similarity


def find_successor(weave: Weave, strand: Strand, kept: Sequence[Strand]) -> Strand | None:
    """Return the upstream statement among ``kept`` that replaces ``strand``, or ``None`` unless there is exactly one.

    It has the same text, or else is the most similar one that upstream added (from ``VERSION`` on).
    """
    node = weave.omni[strand.in_omni]
    there = [s for s in kept if s.upstream is not None and not weave.upstream[s.upstream].is_comment]
    same = [s for s in there if weave.upstream[s.in_upstream].canon == node.canon]
    if same or node.is_clause:
        return same[0] if len(same) == 1 and not node.is_clause else None
    shares = {s: similarity(node, weave.upstream[s.in_upstream]) for s in there if s.sides == "u"}
    best = max(shares.values(), default=0.0)
    alike = [s for s, share in shares.items() if share == best >= VERSION]
    return alike[0] if len(alike) == 1 else None
