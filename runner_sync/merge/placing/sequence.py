"""The order of the strands of a weave.

Comes in: a ``Weave``. Goes out: its strands in output order. May touch: nothing.

A diff3 over the strands that all sides know, and between them the omni and upstream additions in the order of the base
text they stand next to. Of clean-ups in one ``finally`` omni's comes first whatever else does: where what a port brings
fails, what was there has run.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.placing.rulers import pairs
from runner_sync.merge.policy import Policy
from runner_sync.merge.weave import Nodes, Strand, Weave
from runner_sync.statements import ROOT, below
from runner_sync.statements.dataflow import reads, sets


def order(weave: Weave, policy: Policy) -> list[Strand]:
    """Every strand that omni or upstream has, once, in output order (kept or not)."""
    if policy.updates_only:
        return list(weave.of_omni)
    out: list[Strand] = []
    marked = list(pairs(weave)) if policy.is_copy else []
    o = u = 0
    for anchor in [*_anchors(weave), None]:
        end_o = anchor.omni if anchor is not None else len(weave.omni)
        end_u = anchor.upstream if anchor is not None else len(weave.upstream)
        assert end_o is not None
        assert end_u is not None
        behind = next((s.base for s in reversed(weave.of_omni[:o]) if s.base is not None and not s.moved), -1)
        mine, theirs = (
            _cleaning_up(*side) for side in ((weave.omni, weave.of_omni, o), (weave.upstream, weave.of_upstream, u))
        )
        if policy.first == "upstream" and mine and theirs:
            out += [*mine, *theirs]
            o, u = o + len(mine), u + len(theirs)
        opened = end_o - o
        if policy.first == "omni":
            opened = _opened(weave.omni, o, end_o)
        if policy.is_copy:
            opened = min(opened, _made_for(weave, o, anchor), _marked(weave, marked, o, anchor))
        both = _interleave(weave, weave.of_omni[o:end_o], weave.of_upstream[u:end_u], policy, behind, opened)
        last = _in_removed(weave.omni, weave.of_omni, o, end_o) | _in_removed(
            weave.upstream, weave.of_upstream, u, end_u
        )
        out += sorted(both, key=lambda strand: strand in last)
        if anchor is not None:
            out.append(anchor)
        o, u = end_o + 1, end_u + 1
    return list({id(strand): strand for strand in out}.values())


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


def _cleaning_up(nodes: Nodes, strands: list[Strand], start: int) -> list[Strand]:
    """What a side alone has in the ``finally`` in front of ``start``, where that is the whole of it."""
    if not start or nodes[start - 1].canon != "finally":
        return []
    inside = strands[start : start + len(below(nodes, start - 1)) - 1]
    return inside if all(len(strand.sides) == 1 for strand in inside) else []


def _opened(nodes: Nodes, start: int, end: int) -> int:
    """Where in ``nodes[start:end]`` the outermost suite around the node behind them begins; else their number."""
    return min(_around(nodes, start, end), default=end) - start


def _around(nodes: Nodes, start: int, end: int) -> list[int]:
    """The heads in ``nodes[start:end]`` around the node behind them, and what they are clauses of."""
    found = []
    above = end if end < len(nodes) else ROOT
    while (above := _outside(nodes, above)) != ROOT and above >= start:
        found.append(above)
    return found


def _made_for(weave: Weave, start: int, anchor: Strand | None) -> int:
    """Where in omni's run from ``start`` to ``anchor`` the additions begin that stand directly in front of it and make
    what it reads as omni has it: what upstream puts there is done by then. Else the length of the run."""
    end = anchor.in_omni if anchor is not None else len(weave.omni)
    if anchor is None or not _is_edited(weave, anchor):
        return end - start
    first, made = end, reads(weave.omni[end])
    for k in range(end - 1, start - 1, -1):
        if weave.of_omni[k].sides != "o" or not (weave.omni[k].is_comment or sets(weave.omni[k]) & made):
            break
        if not weave.omni[k].is_comment or first < end:
            first = k  # with the comments above it
    return first - start


def _marked(weave: Weave, marked: Sequence[tuple[int, int]], start: int, anchor: Strand | None) -> int:
    """Where in omni's run from ``start`` to ``anchor`` a block begins whose rulers are around what follows, too; else
    the length of the run. What upstream puts there is no part of that block, and one further on would be. A ruler with
    nothing of omni's behind it is the end of another block, whose first one somebody forgot."""
    end = anchor.in_omni if anchor is not None else len(weave.omni)
    begun = (first for first, last in marked if start <= first < end < last)
    is_edited = anchor is not None and _is_edited(weave, anchor)
    own = (k for k in begun if is_edited or any(not node.is_comment for node in weave.omni[k:end]))
    return min(own, default=end) - start


def _is_edited(weave: Weave, strand: Strand) -> bool:
    """Whether a strand that omni has stands in the base, and with another text."""
    return strand.base is not None and weave.omni[strand.in_omni].canon != weave.base[strand.base].canon


def _outside(nodes: Nodes, index: int) -> int:
    if index == ROOT:
        return ROOT
    return nodes[index].owner if nodes[index].owner != ROOT else nodes[index].parent


def _in_removed(nodes: Nodes, of: Sequence[Strand], start: int, end: int) -> set[Strand]:
    """What a side has in front of the node behind ``nodes[start:end]``, in the same suite that the other side has taken
    off: it follows that node into whatever that is in now."""
    removed = [k for k in _around(nodes, start, end) if of[k].sides in ("bo", "bu")]
    return set(of[min(removed) + 1 : end]) if removed else set()


def _interleave(
    weave: Weave, omni: list[Strand], upstream: list[Strand], policy: Policy, behind: int, opened: int
) -> list[Strand]:
    """Two runs without a common strand: each addition goes behind the base text it follows, or where the base text
    stood that it replaces. ``behind`` is the base index that both runs follow. From ``opened`` on omni's run belongs to
    what comes next, and begins behind all that upstream has in front of that but for its comments on it."""
    rank = 0 if policy.first == "upstream" else 2
    remarks = _remarks_behind(weave, upstream) if opened < len(omni) and rank else 0
    rows = [
        *_places(weave, upstream, rank, behind, "upstream", opened=len(upstream) - remarks),
        *_places(weave, omni, 1, behind, "omni", opened=opened),
    ]
    return [strand for *_, strand in sorted(rows, key=lambda row: row[:3])]


def _remarks_behind(weave: Weave, upstream: Sequence[Strand]) -> int:
    """How many comments upstream's run ends with."""
    found = (k for k, strand in enumerate(reversed(upstream)) if not weave.upstream[strand.in_upstream].is_comment)
    return next(found, len(upstream))


def _places(
    weave: Weave, run: list[Strand], side: int, behind: int, name: str, *, opened: int
) -> list[tuple[float, int, int, Strand]]:
    place: float = behind
    rows = []
    for k, strand in enumerate(run):
        if strand.base is not None and not strand.moved:
            place = strand.base
        else:
            place = _replaced(weave, place, name)
        rows.append((place if k < opened else len(weave.base), side, k, strand))
    return rows


def _replaced(weave: Weave, place: float, name: str) -> float:
    """The place of an addition behind base statement ``place``: that of the statement the side has removed there."""
    following = int(place) + 1
    if place != int(place) or following >= len(weave.of_base):
        return place
    return following - 0.5 if getattr(weave.of_base[following], name) is None else place
