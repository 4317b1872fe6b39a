"""What upstream adds to a part that omni took out: it goes to a neighbour that is left, or stays out.

Comes in: a ``Weave`` whose removals are settled. Goes out: ``Doubt`` values; the strands that stay out are marked. May
touch: nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync.merge.confidence import CONTESTED, DOUBTFUL, INFERRED, REBUILT
from runner_sync.merge.dataflow import attributes_set, binds, reads, uses
from runner_sync.merge.nesting import is_beyond
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, any_node
from runner_sync.statements import Node, below


def inside_removed(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """What one side adds inside a suite that the other side does not have.

    Where omni has a neighbour of it, in whatever suite, the addition goes to that neighbour; else it stays out.
    """
    doubts = []
    for strand in strands:
        if strand.sides != "u" or not strand.kept:
            continue
        node = weave.upstream[strand.in_upstream]
        above = weave.of_upstream[node.parent] if node.parent >= 0 else None
        if above is None or above.kept or _has_neighbour(weave, strand.in_upstream):
            continue
        strand.kept = False
        if not node.is_comment and above.sides == "bu":
            doubts.append(Doubt(strand, Reason("addition to a removed block"), INFERRED))
    return doubts


def between_removed(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """What upstream adds to a passage that omni had taken out: between two statements of one suite, both removed.

    Only for a copy: a text that was made in another way has not removed what it lacks.
    """
    doubts = []
    for strand in strands:
        if strand.sides != "u" or not strand.kept or strand.upstream is None:
            continue
        whole = below(weave.upstream, strand.upstream)
        around = [_sibling(weave, strand.upstream, step) for step in (-1, 1)]
        removed = all(other is not None and other.sides == "bu" and not other.kept for other in around)
        if removed and all(weave.of_upstream[k].sides == "u" for k in whole):
            for k in whole:
                weave.of_upstream[k].kept = False
            if not any_node(weave, strand).is_comment:
                doubts.append(Doubt(strand, Reason("addition to a removed passage"), INFERRED))
    return doubts


def loops_with_additions(weave: Weave, strands: Sequence[Strand], *, replaced: bool) -> list[Doubt]:
    """Loops that upstream removed though omni had added to them: what stood in a loop makes no sense outside of it.

    The loop stays around omni's additions where upstream's work is ``replaced`` by what it puts in its place, and as a
    whole, without a replacement, where it is not.
    """
    doubts = []
    for index, strand in enumerate(weave.of_omni):
        if strand.kept or strand.sides != "bo" or not weave.omni[index].canon.startswith(LOOPS):
            continue
        inside = [weave.of_omni[k] for k in below(weave.omni, index)]
        if not any(s.sides == "o" and s.kept and not any_node(weave, s).is_comment for s in inside):
            continue
        strand.kept = True
        if not replaced:
            for member in inside:
                member.kept = True
            _leave_out_replacement(strands, strand)
        doubts.append(Doubt(strand, Reason("loop with additions removed"), REBUILT))
    return doubts


def suites_with_edits(
    weave: Weave, strands: Sequence[Strand], doubts: Sequence[Doubt], *, replaced: bool
) -> list[Doubt]:
    """The doubts, once blocks that upstream removed and inside which an edit of omni's stays are kept as they were.

    An edited statement alone would run where it never ran: without its condition, and without what stood before it.
    Where upstream's work is not ``replaced`` by what it puts in its place, that stays out.
    """
    doubts = list(doubts)
    for index, strand in enumerate(weave.of_omni):
        if strand.kept or strand.sides != "bo" or not weave.omni[index].compound or weave.omni[index].is_clause:
            continue
        inside = [weave.of_omni[k] for k in below(weave.omni, index)[1:]]
        edited = [other for other in inside if other.sides == "bo" and other.kept]
        if not edited or any(other.sides == "bou" for other in inside):
            continue
        for member in (strand, *inside):
            member.kept = True
        if not replaced:
            _leave_out_replacement(strands, strand)
        doubts = [doubt for doubt in doubts if not any(doubt.strand is member for member in inside)]
        doubts.append(Doubt(strand, Reason("edited block removed"), CONTESTED))
    return doubts


def set_for_nothing(weave: Weave, kept: Sequence[Strand], doubts: Sequence[Doubt]) -> list[Doubt]:
    """The doubts, with those about statements of omni's whose locals nothing reads any more; one for each statement."""
    found = {id(doubt.strand): doubt for doubt in _set_for_nothing(weave, kept)}
    out = []
    for doubt in doubts:
        unread = found.get(id(doubt.strand)) if doubt.reason.kind == "edited statement removed" else None
        if unread is not None:
            del found[id(doubt.strand)]
            doubt = replace(doubt, reason=Reason("edited statement unread", unread.reason.names))
        out.append(doubt)
    return [*out, *found.values()]


def _set_for_nothing(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Locals that omni sets and read, and that nothing reads in the result: half of something of omni's went."""
    read_before = {name for node in weave.omni for name in uses(node)}
    read_now = {name for strand in kept for node in _versions(weave, strand) for name in uses(node)}
    doubts = []
    for strand in kept:
        if strand.omni is None or strand.upstream is not None:
            continue
        names = sorted(binds(weave.omni[strand.omni]) & (read_before - read_now))
        if names and not weave.omni[strand.omni].compound:
            doubts.append(Doubt(strand, Reason("no longer read", tuple(names)), CONTESTED))
    return doubts


def emptied(weave: Weave, suite: Strand) -> Doubt:
    """What became of the inside of a block that omni had added and that is empty now: shown is what is left of it."""
    inside = [weave.of_omni[k] for k in below(weave.omni, suite.in_omni)[1:] if not weave.omni[k].is_comment]
    left = next((strand for strand in inside if strand.kept), None)
    return Doubt(suite, Reason("added block emptied" if left is None else "added block left"), CONTESTED, left)


def set_twice(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Attributes that omni sets by a statement of its own and upstream now by a new one: the later one wins."""
    mine = {target for s in kept if s.sides == "o" for target in attributes_set(any_node(weave, s))}
    doubts = []
    for strand in kept:
        both = sorted(mine & attributes_set(any_node(weave, strand))) if strand.sides == "u" else []
        if both:
            doubts.append(Doubt(strand, Reason("set by both", (both[0],)), CONTESTED))
    return doubts


def used_too_early(weave: Weave, kept: Sequence[Strand], line: Mapping[int, int]) -> list[Doubt]:
    """Omni's own uses of a local in front of the statement that sets it now: moved by upstream, or put in its place.

    ``line[id(strand)]`` is where a strand stands in the result.
    """
    doubts = []
    replacing: dict[str, int] = {}
    for place, name in ((line[id(s)], name) for s in kept if s.sides == "u" for name in binds(any_node(weave, s))):
        replacing[name] = min(place, replacing.get(name, place))
    setters: dict[str, list[int]] = defaultdict(list)
    for index, node in enumerate(weave.omni):
        for name in binds(node):
            setters[name].append(index)
    for strand in kept:
        if strand.sides != "o" or (omni := strand.omni) is None:
            continue
        for name in sorted(reads(weave.omni[omni])):
            above = bisect_left(setters[name], omni) - 1
            setter = weave.of_omni[setters[name][above] if above >= 0 else omni]
            gone = not setter.kept or _is_without(weave, setter, name)
            instead = replacing.get(name) if gone else None
            if (line.get(id(setter), 0) if instead is None else instead) > line[id(strand)]:
                doubts.append(Doubt(strand, Reason("set below its use", (name,)), DOUBTFUL))
                break
    return doubts


def under_new_conditions(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Omni's own statements at the end of a branch that upstream put around what stood before them: they went along
    with their neighbour, and run under its condition now."""
    doubts = []
    last = {id(other.parent): at for at, other in enumerate(kept) if other.upstream is not None}
    for at, strand in enumerate(kept):
        above = strand.parent
        if strand.sides != "o" or any_node(weave, strand).is_comment or above is None or above.sides != "u":
            continue
        if any_node(weave, above).canon.startswith(CONDITIONS) and last.get(id(above), at) <= at:
            doubts.append(Doubt(strand, Reason("under a new condition", (any_node(weave, above).canon,)), REBUILT))
    return doubts


CONDITIONS = ("if ", "elif ", "else", "for ", "while ", "except")


def _is_without(weave: Weave, setter: Strand, name: str) -> bool:
    """Whether upstream's version of a statement that omni has unedited sets a name no more."""
    if setter.base is None or setter.omni is None or setter.upstream is None:
        return False
    is_edited = weave.omni[setter.omni].canon != weave.base[setter.base].canon
    return not is_edited and name not in binds(weave.upstream[setter.upstream])


def _versions(weave: Weave, strand: Strand) -> list[Node]:
    """What a kept statement can read like."""
    sides = ((weave.omni, strand.omni), (weave.upstream, strand.upstream))
    return [nodes[index] for nodes, index in sides if index is not None]


LOOPS = ("for ", "while ", "async for ")


def _leave_out_replacement(strands: Sequence[Strand], strand: Strand) -> None:
    for other in _run_of(strands, strand):
        other.kept = other.omni is not None and other.kept


def _run_of(strands: Sequence[Strand], strand: Strand) -> list[Strand]:
    """The strands around one, up to the next that both omni and upstream have."""
    at = next(k for k, other in enumerate(strands) if other is strand)
    both = [k for k, other in enumerate(strands) if other.omni is not None and other.upstream is not None]
    first = max((k for k in both if k < at), default=-1) + 1
    return list(strands[first : min((k for k in both if k > at), default=len(strands))])


def _sibling(weave: Weave, index: int, step: int) -> Strand | None:
    """The nearest statement before or after, in the same suite of upstream, that the base has, too."""
    parent = weave.upstream[index].parent
    k = index + step
    while 0 <= k < len(weave.upstream) and k != parent and not is_beyond(weave.upstream, k, parent):
        node, other = weave.upstream[k], weave.of_upstream[k]
        if node.parent == parent and not node.is_comment and other.base is not None:
            return other
        k += step
    return None


def _has_neighbour(weave: Weave, index: int) -> bool:
    """Whether the nearest old statement before or after, in the same suite of upstream, stands in omni too."""
    around = [_sibling(weave, index, step) for step in (-1, 1)]
    return any(other is not None and other.omni is not None for other in around)
