"""Suites of omni's own with something in them that another revision of upstream has, too.

Comes in: a weave with a first verdict on each strand. Goes out: verdicts on what omni alone has. May touch: nothing
else.
"""

from __future__ import annotations

from runner_sync.merge.contents import is_inherited, is_same, sides_of
from runner_sync.merge.settling import Settling
from runner_sync.statements import ROOT


def keep_clauses_of_edited(settling: Settling) -> None:
    """A branch that another revision of upstream has, too, is omni's own on a condition that omni has rewritten."""
    weave, heritage = settling.weave, settling.terms.heritage
    for index, strand in enumerate(weave.of_omni):
        node = weave.omni[index]
        if strand.sides == "o" and not strand.kept and node.is_clause and node.owner != ROOT:
            base, omni, _ = sides_of(weave, weave.of_omni[node.owner])
            assert omni is not None
            is_edited = base is not None and not is_same(base, omni) and not is_inherited(omni, heritage)
            strand.kept = is_edited and weave.of_omni[node.owner].kept


def settle_own_suites(settling: Settling) -> None:
    """What another revision of upstream has, too, is omni's own inside a suite that is omni's own, and goes with a
    suite that is not, however little it says."""
    weave, heritage = settling.weave, settling.terms.heritage
    for index, strand in enumerate(weave.of_omni):
        above = weave.omni[index].parent
        if strand.sides != "o" or above == ROOT or weave.of_omni[above].sides != "o":
            continue
        strand.kept = weave.of_omni[above].kept or weave.omni[index].canon not in heritage
