"""Leave out upstream's additions that read names set only in statements that are not in the result.

Comes in: a weave that is being settled. Goes out: ``Doubt`` values; left-out strands are marked. May touch: ``kept`` of
the strands.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from runner_sync.confidence import INFERRED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, pick_node
from runner_sync.statements import ROOT, Node, below
from runner_sync.statements.dataflow import attributes_set, reads, rebinds, sets


def leave_out_without_definitions(settling: Settling) -> None:
    """Leave out an addition that reads a local set only by statements that omni removed: it belongs to that part.

    Also leaves out an addition that reads an attribute which upstream newly sets, and only in left-out statements.
    Repeats for what reads a name set only in these additions, until nothing more is found. Runs only in a copy.
    """
    if not settling.is_copy:
        return
    weave = settling.weave
    lost = _Lost(weave, settling.strands)
    while (found := lost.find_first_reader()) is not None:
        strand, name = found
        addition = _find_whole_addition(weave, strand)
        whole = [weave.of_upstream[k] for k in addition if weave.of_upstream[k].kept]
        lost.leave_out(addition)
        reason = Reason("addition reads what omni does not set", (name,))
        others = tuple(other for other in whole if other is not strand and not pick_node(weave, other).is_comment)
        settling.doubts.append(Doubt(strand, reason, INFERRED, left_out=others))


class _Lost:
    """The names set only in strands that are not kept, and the upstream additions that read them.

    Leaving out more strands only adds names. So each is entered once, and its readers are queued then.
    """

    def __init__(self, weave: Weave, strands: Sequence[Strand]) -> None:
        self.weave = weave
        self.strands = strands
        self.old_attributes = {name for node in (*weave.base, *weave.omni) for name in _ATTRIBUTES.findall(node.canon)}
        self.kept_setters = Counter(name for s in strands if s.kept for name in self._find_set_anew(s))
        self.set_in_dropped: set[str] = set()
        self.lost_names: set[str] = set()
        self.readers: dict[str, list[int]] = defaultdict(list)
        self.waiting: list[int] = []
        for place, strand in enumerate(strands):
            if strand.sides == "u" and strand.kept:
                for name in _find_read(pick_node(weave, strand)):
                    self.readers[name].append(place)
        for strand in (strand for strand in strands if not strand.kept):
            removed = sets(pick_node(weave, strand)) if strand.sides == "bu" else ()
            self._lose({*removed, *self._find_new_attributes(strand)})

    def find_first_reader(self) -> tuple[Strand, str] | None:
        """Return the first kept addition that reads a lost name, and the name; ``None`` if there is none."""
        while self.waiting:
            strand = self.strands[heappop(self.waiting)]
            if strand.kept:
                return strand, min(_find_read(pick_node(self.weave, strand)) & self.lost_names)
        return None

    def leave_out(self, addition: Sequence[int]) -> None:
        """Mark an addition, given by upstream indices, as not kept; the names that it alone sets are lost."""
        self._lose(name for index in addition for name in sets(self.weave.upstream[index]))
        for strand in (self.weave.of_upstream[index] for index in addition):
            if strand.kept:
                strand.kept = False
                gone = self._find_set_anew(strand)
                self.kept_setters.subtract(gone)
                self._lose(self._find_new_attributes(strand) | (gone & self.set_in_dropped))

    def _lose(self, names: Iterable[str]) -> None:
        """Note that a statement that sets these names is not kept; each is lost unless another kept one sets it."""
        for name in set(names) - self.lost_names:
            self.set_in_dropped.add(name)
            if not self.kept_setters[name]:
                self.lost_names.add(name)
                for place in self.readers[name]:
                    heappush(self.waiting, place)

    def _find_set_anew(self, strand: Strand) -> frozenset[str]:
        """Return the names that a statement sets, except those that an addition recomputes: ``rows = pad(rows)``."""
        node = pick_node(self.weave, strand)
        return _find_set(node) - (rebinds(node) if strand.sides == "u" else frozenset())

    def _find_new_attributes(self, strand: Strand) -> set[str]:
        """Return the attributes of ``self`` that an upstream addition sets, and neither base nor omni mentions."""
        found = attributes_set(pick_node(self.weave, strand)) if strand.sides == "u" else ()
        return {name for name in found if name.startswith("self.")} - self.old_attributes


_ATTRIBUTES = re.compile(r"\bself\.\w+")


def _find_set(node: Node) -> frozenset[str]:
    return sets(node) | attributes_set(node)


def _find_read(node: Node) -> frozenset[str]:
    return reads(node) | frozenset(_ATTRIBUTES.findall(node.canon)) if not node.is_comment else frozenset()


def _find_whole_addition(weave: Weave, strand: Strand) -> list[int]:
    """Return the indices of the outermost block of upstream additions around a statement, else of the statement.

    Without what omni has, too: upstream may have put a new block around that.
    """
    top = strand.upstream
    assert top is not None
    while (above := weave.upstream[top].parent) != ROOT and weave.of_upstream[above].sides == "u":
        if any(weave.of_upstream[k].sides != "u" for k in below(weave.upstream, above)):
            break
        top = above
    return [k for k in below(weave.upstream, top) if weave.of_upstream[k].omni is None]
