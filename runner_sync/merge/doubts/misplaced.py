"""Statements that stand in another order, or in other suites, than the sides together have put them in.

Comes in: the kept strands of a ``Weave``, and where each was written. Goes out: ``Doubt`` values. May touch: nothing.

What one side moved is gone at the one place and new at the other, so that what the other side has newly put around it
at the old place does not come along. And what a side put between two statements of which the other has moved one may
have come behind both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from runner_sync.confidence import CONTESTED, REBUILT
from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Nodes, Strand, Weave, above, any_node
from runner_sync.statements import Node, siblings

OUT_OF_ORDER = Reason("on the other side")
BOTH_MOVED = Reason("both moved")
CAME_BACK = Reason("removed block came back")


def out_of_order(weave: Weave, emitted: Emitted, asked: Sequence[Doubt]) -> list[Doubt]:
    """Additions that changed places with a statement which nobody moved: in front of what they followed, or behind what
    followed them.

    Not where they are ``asked`` about already, nor where the merge put them there for the locals that they set or read.
    """
    doubts = []
    known = {doubt.strand for doubt in asked}
    orders = emitted.as_merged, sorted(emitted.as_merged, key=lambda strand: emitted.place[strand])
    for side in ("o", "u"):
        merged, written = (_crossed(weave, order, side) for order in orders)
        doubts += [
            Doubt(strand, OUT_OF_ORDER, REBUILT) for strand in merged if strand in written and strand not in known
        ]
    return doubts


def _crossed(weave: Weave, order: Sequence[Strand], side: str) -> list[Strand]:
    """The additions of a side that stand in another order to what both sides have than on that side."""
    known = [s for s in order if side in s.sides and not s.moved and _is_statement(weave, s)]
    rows = [(s.on(side), len(s.sides) > 1) for s in known]
    before = _overtaken([(-place, is_shared) for place, is_shared in reversed(rows)])
    wrong = _overtaken(rows) | {len(rows) - 1 - k for k in before}
    return [known[k] for k in sorted(wrong)]


def _is_statement(weave: Weave, strand: Strand) -> bool:
    return not any_node(weave, strand).is_comment and not any_node(weave, strand).is_clause


def _overtaken(rows: Sequence[tuple[int, bool]]) -> set[int]:
    """Which of some places stand behind one that belongs behind them and is shared, as the second of a row says."""
    found, highest = set[int](), None
    for k, (place, is_shared) in enumerate(rows):
        if is_shared:
            highest = place if highest is None else max(highest, place)
        elif highest is not None and place < highest:
            found.add(k)
    return found


def moved_apart(weave: Weave, kept: Sequence[Strand], emitted: Emitted, asked: Sequence[Doubt]) -> list[Doubt]:
    """Statements that one side moved, and that are in the wrong suites at the new place; those that both moved, to
    different places.

    Wrong is to be outside of what the other side has newly put around the statement, and to be in what it has around
    something else. No doubt where such a suite is ``asked`` about already, or the block around it because it came back.
    """
    doubts = []
    known = {doubt.strand for doubt in asked}
    back = {doubt.strand for doubt in asked if doubt.reason == CAME_BACK}
    moves = [*_moves(weave, kept)]
    twice = {old for new, old in moves if new.sides == "o"}
    for new, old in moves:
        side = new.sides
        if old.moved and _beside(weave, new, "u").isdisjoint(_beside(weave, old, "o")):
            doubts.append(Doubt(new, BOTH_MOVED, CONTESTED))
        if old.sides == "b" and side == "u" and back.isdisjoint((new, *above(weave, new, "u"))):
            doubts.append(Doubt(new, BOTH_MOVED if old in twice else CAME_BACK, CONTESTED))
        if old.sides == "b" or old.moved:
            continue
        other = "u" if side == "o" else "o"
        base, there, here = ([*above(weave, s, at)] for s, at in ((old, "b"), (old, other), (new, side)))
        around = [head for head in there if head not in base]
        due = {head for head in (*here, *around) if head in emitted.above or head.sides == other}
        now = [*emitted.around(new)]
        wrong = [head for head in around if head in due - {*now}] + [
            head for head in now if head not in due and (head not in base or head in there)
        ]
        if wrong and known.isdisjoint(wrong):
            names = tuple(any_node(weave, head).canon for head in wrong)
            doubts.append(Doubt(new, Reason("in other suites", names), CONTESTED))
    return doubts


def moved_otherwise(weave: Weave, kept: Sequence[Strand], emitted: Emitted, asked: Sequence[Doubt]) -> list[Doubt]:
    """Statements that all three texts have, that were moved or are in another suite, and that stand on the wrong side
    of another statement.

    The right order of two is that of the side which changed it. Not where either is ``asked`` about.
    """
    known = {doubt.strand for doubt in asked}
    places = _Places(weave)
    orders = emitted.as_merged, sorted(emitted.as_merged, key=lambda strand: emitted.place[strand])
    merged, written = ({strand: k for k, strand in enumerate(order)} for order in orders)
    both = {strand: found for strand in kept if strand not in known and (found := places.of(strand)) is not None}
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
    base, omni, upstream = (next(above(weave, strand, side), None) for side in "bou")
    return strand.sides == "bou" and not (base is omni is upstream)


def _is_first(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """Whether base, omni and upstream together have one statement before another: as the side that changed that."""
    base, omni, upstream = (a < b for a, b in zip(one, other, strict=True))
    return upstream if omni == base else omni


class _Places:
    """Where statements stand in the three texts: one that was moved is told by how it begins."""

    def __init__(self, weave: Weave) -> None:
        sides = (weave.base, weave.of_base), (weave.omni, weave.of_omni), (weave.upstream, weave.of_upstream)
        self._weave = weave
        self._found = [_once(nodes, of) for nodes, of in sides]
        self._places = [{strand: k for k, strand in enumerate(of)} for _, of in sides]

    def of(self, strand: Strand) -> tuple[int, int, int] | None:
        """The places in base, omni and upstream of a statement that all three have."""
        node = any_node(self._weave, strand)
        if node.is_comment or node.is_clause:
            return None
        start = _start(node)
        same = [strand if strand.sides == "bou" else at.get(start) for at in self._found]
        base, omni, upstream = (at.get(one) if one else None for at, one in zip(self._places, same, strict=True))
        return (base, omni, upstream) if base is not None and omni is not None and upstream is not None else None


def moved_to(weave: Weave, kept: Sequence[Strand]) -> dict[Strand, Strand]:
    """The strands at the new places of statements that one side moved, by those at the old ones."""
    return {old: new for new, old in _moves(weave, kept)}


def _moves(weave: Weave, kept: Sequence[Strand]) -> Iterator[tuple[Strand, Strand]]:
    """Moves as the weave has them: an addition, and the statement of the base that it is, which is gone at the old
    place.

    Both must say enough, and each be the only one of its text that begins so.
    """
    gone = _once(weave.base, weave.of_base)
    added = _once(weave.omni, weave.of_omni), _once(weave.upstream, weave.of_upstream)
    for strand in kept:
        if strand.sides in ("o", "u"):
            start = _start(any_node(weave, strand))
            old = gone.get(start)
            is_gone = old is not None and (old.sides == "b" or not old.kept)
            if old is not None and is_gone and added[strand.sides == "u"].get(start) is strand:
                yield strand, old


def _once(nodes: Nodes, of: Sequence[Strand]) -> dict[str, Strand]:
    """The telling statements of which a text has one that begins so, by that."""
    counted = Counter(_start(node) for node in nodes)
    return {
        _start(node): strand
        for node, strand in zip(nodes, of, strict=True)
        if counted[_start(node)] == 1 and node.is_telling and not node.is_clause
    }


def _start(node: Node) -> str:
    """What a statement binds and calls, or all of one that calls nothing: one that was moved may have been edited."""
    return node.canon.partition("(")[0] or node.canon


def _beside(weave: Weave, strand: Strand, side: str) -> set[tuple[str, str]]:
    """The statements that a side has before and behind one in its suite."""
    nodes, _ = weave.side(side)
    beside = {where: siblings(nodes, strand.on(side), step=step) for where, step in (("before", -1), ("behind", 1))}
    nearest = {where: next((k for k in row if not nodes[k].is_clause), None) for where, row in beside.items()}
    return {(where, nodes[k].canon) for where, k in nearest.items() if k is not None}
