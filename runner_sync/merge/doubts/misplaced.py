"""Find statements whose order or suite differs from what the changes of both sides together imply.

Comes in: the kept strands of a ``Weave``, and where each was written. Goes out: ``Doubt`` values. May touch: nothing.

To the merge, a move is one removal and one addition. So a block that the other side newly put around the statement at
its old place does not come along. And an addition between two statements, one of which the other side moved, may end up
behind both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from runner_sync.confidence import CONTESTED, REBUILT
from runner_sync.merge.matching.pairs import index_unique
from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import (
    Doubt,
    Nodes,
    Strand,
    Weave,
    find_nearest_sibling,
    heads_around,
    other_side,
    pick_node,
)
from runner_sync.statements import EXITS, Node, clauses, siblings
from runner_sync.statements.dataflow import uses_anything_of

OUT_OF_ORDER = Reason("on the other side")
BOTH_MOVED = Reason("both moved")
CAME_BACK = Reason("removed block came back")


def find_out_of_order(weave: Weave, emitted: Emitted, asked: Sequence[Doubt]) -> list[Doubt]:
    """Return doubts about additions that changed places with a statement that nobody moved.

    They now stand in front of what they followed, or behind what followed them. Skips strands in ``asked``, and strands
    that the merge itself moved next to the locals that they read or set: the order must be wrong both as merged and as
    written. Also skips an addition behind a suite into which the other side moved the statement, if the addition stands
    behind that suite on its own side too (`_is_right_behind`).
    """
    doubts = []
    known = {doubt.strand for doubt in asked}
    orders = emitted.as_merged, sorted(emitted.as_merged, key=lambda strand: emitted.place[strand])
    for side in ("o", "u"):
        merged, written = (find_crossed(weave, order, side) for order in orders)
        doubts += [
            Doubt(strand, OUT_OF_ORDER, REBUILT)
            for strand in merged
            if strand in written and strand not in known and not _is_right_behind(weave, strand, side, emitted)
        ]
    return doubts


def _is_right_behind(weave: Weave, strand: Strand, side: str, emitted: Emitted) -> bool:
    """Whether an addition stands directly behind the same ``with`` or ``try`` as on its side, and has no other place.

    Everything that it changed places with must be inside that block now, contain no exit, and share no value with it.
    """
    nodes, strands = weave.side(side)
    top = [strand, *takewhile(lambda head: head.sides == side, heads_around(weave, strand, side))][-1]
    before = (strands[k] for k in siblings(nodes, top.on(side), step=-1) if not nodes[k].is_clause)
    block = next((other for other in before if other.sides != side), None)
    if block is None or pick_node(weave, block).is_condition or block not in emitted.above:
        return False
    if emitted.above[block] is not emitted.above.get(top):
        return False
    place, line = strand.on(side), emitted.place[strand][0]
    shared = (other for other in emitted.place if side in other.sides and len(other.sides) > 1)
    passed = [s for s in shared if _is_statement(weave, s) and (s.on(side) > place) == (emitted.place[s][0] < line)]
    return all(
        other.on(side) > place
        and block in emitted.around(other)
        and _are_independent(pick_node(weave, other), nodes[strand.on(side)])
        for other in passed
    )


def _are_independent(one: Node, other: Node) -> bool:
    """Whether neither of two statements leaves its suite, or sets what the other mentions."""
    leaves = {one.keyword, other.keyword} & EXITS
    return not leaves and not uses_anything_of([one], [other]) and not uses_anything_of([other], [one])


def find_crossed(weave: Weave, order: Sequence[Strand], side: str) -> list[Strand]:
    """Return a side's additions that ``order`` puts on the wrong side of a shared, unmoved statement."""
    known = [s for s in order if side in s.sides and not s.moved and _is_statement(weave, s)]
    rows = [(s.on(side), len(s.sides) > 1) for s in known]
    before = _find_overtaken([(-place, is_shared) for place, is_shared in reversed(rows)])
    wrong = _find_overtaken(rows) | {len(rows) - 1 - k for k in before}
    return [known[k] for k in sorted(wrong)]


def _is_statement(weave: Weave, strand: Strand) -> bool:
    return not pick_node(weave, strand).is_comment and not pick_node(weave, strand).is_clause


def _find_overtaken(rows: Sequence[tuple[int, bool]]) -> set[int]:
    """Return the indices of unshared rows behind a shared row of a higher place. A row is ``(place, is_shared)``."""
    found, highest = set[int](), None
    for k, (place, is_shared) in enumerate(rows):
        if is_shared:
            highest = place if highest is None else max(highest, place)
        elif highest is not None and place < highest:
            found.add(k)
    return found


def find_moved_apart(weave: Weave, kept: Sequence[Strand], emitted: Emitted, asked: Sequence[Doubt]) -> list[Doubt]:
    """Return doubts about statements that one side moved into wrong suites, or that both moved to different places.

    A suite is wrong if the other side newly put it around the statement, which is now outside it, or if it is now
    around the statement but belongs to something else. There is also a doubt if omni removed a statement that upstream
    moved. Skips a statement if such a suite, or the statement whose clause it is, is in ``asked``, or if the statement
    stands in a block that is asked about because it came back.
    """
    doubts = []
    known = {strand for doubt in asked for strand in _with_clauses(weave, doubt.strand)}
    back = {doubt.strand for doubt in asked if doubt.reason == CAME_BACK}
    moves = [*_iter_moves(weave, kept)]
    twice = {old for new, old in moves if new.sides == "o"}
    for new, old in moves:
        if old.moved and _find_neighbours(weave, new, "u").isdisjoint(_find_neighbours(weave, old, "o")):
            doubts.append(Doubt(new, BOTH_MOVED, CONTESTED))
        if old.sides == "b" and new.sides == "u" and back.isdisjoint((new, *heads_around(weave, new, "u"))):
            doubts.append(Doubt(new, BOTH_MOVED if old in twice else CAME_BACK, CONTESTED))
        if old.sides == "b" or old.moved:
            continue
        wrong = _find_wrong_suites(weave, emitted, old, new)
        if wrong and known.isdisjoint(wrong):
            names = tuple(pick_node(weave, head).canon for head in wrong)
            doubts.append(Doubt(new, Reason("in other suites", names), CONTESTED))
    return doubts


def _find_wrong_suites(weave: Weave, emitted: Emitted, old: Strand, new: Strand) -> list[Strand]:
    """Return the heads that a moved statement should stand below and does not, or does and should not."""
    other = other_side(new.sides)
    base, there, here = ([*heads_around(weave, s, at)] for s, at in ((old, "b"), (old, other), (new, new.sides)))
    around = [head for head in there if head not in base]
    due = {head for head in (*here, *around) if head in emitted.above or head.sides == other}
    now = [*emitted.around(new)]
    missed = [head for head in around if head in due - {*now}]
    return [*missed, *(head for head in now if head not in due and (head not in base or head in there))]


def _with_clauses(weave: Weave, strand: Strand) -> list[Strand]:
    """Return a strand and, if upstream has it, the clauses that upstream has of it."""
    of = () if strand.upstream is None else clauses(weave.upstream, strand.upstream)
    return [strand, *(weave.of_upstream[k] for k in of)]


def find_misplaced_moves(weave: Weave, kept: Sequence[Strand], emitted: Emitted, asked: Sequence[Doubt]) -> list[Doubt]:
    """Return doubts about moved statements of all three texts that stand on the wrong side of another statement.

    A side moved the statement, or put it into another suite. The right order of two statements is that of the side
    which changed it. Skips strands in ``asked``.
    """
    known = {doubt.strand for doubt in asked}
    places = _Places(weave)
    orders = emitted.as_merged, sorted(emitted.as_merged, key=lambda strand: emitted.place[strand])
    merged, written = ({strand: k for k, strand in enumerate(order)} for order in orders)
    both = {strand: found for strand in kept if strand not in known and (found := places.locate(strand)) is not None}
    doubts = []
    for strand in kept:
        if strand not in both or not (
            strand.moved or strand.sides in ("o", "u") or _is_in_another_suite(weave, strand)
        ):
            continue
        for other in both:
            is_first = merged[strand] < merged[other]
            if is_first == (written[strand] < written[other]) and is_first != _is_first(both[strand], both[other]):
                doubts.append(Doubt(strand, OUT_OF_ORDER, REBUILT))
                del both[strand]
                break
    return doubts


def _is_in_another_suite(weave: Weave, strand: Strand) -> bool:
    base, omni, upstream = (next(heads_around(weave, strand, side), None) for side in "bou")
    return strand.sides == "bou" and not (base is omni is upstream)


def _is_first(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """Whether one statement belongs before another, by a three-way merge of their order in the texts."""
    base, omni, upstream = (a < b for a, b in zip(one, other, strict=True))
    return upstream if omni == base else omni


class _Places:
    """Where statements stand in the three texts; a moved one is recognised by its beginning (`_get_start`)."""

    def __init__(self, weave: Weave) -> None:
        sides = (weave.base, weave.of_base), (weave.omni, weave.of_omni), (weave.upstream, weave.of_upstream)
        self._weave = weave
        self._found = [_index_unique_starts(nodes, strands) for nodes, strands in sides]
        self._places = [{strand: k for k, strand in enumerate(strands)} for _, strands in sides]

    def locate(self, strand: Strand) -> tuple[int, int, int] | None:
        """Return the places of a statement in base, omni and upstream; ``None`` unless all three have it."""
        node = pick_node(self._weave, strand)
        if node.is_comment or node.is_clause:
            return None
        start = _get_start(node)
        same = [strand if strand.sides == "bou" else at.get(start) for at in self._found]
        base, omni, upstream = (at.get(one) if one else None for at, one in zip(self._places, same, strict=True))
        return (base, omni, upstream) if base is not None and omni is not None and upstream is not None else None


def find_moves(weave: Weave, kept: Sequence[Strand]) -> dict[Strand, Strand]:
    """Return ``{strand at the old place: strand at the new place}`` of the statements that one side moved."""
    return {old: new for new, old in _iter_moves(weave, kept)}


def _iter_moves(weave: Weave, kept: Sequence[Strand]) -> Iterator[tuple[Strand, Strand]]:
    """Yield ``(addition, old strand)`` for each addition that begins like a base statement that is gone from its place.

    Both must be telling, and each must be the only one in its text that begins like this.
    """
    gone = _index_unique_starts(weave.base, weave.of_base)
    added = _index_unique_starts(weave.omni, weave.of_omni), _index_unique_starts(weave.upstream, weave.of_upstream)
    for strand in kept:
        if strand.sides in ("o", "u"):
            start = _get_start(pick_node(weave, strand))
            old = gone.get(start)
            is_gone = old is not None and (old.sides == "b" or not old.kept)
            if old is not None and is_gone and added[strand.sides == "u"].get(start) is strand:
                yield strand, old


def _index_unique_starts(nodes: Nodes, strands: Sequence[Strand]) -> dict[str, Strand]:
    """Return ``{beginning: strand}`` of the telling statements whose `_get_start` is unique in their text."""
    found = index_unique((_get_start(node), (node, strand)) for node, strand in zip(nodes, strands, strict=True))
    return {start: strand for start, (node, strand) in found.items() if node.is_telling and not node.is_clause}


def _get_start(node: Node) -> str:
    """Return the text up to the first bracket, so that a statement with edited arguments is recognised."""
    return node.canon.partition("(")[0] or node.canon


def _find_neighbours(weave: Weave, strand: Strand, side: str) -> set[tuple[str, str]]:
    """Return ``("before", text)`` and ``("behind", text)`` of a strand's nearest siblings on one side."""
    nodes, _ = weave.side(side)
    beside = (("before", -1), ("behind", 1))
    nearest = {where: find_nearest_sibling(nodes, strand.on(side), step) for where, step in beside}
    return {(where, nodes[k].canon) for where, k in nearest.items() if k is not None}
