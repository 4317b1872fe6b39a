"""The order of the strands of a weave.

Comes in: a ``Weave``. Goes out: its strands in output order. May touch: nothing.

A diff3: strands that both omni and upstream have are anchors, and between two anchors the additions of both sides go
next to the base statements that they stand beside. In a copy, upstream's additions go in front of a block marked by
omni that reaches across the next anchor. In one ``finally`` omni's clean-ups always come first, so that they have run
if one that a port brings fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from runner_sync.merge.placing.rulers import pairs
from runner_sync.merge.policy import Policy, Winner
from runner_sync.merge.weave import Nodes, Strand, Weave
from runner_sync.statements import ROOT, below
from runner_sync.statements.dataflow import reads, sets


@dataclass(frozen=True, slots=True)
class _Run:
    """What one side has in front of the next anchor: ``nodes[start:end]``.

    ``of`` are the strands of all its nodes, ``rulers`` the pairs of omni's ruler comments among these.
    """

    side: Winner
    nodes: Nodes
    of: Sequence[Strand]
    start: int
    end: int
    rulers: Sequence[tuple[int, int]] = ()

    @property
    def strands(self) -> Sequence[Strand]:
        return self.of[self.start : self.end]

    def without_first(self, count: int) -> _Run:
        return replace(self, start=self.start + count)

    def cleaning_up(self) -> list[Strand]:
        """The strands in a ``finally`` right in front of the run, if the side alone has everything inside it."""
        if not self.start or self.nodes[self.start - 1].canon != "finally":
            return []
        inside = self.of[self.start : self.start + len(below(self.nodes, self.start - 1)) - 1]
        return [*inside] if all(len(strand.sides) == 1 for strand in inside) else []

    def around_next(self) -> list[int]:
        """The heads in the run around the node behind it, and the statements of which they are clauses."""
        found = []
        above = self.end if self.end < len(self.nodes) else ROOT
        while (above := _owner_or_parent(self.nodes, above)) != ROOT and above >= self.start:
            found.append(above)
        return found

    def opened(self) -> int:
        """The offset in the run of the outermost head around the node behind it; the length of the run if none is."""
        return min(self.around_next(), default=self.end) - self.start

    def comments_behind(self) -> int:
        """How many comments the run ends with."""
        found = (k for k in range(self.end - self.start) if not self.nodes[self.end - 1 - k].is_comment)
        return next(found, self.end - self.start)

    def in_removed(self) -> set[Strand]:
        """The strands of the run inside a suite that the other side has removed from around the node behind the run:
        they go with that node, right in front of it."""
        removed = [k for k in self.around_next() if self.of[k].sides in ("bo", "bu")]
        return set(self.of[min(removed) + 1 : self.end]) if removed else set()


def order(weave: Weave, policy: Policy) -> list[Strand]:
    """Every strand that omni or upstream has, once, in output order (kept or not)."""
    out: list[Strand] = []
    rulers = tuple(pairs(weave))
    o = u = 0
    for anchor in [*_anchors(weave), None]:
        end_o, end_u = (
            (anchor.in_omni, anchor.in_upstream) if anchor is not None else (len(weave.omni), len(weave.upstream))
        )
        omni = _Run("omni", weave.omni, weave.of_omni, o, end_o, rulers)
        upstream = _Run("upstream", weave.upstream, weave.of_upstream, u, end_u)
        out += _in_front_of(anchor, omni, upstream, weave, policy)
        if anchor is not None:
            out.append(anchor)
        o, u = end_o + 1, end_u + 1
    return list({id(strand): strand for strand in out}.values())


def _in_front_of(anchor: Strand | None, omni: _Run, upstream: _Run, weave: Weave, policy: Policy) -> list[Strand]:
    """The strands of two runs that end at ``anchor`` (``None`` for the end of the text), in output order."""
    behind = next((s.base for s in reversed(weave.of_omni[: omni.start]) if s.base is not None and not s.moved), -1)
    first: list[Strand] = []
    mine, theirs = omni.cleaning_up(), upstream.cleaning_up()
    if policy.first == "upstream" and mine and theirs:
        first = [*mine, *theirs]
        omni, upstream = omni.without_first(len(mine)), upstream.without_first(len(theirs))
    both = _interleaved(anchor, omni, upstream, weave, policy, behind=behind)
    last = omni.in_removed() | upstream.in_removed()
    return [*first, *sorted(both, key=lambda strand: strand in last)]


def _anchors(weave: Weave) -> list[Strand]:
    """The strands that both omni and upstream have, in omni's order, without those that upstream has further up than
    the one before, and without clauses that are one whatever is inside: a statement may have moved past them.

    A strand in front of an anchor on one side and behind it on the other is met twice; `order` keeps the first place.
    """
    found: list[Strand] = []
    last = -1
    for strand in weave.of_omni:
        if strand.upstream is not None and strand.upstream > last and strand not in weave.joined:
            found.append(strand)
            last = strand.upstream
    return found


def _preparation_start(anchor: Strand | None, omni: _Run, weave: Weave) -> int:
    """The offset in omni's run of the additions directly in front of ``anchor`` that set what omni's edited version of
    it reads, so that upstream's additions go in front of these. Without any, the length of the run."""
    start, end = omni.start, omni.end
    if anchor is None or not _is_edited(weave, anchor):
        return end - start
    first, made = end, reads(weave.omni[end])
    for k in range(end - 1, start - 1, -1):
        if weave.of_omni[k].sides != "o" or not (weave.omni[k].is_comment or sets(weave.omni[k]) & made):
            break
        if not weave.omni[k].is_comment or first < end:
            first = k  # with the comments above it
    return first - start


def _marked_block_start(anchor: Strand | None, omni: _Run, weave: Weave) -> int:
    """The offset in omni's run of a ruler that opens a block around ``anchor``, so that upstream's additions stay in
    front of the block. Without one, the length of the run.

    A ruler with only comments between it and an ``anchor`` that omni has not edited does not count: it closes another
    block, of which somebody forgot the first ruler.
    """
    begun = (first for first, last in omni.rulers if omni.start <= first < omni.end < last)
    is_edited = anchor is not None and _is_edited(weave, anchor)
    own = (k for k in begun if is_edited or any(not node.is_comment for node in weave.omni[k : omni.end]))
    return min(own, default=omni.end) - omni.start


def _is_edited(weave: Weave, strand: Strand) -> bool:
    """Whether omni has a strand with another text than the base."""
    return strand.base is not None and weave.omni[strand.in_omni].canon != weave.base[strand.base].canon


def _owner_or_parent(nodes: Nodes, index: int) -> int:
    if index == ROOT:
        return ROOT
    return nodes[index].owner if nodes[index].owner != ROOT else nodes[index].parent


def _interleaved(
    anchor: Strand | None, omni: _Run, upstream: _Run, weave: Weave, policy: Policy, *, behind: int
) -> list[Strand]:
    """Two runs merged: each addition goes behind the base statement that it follows, or to where the one stood that it
    replaces. ``behind`` is the base index that both runs follow."""
    opened = omni.opened() if policy.first == "omni" else len(omni.strands)
    if policy.is_copy:
        opened = min(opened, _preparation_start(anchor, omni, weave), _marked_block_start(anchor, omni, weave))
    is_first = policy.first == "upstream"
    remarks = 0 if is_first or opened == len(omni.strands) else upstream.comments_behind()
    rows = [
        *_places(upstream, weave, behind, rank=0 if is_first else 2, opened=len(upstream.strands) - remarks),
        *_places(omni, weave, behind, rank=1, opened=opened),
    ]
    return [strand for _, strand in sorted(rows, key=lambda row: row[0])]


class _Place(NamedTuple):
    """Sort key of a strand: the base index that it follows (with a half: it replaces the next), the rank of its side,
    and its number in the run."""

    base: float
    rank: int
    number: int


def _places(run: _Run, weave: Weave, behind: int, *, rank: int, opened: int) -> Iterator[tuple[_Place, Strand]]:
    """The places of a run. From offset ``opened`` on, strands belong to the anchor behind the run, and go behind all
    else."""
    place: float = behind
    for k, strand in enumerate(run.strands):
        if strand.base is not None and not strand.moved:
            place = strand.base
        else:
            place = _place_behind(weave, place, run.side)
        yield _Place(place if k < opened else len(weave.base), rank, k), strand


def _place_behind(weave: Weave, place: float, side: Winner) -> float:
    """The place of an addition behind base statement ``place``: half an index further if the side has removed the next
    base statement, which the addition replaces then."""
    following = int(place) + 1
    if place != int(place) or following >= len(weave.of_base):
        return place
    return following - 0.5 if getattr(weave.of_base[following], side) is None else place
