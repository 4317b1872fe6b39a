"""Bring in what sets a local, where upstream's text of a statement that reads it replaces an older form of omni's.

Comes in: a weave with nearly all verdicts. Goes out: ``Doubt`` values; what comes in is marked. May touch: ``kept`` of
the strands.

Omni's statement does without the local, because it is older than the base::

    base      is_deferred = self.waits()            omni  is_cleared = self.drafter is None
              self.begin(rows, defer=is_deferred)         self.begin(rows, defer=not is_cleared)
"""

from __future__ import annotations

from runner_sync.confidence import INFERRED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.keeping.staying import find_bound, find_setting, is_outdated
from runner_sync.merge.placing.remarks import find_remarks
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements.dataflow import binds, mention_any, uses


def take_values_read(settling: Settling) -> None:
    """In a copy, bring in the only upstream statements that set a local which upstream's text of another one reads.

    There is a doubt, because omni may have removed them in its older text. Skips them if omni gives one of their names
    a value of its own, or if something else that upstream does with a value of theirs does not come in: then half of a
    computation would come.
    """
    weave, heritage = settling.weave, settling.terms.heritage
    locals_ = {name for node in weave.upstream for name in binds(node)}
    for index, reader in enumerate(weave.of_upstream) if settling.is_copy else ():
        if reader.sides != "bou" or weave.is_unedited(reader, "o") or not is_outdated(weave, reader, heritage):
            continue
        bound = find_bound(weave, "u")
        names = sorted(uses(weave.upstream[index]) & locals_ - bound)
        found = [find_setting(weave, "u", index, name, bound) for name in names]
        setting = set[Strand]().union(*found)
        if not all(found) or _is_half(settling, reader, setting, bound):
            continue
        for strand in (*setting, *_find_comments(weave, setting)):
            strand.kept = True
        for name, own in zip(names, found, strict=True):
            last = max(own, key=lambda strand: strand.in_upstream)
            settling.doubts.append(Doubt(last, Reason("value of a newer form", (name,)), INFERRED))


def _is_half(settling: Settling, reader: Strand, setting: set[Strand], bound: set[str]) -> bool:
    """Whether statements to bring in read or set what omni sets itself, or are a part of what sets their value."""
    weave, heritage = settling.weave, settling.terms.heritage
    nodes = [weave.upstream[strand.in_upstream] for strand in setting]
    set_here = {name for node in nodes for name in binds(node)}
    if (find_bound(weave, "o") - bound) & set_here.union(*(uses(node) for node in nodes)):
        return True
    others = [strand for strand in weave.of_upstream if strand not in setting and strand is not reader]
    absent = [s for s in others if not s.kept or (s.sides == "bou" and not is_outdated(weave, s, heritage))]
    left_out = [weave.upstream[strand.in_upstream] for strand in absent]
    return mention_any(set_here, [node for node in left_out if not node.is_comment])


def _find_comments(weave: Weave, setting: set[Strand]) -> list[Strand]:
    """Return upstream's comments directly above the statements."""
    remarks = [block for block, about in find_remarks(weave.upstream) if weave.of_upstream[about] in setting]
    return [strand for block in remarks for k in block if (strand := weave.of_upstream[k]).sides == "bu"]
