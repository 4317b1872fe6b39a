"""Suites that upstream removed though omni has something of its own in them.

Comes in: a ``Weave`` whose removals are settled. Goes out: ``Doubt`` values; what stays after all, and what stays out
for it, is marked. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.confidence import CONTESTED, REBUILT
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, any_node, is_loop
from runner_sync.statements import below


def loops_with_additions(weave: Weave, strands: Sequence[Strand], *, replaced: bool) -> list[Doubt]:
    """Loops that upstream removed though omni had added to them: what stood in a loop makes no sense outside of it.

    The loop stays around omni's additions where upstream's work is ``replaced`` by what it puts in its place, and as a
    whole, without a replacement, where it is not.
    """
    doubts = []
    for index, strand in enumerate(weave.of_omni):
        if strand.kept or strand.sides != "bo" or not is_loop(weave, strand):
            continue
        inside = [weave.of_omni[k] for k in below(weave.omni, index)]
        if not any(s.sides == "o" and s.kept and not any_node(weave, s).is_comment for s in inside):
            continue
        strand.kept = True
        for member in inside:
            member.kept = member.kept or not replaced
        left_out = () if replaced else tuple(_leave_out_replacement(weave, strands, strand))
        doubts.append(Doubt(strand, Reason("loop with additions removed"), REBUILT, left_out=left_out))
    return doubts


def suites_with_edits(
    weave: Weave, strands: Sequence[Strand], doubts: Sequence[Doubt], *, replaced: bool
) -> list[Doubt]:
    """The doubts, once blocks that upstream removed and inside which an edit of omni's stays are kept as they were.

    An edited statement alone would run where it never ran: without its condition, and without what stood before it.
    Where upstream's work is not ``replaced`` by what it puts in its place, that stays out.
    """
    doubts = list(doubts)
    for index, strand in enumerate(weave.of_omni):
        if strand.kept or strand.sides != "bo" or not weave.omni[index].compound or weave.omni[index].is_clause:
            continue
        inside = [weave.of_omni[k] for k in below(weave.omni, index)[1:]]
        edited = [other for other in inside if other.sides == "bo" and other.kept]
        if not edited or any(other.sides == "bou" for other in inside):
            continue
        for member in (strand, *inside):
            member.kept = True
        left_out = () if replaced else tuple(_leave_out_replacement(weave, strands, strand))
        doubts = [doubt for doubt in doubts if not any(doubt.strand is member for member in inside)]
        doubts.append(Doubt(strand, Reason("edited block removed"), CONTESTED, left_out=left_out))
    return doubts


def _leave_out_replacement(weave: Weave, strands: Sequence[Strand], strand: Strand) -> list[Strand]:
    """Leave out what upstream has in the place of a suite that stays, and return the new statements among it."""
    run = _run_of(strands, strand)
    new = [other for other in run if other.sides == "u" and other.kept and not any_node(weave, other).is_comment]
    for other in run:
        other.kept = other.omni is not None and other.kept
    return new


def _run_of(strands: Sequence[Strand], strand: Strand) -> list[Strand]:
    """The strands around one, up to the next that both omni and upstream have."""
    at = next(k for k, other in enumerate(strands) if other is strand)
    both = [k for k, other in enumerate(strands) if other.omni is not None and other.upstream is not None]
    first = max((k for k in both if k < at), default=-1) + 1
    return list(strands[first : min((k for k in both if k > at), default=len(strands))])
