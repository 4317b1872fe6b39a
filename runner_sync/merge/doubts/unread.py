"""Undo upstream additions and edits that only set names which nothing reads, because the reader was left out.

Comes in: the kept strands of a ``Weave`` with their contents. Goes out: ``Doubt`` values; left-out statements are
marked, and undone edits get omni's text. May touch: ``kept`` of the strands, and the contents given.

Reads are counted in the text chosen for each statement: upstream's version reads nothing if omni's was chosen. A name
that a ``from`` import binds counts as read in upstream, because its reader may have been removed from upstream before
the merge.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from runner_sync.confidence import INFERRED
from runner_sync.merge.phrases.contents import Content, make_content_of
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, pick_node, strands_inside
from runner_sync.statements import Node
from runner_sync.statements.dataflow import attributes_set, binds, reads, uses
from runner_sync.statements.facts import read_facts

UNREAD = Reason("read only in what was left out")


def undo_unread(
    weave: Weave, kept: Sequence[Strand], contents: dict[Strand, Content], *, records_fit: bool
) -> list[Doubt]:
    """Leave out new upstream statements that set only locals which nothing reads, and undo such edits.

    Such a call would fetch or reset something for nothing. A ``return`` that became an assignment for a left-out
    statement would no longer return anything. With ``records_fit``, the record that omni unpacks is omni's own and has
    just the fields that omni takes; then an edit that merely unpacks more fields is undone too.
    """
    unread = _Unread(weave, kept, contents, records_fit=records_fit)
    doubts: list[Doubt] = []
    while (strand := unread.find_first()) is not None:
        inside = strands_inside(weave, strand, "u")[1:] if strand.sides == "u" else []
        inside = [inner for inner in inside if inner.kept]
        for undone in (strand, *inside):
            unread.undo(undone)
        doubts.append(Doubt(strand, UNREAD, INFERRED, left_out=tuple(inside)))
    return doubts


class _Unread:
    """Count the kept strands that read each name, and find strands that set only unread names.

    Each strand is checked once at first, and again whenever a name that it sets loses its last reader.
    """

    def __init__(
        self, weave: Weave, kept: Sequence[Strand], contents: dict[Strand, Content], *, records_fit: bool
    ) -> None:
        self.weave = weave
        self.kept = kept
        self.contents = contents
        self.records_fit = records_fit
        self.read_there = {name for node in weave.upstream for name in uses(node)}
        self.read_there |= {name for n in weave.upstream if n.keyword == "from" for name in binds(n)}
        self.omni_names = {name for node in weave.omni for name in binds(node) | reads(node)}
        self.read_here = Counter(name for s in kept if s.kept for name in find_reads(weave, s, contents))
        self.places: dict[str, list[int]] = defaultdict(list)
        self.waiting: list[int] = []
        for place, strand in enumerate(kept):
            if strand.upstream is not None:
                self.waiting.append(place)
                for name in _find_written_names(weave.upstream[strand.upstream]):
                    self.places[name].append(place)

    def find_first(self) -> Strand | None:
        """Return the first strand that sets only names which nothing reads, or ``None``."""
        while self.waiting:
            strand = self.kept[heappop(self.waiting)]
            if strand.kept and self._has_no_reader(strand):
                return strand
        return None

    def undo(self, strand: Strand) -> None:
        """Leave out a new statement, or give an edited one omni's text; the names that it read have one reader less."""
        before = find_reads(self.weave, strand, self.contents)
        if strand.omni is None:
            strand.kept = False
            after = frozenset[str]()
        else:
            self.contents[strand] = make_content_of(self.weave.omni[strand.omni])
            after = find_reads(self.weave, strand, self.contents)
        self.read_here.update(after)
        self.read_here.subtract(before)
        for name in before:
            if not self.read_here[name]:
                for place in self.places[name]:
                    heappush(self.waiting, place)

    def _has_no_reader(self, strand: Strand) -> bool:
        """Whether a strand sets only names that upstream reads and the result does not.

        An edit may set only names that are new to omni.
        """
        if self.records_fit and self._has_unread_fields(strand):
            return True
        if strand.upstream is None:
            return False
        node = self.weave.upstream[strand.upstream]
        if node.compound and strand.sides == "u":
            return self._is_unread_block(strand)
        names = _find_written_names(node)
        if not names or node.compound or not names <= self.read_there or self._are_read(names):
            return False
        if strand.sides == "u":
            return True
        chosen = self.contents[strand].lines
        edited = strand.omni is not None and chosen == node.lines != self.weave.omni[strand.omni].lines
        return edited and names.isdisjoint(self.omni_names)

    def _is_unread_block(self, head: Strand) -> bool:
        """Whether a new condition only sets locals that it alone reads here, and that upstream reads outside of it.

        For example, ``if logits is None: logits = self.compute(rows)`` in a copy that samples nothing.
        """
        inside = strands_inside(self.weave, head, "u")
        nodes = [pick_node(self.weave, strand) for strand in inside if not pick_node(self.weave, strand).is_comment]
        if nodes[0].keyword != "if" or any(strand.sides != "u" or not strand.kept for strand in inside):
            return False
        setting = [node for node in nodes if not node.compound and not node.is_clause]
        names = {name for node in setting for name in _find_written_names(node)}
        if not setting or not all(_sets_only_locals(node) for node in setting):
            return False
        here = Counter(name for strand in inside for name in find_reads(self.weave, strand, self.contents))
        own = Counter(name for node in nodes for name in uses(node))
        there = Counter(name for node in self.weave.upstream for name in uses(node))
        return all(self.read_here[name] == here[name] and there[name] > own[name] for name in names)

    def _has_unread_fields(self, strand: Strand) -> bool:
        """Whether upstream merely unpacks more of a record than the base did, and nothing reads the new names."""
        if strand.base is None or strand.omni is None or strand.upstream is None:
            return False
        weave = self.weave
        base, omni, node = weave.base[strand.base], weave.omni[strand.omni], weave.upstream[strand.upstream]
        if self.contents[strand].lines == omni.lines:
            return False
        if not all(_is_unpacking(one) for one in (base, omni, node)):
            return False
        added = binds(node) - binds(base)
        return bool(added) and binds(base) <= binds(node) and not self._are_read(added)

    def _are_read(self, names: Iterable[str]) -> bool:
        return any(self.read_here[name] for name in names)


def _sets_only_locals(node: Node) -> bool:
    return bool(node.facts.targets) and {*node.facts.targets} <= _find_written_names(node) and not attributes_set(node)


def _find_written_names(node: Node) -> frozenset[str]:
    """Return the names that a statement binds, updates or deletes."""
    return binds(node) | (reads(node) - uses(node))


def find_reads(weave: Weave, strand: Strand, contents: Mapping[Strand, Content]) -> frozenset[str]:
    """Return the locals that the chosen text of a strand reads.

    For a merged text, these are the names that it mentions and a side reads; a text that was carried over may also read
    what neither side reads there.
    """
    sides = ((weave.omni, strand.omni), (weave.upstream, strand.upstream))
    nodes = [nodes[index] for nodes, index in sides if index is not None]
    chosen = contents[strand].lines
    for node in nodes:
        if node.lines == chosen:
            return uses(node)
    if strand.carried and not any(node.compound for node in nodes):
        return read_facts("\n".join(chosen), compound=False, clause=False).uses
    words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", "\n".join(chosen)))
    return frozenset(name for node in nodes for name in uses(node) if name in words)


def _is_unpacking(node: Node) -> bool:
    """Whether a statement unpacks an attribute of the runner: ``rows, tokens = self.state``."""
    return len(node.facts.targets) > 1 and node.facts.value.startswith("self.")
