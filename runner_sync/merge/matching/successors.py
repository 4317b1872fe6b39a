"""Find what upstream now has for an omni statement that is not in the result.

Comes in: a ``Weave`` and the strands to choose from. Goes out: one of these. May touch: nothing.

Sequences are paired in order, so a statement that upstream both moved and edited counts as removed and added.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.weave import Strand, Weave, heads_around, pick_node
from runner_sync.statements import Node
from runner_sync.statements.dataflow import binds, reads
from runner_sync.statements.likeness import VERSION, similarity, word_similarity


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


def find_moved_version(weave: Weave, strand: Strand, new: Sequence[Strand]) -> Strand | None:
    """Return which of one side's ``new`` statements is a base statement, moved and edited, or ``None``.

    Each must be the only version (from ``VERSION`` on) of the other: any further statement that resembles one of them
    leaves it open which came from which.
    """
    node = weave.base[strand.in_base]
    if node.compound or node.is_clause or not node.is_telling:
        return None
    found = [other for other in new if _is_version(node, pick_node(weave, other))]
    if len(found) != 1:
        return None
    now = pick_node(weave, found[0])
    alike = [k for k, other in enumerate(weave.base) if _is_version(other, now)]
    return found[0] if alike == [strand.base] else None


def has_edit_at_hand(weave: Weave, strand: Strand, there: Strand) -> bool:
    """Whether the locals that omni's edit of a statement newly reads are set at a place of upstream's, too.

    What sets them in omni must follow nothing that upstream has behind that place, and stand in no head around the
    statement that upstream does not have around that place.
    """
    names = reads(weave.omni[strand.in_omni]) - reads(weave.base[strand.in_base])
    around = set(heads_around(weave, strand, "o"))
    around_there = set(heads_around(weave, there, "u"))
    for setter in weave.of_omni[: strand.in_omni]:
        if binds(weave.omni[setter.in_omni]).isdisjoint(names):
            continue
        above = weave.of_omni[: setter.in_omni + 1]
        if any(one.upstream is not None and one.upstream >= there.in_upstream for one in above):
            return False
        if not set(heads_around(weave, setter, "o")) & around <= around_there:
            return False
    return True


def _is_version(one: Node, other: Node) -> bool:
    """Whether two simple statements share most words; the same function called for the same name is not enough."""
    return similarity(one, other) >= VERSION and word_similarity(one.canon, other.canon) >= VERSION
