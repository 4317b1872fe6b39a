"""What upstream adds to a part that omni took out: it goes to a neighbour that is left, or stays out.

Comes in: a ``Weave`` whose removals are settled. Goes out: ``Doubt`` values; the strands that stay out are marked. May
touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.dataflow import binds, reads
from runner_sync.merge.weave import Doubt, Strand, Weave, any_node
from runner_sync.statements import ROOT, Node


def inside_removed(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """What one side adds inside a suite that the other side does not have.

    Where omni has a neighbour of it, in whatever suite, the addition goes to that neighbour; else it stays out.
    """
    doubts = []
    for strand in strands:
        if strand.sides != "u" or not strand.kept:
            continue
        node = weave.upstream[strand.upstream or 0]
        above = weave.of_upstream[node.parent] if node.parent >= 0 else None
        if above is None or above.kept or _has_neighbour(weave, strand.upstream or 0):
            continue
        strand.kept = False
        if not node.is_comment and above.sides == "bu":
            doubts.append(Doubt(strand, "upstream added to a block that omni had removed", 0.6))
    return doubts


def between_removed(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """What upstream adds to a passage that omni had taken out: between two statements of one suite, both removed.

    Only for a copy: a text that was made in another way has not removed what it lacks.
    """
    doubts = []
    for strand in strands:
        if strand.sides != "u" or not strand.kept or strand.upstream is None:
            continue
        whole = _below(weave.upstream, strand.upstream)
        around = [_sibling(weave, strand.upstream, step) for step in (-1, 1)]
        removed = all(other is not None and other.sides == "bu" and not other.kept for other in around)
        if removed and all(weave.of_upstream[k].sides == "u" for k in whole):
            for k in whole:
                weave.of_upstream[k].kept = False
            if not any_node(weave, strand).is_comment:
                doubts.append(Doubt(strand, "upstream added to a passage that omni had removed", 0.6))
    return doubts


def without_definitions(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """What upstream adds that reads a local which omni no longer sets: it belongs to the part that omni took out."""
    doubts: list[Doubt] = []
    while True:
        set_here = {name for s in strands if s.kept for name in binds(any_node(weave, s))}
        set_there = {name for s in strands if s.sides == "bu" and not s.kept for name in binds(any_node(weave, s))}
        lost = (set_there | _left_out_names(weave, doubts)) - set_here
        strand = next((s for s in strands if s.sides == "u" and s.kept and reads(any_node(weave, s)) & lost), None)
        if strand is None:
            return doubts
        name = min(reads(any_node(weave, strand)) & lost)
        for index in _whole_addition(weave, strand):
            weave.of_upstream[index].kept = False
        doubts.append(Doubt(strand, f"upstream added a use of {name}, which omni does not set", 0.6))


def loops_with_additions(weave: Weave, strands: Sequence[Strand], *, replaced: bool) -> list[Doubt]:
    """Loops that upstream removed though omni had added to them: what stood in a loop makes no sense outside of it.

    The loop stays around omni's additions where upstream's work is ``replaced`` by what it puts in its place, and as a
    whole, without a replacement, where it is not.
    """
    doubts = []
    for index, strand in enumerate(weave.of_omni):
        if strand.kept or strand.sides != "bo" or not weave.omni[index].canon.startswith(LOOPS):
            continue
        inside = [weave.of_omni[k] for k in _below(weave.omni, index)]
        if not any(s.sides == "o" and s.kept and not any_node(weave, s).is_comment for s in inside):
            continue
        strand.kept = True
        if not replaced:
            for member in inside:
                member.kept = True
            for other in _run_of(strands, strand):
                other.kept = other.omni is not None and other.kept
        doubts.append(Doubt(strand, "upstream removed a loop that omni had added to", 0.4))
    return doubts


LOOPS = ("for ", "while ", "async for ")


def _run_of(strands: Sequence[Strand], strand: Strand) -> list[Strand]:
    """The strands around one, up to the next that both omni and upstream have."""
    at = next(k for k, other in enumerate(strands) if other is strand)
    both = [k for k, other in enumerate(strands) if other.omni is not None and other.upstream is not None]
    first = max((k for k in both if k < at), default=-1) + 1
    return list(strands[first : min((k for k in both if k > at), default=len(strands))])


def _left_out_names(weave: Weave, doubts: Sequence[Doubt]) -> set[str]:
    left_out = [index for doubt in doubts for index in _whole_addition(weave, doubt.strand)]
    return {name for index in left_out for name in binds(weave.upstream[index])}


def _whole_addition(weave: Weave, strand: Strand) -> list[int]:
    """The statement with the outermost suite around it that is all upstream's addition, as indices."""
    top = strand.upstream
    assert top is not None
    while (above := weave.upstream[top].parent) != ROOT and all(
        weave.of_upstream[k].sides == "u" for k in _below(weave.upstream, above)
    ):
        top = above
    return _below(weave.upstream, top)


def _below(nodes: Sequence[Node], index: int) -> list[int]:
    """A statement and everything inside it and its clauses, as indices."""
    inside = {index}
    for k in range(index + 1, len(nodes)):
        if nodes[k].parent in inside or nodes[k].owner in inside:
            inside.add(k)
    return sorted(inside)


def _sibling(weave: Weave, index: int, step: int) -> Strand | None:
    """The nearest statement before or after, in the same suite of upstream, that the base has, too."""
    parent = weave.upstream[index].parent
    k = index + step
    while 0 <= k < len(weave.upstream) and k != parent:
        node, other = weave.upstream[k], weave.of_upstream[k]
        if node.parent == parent and not node.is_comment and other.base is not None:
            return other
        k += step
    return None


def _has_neighbour(weave: Weave, index: int) -> bool:
    """Whether the nearest old statement before or after, in the same suite of upstream, stands in omni too."""
    parent = weave.upstream[index].parent
    for step in (-1, 1):
        k = index + step
        while 0 <= k < len(weave.upstream) and k != parent:
            node, other = weave.upstream[k], weave.of_upstream[k]
            if node.parent == parent and not node.is_comment and other.base is not None:
                if other.omni is not None:
                    return True
                break
            k += step
    return False
