"""Keep suites that upstream removed and that hold omni's edits or additions.

Comes in: a weave that is being settled. Goes out: ``Doubt`` values; kept suites, and what is left out instead, are
marked. May touch: ``kept`` of the strands.
"""

from __future__ import annotations

from runner_sync.confidence import CONTESTED, REBUILT
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, pick_node, split_into_runs, strands_inside
from runner_sync.statements import ROOT


def keep_loops_with_additions(settling: Settling) -> None:
    """Keep a loop that upstream removed and omni had added to, because its body makes no sense outside a loop.

    In a copy, the loop stays around omni's additions only, and upstream's replacement comes in as well. In a port, all
    of the loop stays, and the replacement is left out.
    """
    weave = settling.weave
    for index, strand in enumerate(weave.of_omni):
        if strand.kept or strand.sides != "bo" or not weave.omni[index].is_loop:
            continue
        inside = strands_inside(weave, strand, "o")
        if not any(s.sides == "o" and s.kept and not pick_node(weave, s).is_comment for s in inside):
            continue
        strand.kept = True
        for member in inside:
            member.kept = member.kept or not settling.is_copy
        left_out = _leave_out_replacement(settling, strand)
        settling.doubts.append(Doubt(strand, Reason("loop with additions removed"), REBUILT, left_out=left_out))


def keep_suites_with_edits(settling: Settling) -> None:
    """Keep a whole block, and ask about it, if upstream removed it and an edit of omni's inside stays.

    The edited statement alone would run without its condition, and without what stood before it. In a copy, upstream's
    replacement of the block comes in as well; in a port, it is left out. A removed clause of a statement that stays
    (``elif``) is kept for omni's additions, too: with these alone in it, nothing would do what other branches do.
    """
    weave = settling.weave
    for index, strand in enumerate(weave.of_omni):
        node = weave.omni[index]
        is_branch = node.is_clause and node.owner != ROOT and weave.of_omni[node.owner].sides == "bou"
        if strand.kept or strand.sides != "bo" or not node.compound or (node.is_clause and not is_branch):
            continue
        inside = strands_inside(weave, strand, "o")[1:]
        staying = [other for other in inside if other.kept and not weave.omni[other.in_omni].is_comment]
        edited = [other for other in staying if other.sides == "bo"]
        added = [other for other in staying if other.sides == "o"] if is_branch else []
        if not (edited or added) or any(other.sides == "bou" for other in inside):
            continue
        for member in (strand, *inside):
            member.kept = True
        left_out = _leave_out_replacement(settling, strand)
        reason = Reason("edited block removed" if edited else "condition of additions removed")
        settling.doubts = [doubt for doubt in settling.doubts if doubt.strand not in inside]
        settling.doubts.append(Doubt(strand, reason, CONTESTED, left_out=left_out))


def _leave_out_replacement(settling: Settling, strand: Strand) -> tuple[Strand, ...]:
    """Leave out upstream's replacement of a kept suite, except in a copy; return the new statements in it."""
    if settling.is_copy:
        return ()
    run = next(run for run in split_into_runs(settling.strands) if strand in run)
    new = [s for s in run if s.sides == "u" and s.kept and not pick_node(settling.weave, s).is_comment]
    for other in run:
        other.kept = other.omni is not None and other.kept
    return tuple(new)
