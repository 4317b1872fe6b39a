"""Order the strands of a weave.

Comes in: a ``Weave``. Goes out: its strands in output order. May touch: nothing.

A diff3: strands that both omni and upstream have are anchors. Between two anchors, each addition goes next to the base
statements beside it, and upstream's go in front of omni's heads around the next anchor. In a copy, upstream's additions
go in front of a marked omni block that reaches across the next anchor, and in front of additions that read what they
set; in a port, they stay in one paragraph with the anchor. In a shared ``finally``, omni's clean-ups come first, so
that they have run if a ported clean-up fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from runner_sync.merge.placing.rulers import find_ruler_pairs
from runner_sync.merge.policy import Policy, Winner
from runner_sync.merge.weave import Nodes, Strand, Weave
from runner_sync.statements import ROOT, Node, ancestors, below
from runner_sync.statements.dataflow import attributes_set, binds, find_fed, reads, sets, uses_anything_of


@dataclass(frozen=True, slots=True)
class _Run:
    """The nodes of one side in front of the next anchor: ``nodes[start:end]``.

    ``all_strands`` are the strands of all nodes, ``rulers`` the pairs of omni's ruler comments among the nodes.
    """

    side: Winner
    nodes: Nodes
    all_strands: Sequence[Strand]
    start: int
    end: int
    rulers: Sequence[tuple[int, int]] = ()

    @property
    def strands(self) -> Sequence[Strand]:
        return self.all_strands[self.start : self.end]

    def without_first(self, count: int) -> _Run:
        return replace(self, start=self.start + count)

    def find_docstring(self) -> list[Strand]:
        """Return the strand of a docstring with which the run begins, else nothing."""
        begins = self.start < self.end and self.nodes[self.start].kind == "docstring"
        return [self.all_strands[self.start]] if begins else []

    def find_cleanup(self) -> list[Strand]:
        """Return the strands in a ``finally`` right in front of the run if only this side has them, else nothing."""
        if not self.start or self.nodes[self.start - 1].canon != "finally":
            return []
        inside = self.all_strands[self.start : self.start + len(below(self.nodes, self.start - 1)) - 1]
        return [*inside] if all(len(strand.sides) == 1 for strand in inside) else []

    def find_heads_around_next(self) -> list[int]:
        """Return the heads in the run around the node behind it, and the statements whose clauses they are."""
        found = []
        above = self.end if self.end < len(self.nodes) else ROOT
        while (above := _find_owner_or_parent(self.nodes, above)) != ROOT and above >= self.start:
            found.append(above)
        return found

    def find_opened(self) -> int:
        """Return the offset of the outermost head in the run around the node behind it, else the length of the run."""
        return min(self.find_heads_around_next(), default=self.end) - self.start

    def count_trailing_comments(self) -> int:
        """Return how many comments the run ends with."""
        found = (k for k in range(self.end - self.start) if not self.nodes[self.end - 1 - k].is_comment)
        return next(found, self.end - self.start)

    def find_paragraph_of_next(self) -> int:
        """Return the offset of the additions in the paragraph of the node behind the run, else the length of the run.

        The paragraph must begin behind a blank line.
        """
        if self.end >= len(self.nodes):
            return self.end - self.start
        first, suite = self.end, self.nodes[self.end].parent
        for k in range(self.end - 1, self.start - 1, -1):
            if self.nodes[first].blanks:
                break
            if self.nodes[k].parent == suite or (self.nodes[k].is_comment and k == first - 1):
                first = k
        return (first if self.nodes[first].blanks else self.end) - self.start

    def find_in_removed(self) -> set[Strand]:
        """Return the strands of the run inside a suite that the other side removed from around the node behind the run.

        They stay right in front of that node.
        """
        removed = [k for k in self.find_heads_around_next() if self.all_strands[k].sides in ("bo", "bu")]
        return set(self.all_strands[min(removed) + 1 : self.end]) if removed else set()


def order_strands(weave: Weave, policy: Policy) -> list[Strand]:
    """Return every strand of omni and upstream once, in output order, whether kept or not."""
    out: list[Strand] = []
    rulers = tuple(find_ruler_pairs(weave))
    o = u = 0
    for anchor in [*_find_anchors(weave), None]:
        end_o, end_u = (
            (anchor.in_omni, anchor.in_upstream) if anchor is not None else (len(weave.omni), len(weave.upstream))
        )
        omni = _Run("omni", weave.omni, weave.of_omni, o, end_o, rulers)
        upstream = _Run("upstream", weave.upstream, weave.of_upstream, u, end_u)
        out += _merge_runs(anchor, omni, upstream, weave, policy)
        if anchor is not None:
            out.append(anchor)
        o, u = end_o + 1, end_u + 1
    return list({id(strand): strand for strand in out}.values())


def _merge_runs(anchor: Strand | None, omni: _Run, upstream: _Run, weave: Weave, policy: Policy) -> list[Strand]:
    """Return the strands of two runs in front of ``anchor`` (``None`` for the end of the text), in output order."""
    behind = next((s.base for s in reversed(weave.of_omni[: omni.start]) if s.base is not None and not s.moved), -1)
    first = [*omni.find_docstring(), *upstream.find_docstring()]
    omni, upstream = (run.without_first(len(run.find_docstring())) for run in (omni, upstream))
    omni_cleanup, upstream_cleanup = omni.find_cleanup(), upstream.find_cleanup()
    if policy.first == "upstream" and omni_cleanup and upstream_cleanup:
        first += [*omni_cleanup, *upstream_cleanup]
        omni, upstream = omni.without_first(len(omni_cleanup)), upstream.without_first(len(upstream_cleanup))
    both = _interleave(anchor, omni, upstream, weave, policy, behind=behind)
    last = omni.find_in_removed() | upstream.find_in_removed()
    return [*first, *sorted(both, key=lambda strand: strand in last)]


def _find_anchors(weave: Weave) -> list[Strand]:
    """Return the strands that both omni and upstream have, in omni's order, skipping those out of order in upstream.

    Skips clauses in ``joined`` as well, because a statement may have moved past them. A strand in front of an anchor on
    one side and behind it on the other appears twice; `order_strands` keeps the first place.
    """
    found: list[Strand] = []
    last = -1
    for strand in weave.of_omni:
        if strand.upstream is not None and strand.upstream > last and strand not in weave.joined:
            found.append(strand)
            last = strand.upstream
    return found


def _find_preparation_start(anchor: Strand | None, omni: _Run, weave: Weave) -> int:
    """Return the offset in omni's run of the additions that set what omni's edited ``anchor`` reads.

    They stand directly in front of the anchor, and upstream's additions go in front of them. The length of the run if
    there are none.
    """
    start, end = omni.start, omni.end
    if anchor is None or not weave.is_edited(anchor, "o"):
        return end - start
    first, needed = end, reads(weave.omni[end])
    for k in range(end - 1, start - 1, -1):
        if weave.of_omni[k].sides != "o" or not (weave.omni[k].is_comment or sets(weave.omni[k]) & needed):
            break
        if not weave.omni[k].is_comment or first < end:
            first = k  # the comments above the statement belong to it
    return first - start


def _find_marked_block_start(anchor: Strand | None, omni: _Run, weave: Weave) -> int:
    """Return the offset in omni's run of a ruler that opens a block around ``anchor``, else the length of the run.

    Upstream's additions go in front of the block. A ruler with only comments between it and an unedited ``anchor`` does
    not count: it closes another block whose first ruler somebody forgot.
    """
    begun = (first for first, last in omni.rulers if omni.start <= first < omni.end < last)
    is_edited = anchor is not None and weave.is_edited(anchor, "o")
    own = (k for k in begun if is_edited or any(not node.is_comment for node in weave.omni[k : omni.end]))
    return min(own, default=omni.end) - omni.start


def _find_owner_or_parent(nodes: Nodes, index: int) -> int:
    if index == ROOT:
        return ROOT
    return nodes[index].owner if nodes[index].owner != ROOT else nodes[index].parent


def _interleave(
    anchor: Strand | None, omni: _Run, upstream: _Run, weave: Weave, policy: Policy, *, behind: int
) -> list[Strand]:
    """Merge two runs by the base statements that their strands follow or replace.

    ``behind`` is the base index that both runs follow.
    """
    opened = omni.find_opened()
    if policy.is_copy:
        opened = min(
            opened, _find_preparation_start(anchor, omni, weave), _find_marked_block_start(anchor, omni, weave)
        )
    is_first = policy.first == "upstream"
    first = len(upstream.strands) if is_first else _count_feeding(upstream, omni)
    remarks = 0 if is_first or opened == len(omni.strands) else upstream.count_trailing_comments()
    joined = len(upstream.strands) - remarks
    if policy.is_copy and opened == len(omni.strands) and _opens_only_around_shared(upstream):
        joined = min(joined, upstream.find_opened())
    if not policy.is_copy:
        joined = min(joined, _find_paragraph_start(omni, upstream))
    rows = [
        *_yield_places(upstream, weave, behind, first=first, opened=joined),
        *_yield_places(omni, weave, behind, first=0, opened=opened),
    ]
    return [strand for _, strand in sorted(rows, key=lambda row: row[0])]


def _opens_only_around_shared(upstream: _Run) -> bool:
    """Whether the new suite in which the run ends holds only statements of both sides, none of which omni replaced."""
    head = upstream.start + upstream.find_opened()
    if head == upstream.end:
        return False
    inside = [upstream.all_strands[k] for k in below(upstream.nodes, head)[1:] if not upstream.nodes[k].is_comment]
    return all(strand.sides == "bou" and not strand.moved for strand in inside)


def _count_feeding(upstream: _Run, omni: _Run) -> int:
    """Return how many strands of upstream's run go in front of omni's additions, which read what upstream's set.

    The others of upstream's run follow, unless they unpack the same value. None if upstream's additions also read what
    omni's set.
    """
    new, own = (
        [k for k in range(run.start, run.end) if len(run.all_strands[k].sides) == 1] for run in (upstream, omni)
    )
    setting, using = [upstream.nodes[k] for k in new], [omni.nodes[k] for k in own]
    fed = find_fed(setting, using)
    if not fed or find_fed(using, setting):
        return 0
    last = max(k for k in new if fed & (binds(upstream.nodes[k]) | attributes_set(upstream.nodes[k])))
    while last + 1 in new and _are_parts_of_one_value(upstream.nodes[last], upstream.nodes[last + 1]):
        last += 1
    top = min([last, *(k for k in ancestors(upstream.nodes, last) if k >= upstream.start)])
    return min(below(upstream.nodes, top)[-1] + 1, upstream.end) - upstream.start


def _are_parts_of_one_value(one: Node, other: Node) -> bool:
    """Whether both statements set a local to an attribute of one value: ``rows = batch.rows``, ``ids = batch.ids``."""
    values = [node.facts.value.rpartition(".")[0] for node in (one, other)]
    are_locals = all(sets(node) == {*node.facts.targets} for node in (one, other))
    return values[0] == values[1] not in ("", "self") and are_locals


def _find_paragraph_start(omni: _Run, upstream: _Run) -> int:
    """Return the offset in upstream's run of the additions that stand in one paragraph with the anchor.

    They stay with it, behind omni's own statements in front of it. The length of the run if there are none, or if
    omni's statements use what they set.
    """
    start = upstream.find_paragraph_of_next()
    added = upstream.nodes[upstream.start + start : upstream.end]
    return len(upstream.strands) if uses_anything_of(added, omni.nodes[omni.start : omni.end]) else start


class _Place(NamedTuple):
    """The sort key of a strand: the base index that it follows, the rank of its side, and its number in the run.

    A base index with a half means that the strand replaces the next base statement.
    """

    base: float
    rank: int
    number: int


def _yield_places(run: _Run, weave: Weave, behind: int, *, first: int, opened: int) -> Iterator[tuple[_Place, Strand]]:
    """Yield the place of each strand of a run.

    Upstream's go in front of omni's up to offset ``first``, and behind them from there on. From offset ``opened`` on,
    strands belong to the anchor behind the run and go behind all others.
    """
    place: float = behind
    for k, strand in enumerate(run.strands):
        if strand.base is not None and not strand.moved:
            place = strand.base
        else:
            place = _find_place_behind(weave, place, run.side)
        rank = 1 if run.side == "omni" else 0 if k < first else 2
        yield _Place(place if k < opened else len(weave.base), rank, k), strand


def _find_place_behind(weave: Weave, place: float, side: Winner) -> float:
    """Return the place of an addition behind base statement ``place``.

    The place is half an index further if the side removed the next base statement, which the addition then replaces.
    """
    following = int(place) + 1
    if place != int(place) or following >= len(weave.of_base):
        return place
    return following - 0.5 if getattr(weave.of_base[following], side) is None else place
