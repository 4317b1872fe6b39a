"""Find calls of omni's own to a function that upstream replaced by another one.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values. May touch: nothing.

Upstream calls another function in a statement that omni left alone, and nowhere the old one any more, or omni's own
call stands in a ``try`` of omni's around that statement::

    base        scores = self.score(rows)        omni        if self.is_wide:
    upstream    scores = self._score(rows)                       scores = self.score(rows, self.wide)
                                                             else:
                                                                 scores = self.score(rows)

Omni's own call stays as it is. It may need the new function, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile

from runner_sync.confidence import CONTESTED
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, heads_around, strands_inside
from runner_sync.statements import ROOT
from runner_sync.statements.calls import names_called


def find_calls_of_replaced(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return a doubt about each statement of omni's own that calls a function which upstream replaced.

    The two statements must set the same names. In a statement that omni edited, both sides' changes are compared, which
    asks already.
    """
    now = {name for node in weave.upstream for name in names_called(node.canon)}
    replaced: dict[tuple[str, tuple[str, ...]], list[Strand]] = defaultdict(list)
    beside: dict[Strand, tuple[tuple[str, tuple[str, ...]], Strand]] = {}
    for strand in kept:
        if strand.sides == "bou" and weave.is_unedited(strand, "o") and weave.is_edited(strand, "u"):
            before, after = weave.base[strand.in_base].facts, weave.upstream[strand.in_upstream].facts
            still = names_called(weave.upstream[strand.in_upstream].canon)
            if not before.called or not after.called or before.called in still:
                continue
            made = before.called, tuple(before.targets)
            if before.called not in now:
                replaced[made].append(strand)
            elif before.targets:
                beside |= dict.fromkeys(_list_beside(weave, strand), (made, strand))
    doubts = []
    for strand in kept if replaced or beside else ():
        facts = weave.omni[strand.in_omni].facts if strand.sides == "o" else None
        by = replaced.get((facts.called, tuple(facts.targets))) if facts is not None else None
        if facts is not None and strand in beside and beside[strand][0] == (facts.called, tuple(facts.targets)):
            by = [beside[strand][1]]
        if facts is not None and by is not None:
            doubts.append(Doubt(strand, Reason("calls what was replaced", (facts.called,)), CONTESTED, None, tuple(by)))
    return doubts


def _list_beside(weave: Weave, strand: Strand) -> list[Strand]:
    """Return what omni has in a ``try`` of its own in which a statement is the fallback, or has one."""
    own = [*takewhile(lambda head: head.sides == "o", heads_around(weave, strand, "o"))]
    owners = (weave.omni[head.in_omni].owner for head in own)
    tops = (head if owner == ROOT else weave.of_omni[owner] for head, owner in zip(own, owners, strict=True))
    top = next((top for top in tops if weave.omni[top.in_omni].keyword == "try"), None)
    return strands_inside(weave, top, "o") if top is not None else []
