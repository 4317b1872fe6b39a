"""Keep statements inside omni's own blocks, even if another upstream revision has them too.

The first verdict (`presence`) takes such a statement for a leftover of that revision. Comes in: a weave with a first
verdict on each strand. Goes out: verdicts on what upstream lacks; ``Doubt`` values. May touch: ``kept`` of the strands.
"""

from __future__ import annotations

from runner_sync.confidence import CONTESTED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.phrases.contents import is_inherited
from runner_sync.merge.placing.rulers import find_ruler_pairs
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand
from runner_sync.rulers import ruler_title
from runner_sync.statements import ROOT


def keep_marked_blocks(settling: Settling) -> None:
    """Keep what omni alone has between the two ruler comments that mark a block as its own."""
    weave = settling.weave
    for first, last in find_ruler_pairs(weave):
        if ruler_title(weave.omni[first].text):
            for strand in weave.of_omni[first + 1 : last]:
                strand.kept = strand.kept or strand.sides == "o"


def keep_clauses_of_edited(settling: Settling) -> None:
    """Keep a clause that another upstream revision also has, if omni rewrote the statement that owns it."""
    weave, heritage = settling.weave, settling.terms.heritage
    for index, strand in enumerate(weave.of_omni):
        node = weave.omni[index]
        if strand.sides == "o" and not strand.kept and node.is_clause and node.owner != ROOT:
            owner = weave.of_omni[node.owner]
            is_edited = weave.is_edited(owner, "o") and not is_inherited(weave.omni[node.owner], heritage)
            strand.kept = is_edited and owner.kept


def settle_own_suites(settling: Settling) -> None:
    """Give a statement that another upstream revision also has the verdict of the omni suite around it.

    Omni alone has that suite. If the suite stays, a statement inside that upstream removed, and that omni has in
    another revision's text, counts as edited by omni: it stays, and is asked about.
    """
    weave, heritage = settling.weave, settling.terms.heritage
    for index, strand in enumerate(weave.of_omni):
        above = weave.omni[index].parent
        if above == ROOT or weave.of_omni[above].sides != "o":
            continue
        if strand.sides == "o":
            strand.kept = weave.of_omni[above].kept or weave.omni[index].canon not in heritage
        elif _is_dropped_edit(settling, strand) and weave.of_omni[above].kept:
            strand.kept = True
            settling.doubts.append(Doubt(strand, Reason("edited statement removed"), CONTESTED))


def _is_dropped_edit(settling: Settling, strand: Strand) -> bool:
    """Whether a statement that upstream removed was dropped only because omni has it in another revision's text."""
    if strand.sides != "bo" or strand.kept or settling.terms.policy.edited_here_gone_there != "omni":
        return False
    weave = settling.weave
    return weave.is_edited(strand, "o") and is_inherited(weave.omni[strand.in_omni], settling.terms.heritage)
