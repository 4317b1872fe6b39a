"""Additions of upstream that read what is set only in what omni took out, or in what was left out with it.

Comes in: a weave that is being settled. Goes out: ``Doubt`` values; the strands that stay out are marked. May touch:
``kept`` of the strands.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from runner_sync.confidence import INFERRED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, any_node
from runner_sync.statements import ROOT, Node, below
from runner_sync.statements.dataflow import attributes_set, reads, rebinds, sets


def leave_out_without_definitions(settling: Settling) -> None:
    """What upstream adds that reads a local which omni no longer sets: it belongs to the part that omni took out.

    So does what reads an attribute that upstream sets only since this step, and only in what was left out. Only in a
    copy.
    """
    if not settling.is_copy:
        return
    weave = settling.weave
    lost = _Lost(weave, settling.strands)
    while (found := lost.first_reader()) is not None:
        strand, name = found
        addition = _whole_addition(weave, strand)
        whole = [weave.of_upstream[k] for k in addition if weave.of_upstream[k].kept]
        lost.leave_out(addition)
        reason = Reason("addition reads what omni does not set", (name,))
        others = tuple(other for other in whole if other is not strand and not any_node(weave, other).is_comment)
        settling.doubts.append(Doubt(strand, reason, INFERRED, left_out=others))


class _Lost:
    """The names that are set only in what is not kept, and which additions of upstream read them.

    What is left out loses more names and never fewer, so that each is looked up once, however much is left out.
    """

    def __init__(self, weave: Weave, strands: Sequence[Strand]) -> None:
        self.weave = weave
        self.strands = strands
        self.known = {name for node in (*weave.base, *weave.omni) for name in _ATTRIBUTES.findall(node.canon)}
        self.set_here = Counter(name for s in strands if s.kept for name in self._set_anew(s))
        self.set_there: set[str] = set()
        self.names: set[str] = set()
        self.readers: dict[str, list[int]] = defaultdict(list)
        self.waiting: list[int] = []
        for place, strand in enumerate(strands):
            if strand.sides == "u" and strand.kept:
                for name in _read_by(any_node(weave, strand)):
                    self.readers[name].append(place)
        for strand in (strand for strand in strands if not strand.kept):
            removed = sets(any_node(weave, strand)) if strand.sides == "bu" else ()
            self._lose({*removed, *self._new_attributes(strand)})

    def first_reader(self) -> tuple[Strand, str] | None:
        """The first addition that is kept and reads such a name, and which."""
        while self.waiting:
            strand = self.strands[heappop(self.waiting)]
            if strand.kept:
                return strand, min(_read_by(any_node(self.weave, strand)) & self.names)
        return None

    def leave_out(self, addition: Sequence[int]) -> None:
        """Keep nothing of an addition, told by its indices; what it alone sets is lost."""
        self._lose(name for index in addition for name in sets(self.weave.upstream[index]))
        for strand in (self.weave.of_upstream[index] for index in addition):
            if strand.kept:
                strand.kept = False
                gone = self._set_anew(strand)
                self.set_here.subtract(gone)
                self._lose(self._new_attributes(strand) | (gone & self.set_there))

    def _lose(self, names: Iterable[str]) -> None:
        """What sets these names is left out; they are lost once nothing sets them that is kept."""
        for name in set(names) - self.names:
            self.set_there.add(name)
            if not self.set_here[name]:
                self.names.add(name)
                for place in self.readers[name]:
                    heappush(self.waiting, place)

    def _set_anew(self, strand: Strand) -> frozenset[str]:
        """What a statement sets; ``rows = pad(rows)`` of upstream's gives no local its first value."""
        node = any_node(self.weave, strand)
        return _set_by(node) - (rebinds(node) if strand.sides == "u" else frozenset())

    def _new_attributes(self, strand: Strand) -> set[str]:
        """Attributes of ``self`` that an addition of upstream's sets and that no old text knows."""
        found = attributes_set(any_node(self.weave, strand)) if strand.sides == "u" else ()
        return {name for name in found if name.startswith("self.")} - self.known


_ATTRIBUTES = re.compile(r"\bself\.\w+")


def _set_by(node: Node) -> frozenset[str]:
    return sets(node) | attributes_set(node)


def _read_by(node: Node) -> frozenset[str]:
    return reads(node) | frozenset(_ATTRIBUTES.findall(node.canon)) if not node.is_comment else frozenset()


def _whole_addition(weave: Weave, strand: Strand) -> list[int]:
    """The statement with the outermost suite around it that is all upstream's addition, as indices."""
    top = strand.upstream
    assert top is not None
    while (above := weave.upstream[top].parent) != ROOT and weave.of_upstream[above].sides == "u":
        if any(weave.of_upstream[k].sides != "u" for k in below(weave.upstream, above)):
            break
        top = above
    return below(weave.upstream, top)
