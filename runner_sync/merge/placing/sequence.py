"""The order of the strands of a weave.

Comes in: a ``Weave``. Goes out: its strands in output order. May touch: nothing.

A diff3 over the strands that all sides know, and between them the omni and upstream additions in the order of the base
text they stand next to. In a copy what upstream adds goes in front of a marked block of omni's that is around what
follows. Of clean-ups in one ``finally`` omni's comes first whatever else does: where what a port brings fails, what was
there has run.
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
    """What one side has in front of the next strand that both have: ``nodes[start:end]``, with the strands ``of`` all
    its nodes, and the ``rulers`` among these, two by two."""

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
        """What the side alone has in the ``finally`` that the run begins in, where that is the whole of it."""
        if not self.start or self.nodes[self.start - 1].canon != "finally":
            return []
        inside = self.of[self.start : self.start + len(below(self.nodes, self.start - 1)) - 1]
        return [*inside] if all(len(strand.sides) == 1 for strand in inside) else []

    def around_next(self) -> list[int]:
        """The heads in the run around the node behind it, and what they are clauses of."""
        found = []
        above = self.end if self.end < len(self.nodes) else ROOT
        while (above := _outside(self.nodes, above)) != ROOT and above >= self.start:
            found.append(above)
        return found

    def opened(self) -> int:
        """Where in the run the outermost suite around the node behind it begins; else its length."""
        return min(self.around_next(), default=self.end) - self.start

    def comments_behind(self) -> int:
        """How many comments the run ends with."""
        found = (k for k in range(self.end - self.start) if not self.nodes[self.end - 1 - k].is_comment)
        return next(found, self.end - self.start)

    def in_removed(self) -> set[Strand]:
        """What stands in the same suite as the node behind the run, where the other side has taken that suite off: it
        follows that node into whatever that is in now."""
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
    """The strands of two runs that end at ``anchor`` (``None``: at the end), in output order."""
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
    """The strands of both sides in the order that both have them in.

    A clause is one of a condition that both sides put in; what stood in front of it on one side may be inside of it on
    the other. It goes to the first of its places then.
    """
    found: list[Strand] = []
    last = -1
    for strand in weave.of_omni:
        if strand.upstream is not None and strand.upstream > last:
            found.append(strand)
            last = strand.upstream
    return found


def _made_for(anchor: Strand | None, omni: _Run, weave: Weave) -> int:
    """Where in omni's run the additions begin that stand directly in front of ``anchor`` and make what it reads as omni
    has it: what upstream puts there is done by then. Else the length of the run."""
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


def _marked(anchor: Strand | None, omni: _Run, weave: Weave) -> int:
    """Where in omni's run a block begins whose rulers are around ``anchor``, too; else the length of the run. What
    upstream puts there is no part of that block, and one further on would be. A ruler with nothing of omni's behind it
    is the end of another block, whose first one somebody forgot."""
    begun = (first for first, last in omni.rulers if omni.start <= first < omni.end < last)
    is_edited = anchor is not None and _is_edited(weave, anchor)
    own = (k for k in begun if is_edited or any(not node.is_comment for node in weave.omni[k : omni.end]))
    return min(own, default=omni.end) - omni.start


def _is_edited(weave: Weave, strand: Strand) -> bool:
    """Whether a strand that omni has stands in the base, and with another text."""
    return strand.base is not None and weave.omni[strand.in_omni].canon != weave.base[strand.base].canon


def _outside(nodes: Nodes, index: int) -> int:
    if index == ROOT:
        return ROOT
    return nodes[index].owner if nodes[index].owner != ROOT else nodes[index].parent


def _interleaved(
    anchor: Strand | None, omni: _Run, upstream: _Run, weave: Weave, policy: Policy, *, behind: int
) -> list[Strand]:
    """Two runs without a common strand: each addition goes behind the base text it follows, or where the base text
    stood that it replaces. ``behind`` is the base index that both runs follow."""
    opened = omni.opened() if policy.first == "omni" else len(omni.strands)
    if policy.is_copy:
        opened = min(opened, _made_for(anchor, omni, weave), _marked(anchor, omni, weave))
    is_first = policy.first == "upstream"
    remarks = 0 if is_first or opened == len(omni.strands) else upstream.comments_behind()
    rows = [
        *_places(upstream, weave, behind, rank=0 if is_first else 2, opened=len(upstream.strands) - remarks),
        *_places(omni, weave, behind, rank=1, opened=opened),
    ]
    return [strand for _, strand in sorted(rows, key=lambda row: row[0])]


class _Place(NamedTuple):
    """Where a strand goes: behind which base index (half an index: where that was replaced), and then in which order
    of the sides."""

    base: float
    rank: int
    number: int


def _places(run: _Run, weave: Weave, behind: int, *, rank: int, opened: int) -> Iterator[tuple[_Place, Strand]]:
    """The places of a run. From ``opened`` on it belongs to what comes next, and begins behind all that the other side
    has in front of that but for its comments on it."""
    place: float = behind
    for k, strand in enumerate(run.strands):
        if strand.base is not None and not strand.moved:
            place = strand.base
        else:
            place = _replaced(weave, place, run.side)
        yield _Place(place if k < opened else len(weave.base), rank, k), strand


def _replaced(weave: Weave, place: float, side: Winner) -> float:
    """The place of an addition behind base statement ``place``: that of the statement the side has removed there."""
    following = int(place) + 1
    if place != int(place) or following >= len(weave.of_base):
        return place
    return following - 0.5 if getattr(weave.of_base[following], side) is None else place
