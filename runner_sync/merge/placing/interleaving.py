"""Nest the new suites that both sides put around the same statements.

Comes in: a ``Weave`` whose removals are settled. Goes out: the same strands with their parents, and ``Doubt`` values.
May touch: ``kept`` and ``parent`` of the strands.

The contents of a suite are the statements below it that all three texts have. Of two suites around the same statement
the one with more contents stands outside; if both have the same, upstream's does::

    omni        with timer():           upstream    a()                 merged      with timer():
                    a()                             with lock():                        a()
                    b()                                 b()                             with lock():
                                                                                            b()

Two suites that overlap without one containing the other cannot both stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from runner_sync.confidence import CONTESTED
from runner_sync.merge.placing.pruning import PARTIAL
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, above, any_node, up_to
from runner_sync.statements import below

CROSSING = Reason("suites that overlap")


def without_crossing(weave: Weave, strands: Sequence[Strand], *, is_copy: bool) -> list[Doubt]:
    """Leave out upstream's new suites that are incompatible with a new one of omni's, with all that is new in them.

    One that overlaps omni's is. So is, if omni's text is no copy, one with the same contents: omni's stands for it.
    """
    contents = _Contents(weave)
    doubts = []
    for strand in strands:
        if strand.sides != "u" or not strand.kept or not any_node(weave, strand).compound:
            continue
        mine = contents.of(strand)
        others = {head for one in mine for head in above(weave, one, "o") if _is_new(head)}
        theirs = [contents.of(head) for head in others]
        is_crossing = any(not (mine <= one or one <= mine) for one in theirs)
        if is_crossing or (mine in theirs and not is_copy):
            for k in below(weave.upstream, strand.in_upstream):
                inside = weave.of_upstream[k]
                inside.kept = inside.kept and inside.sides != "u"
            doubts.append(Doubt(strand, CROSSING if is_crossing else PARTIAL, CONTESTED))
    return doubts


def interleave(weave: Weave, strands: Sequence[Strand], *, is_copy: bool) -> None:
    """Set the parents of each statement around which a side has put new suites, and of these suites.

    ``_around`` gives them in their order. If only upstream has put some, they are nested like this only in a copy.
    """
    contents = _Contents(weave)
    for strand in strands:
        if strand.sides == "bou" and strand.kept:
            around = _around(weave, strand, contents, is_copy=is_copy)
            if around:
                around[0].parent = _shared(weave, strand)
                for outer, inner in pairwise([*around, strand]):
                    inner.parent = outer


def in_other_suites(weave: Weave, kept: Sequence[Strand], moved: Mapping[Strand, Strand]) -> list[Doubt]:
    """Doubts about statements that are not in the suites which the changes of both sides together imply.

    Only the outermost of statements with the same wrong suites is asked about. ``moved`` maps the strand at the old
    place of a moved head to that at its new place.
    """
    doubts = []
    wrong: dict[Strand, frozenset[Strand]] = {}
    for strand in kept:
        if strand.sides != "bou" or any_node(weave, strand).is_comment:
            continue
        wrong[strand] = _due(weave, strand, moved) ^ frozenset(strand.around())
        if wrong[strand] and wrong[strand] != next((wrong[head] for head in strand.around() if head in wrong), None):
            names = tuple(any_node(weave, head).canon for head in kept if head in wrong[strand])
            doubts.append(Doubt(strand, Reason("in other suites", names), CONTESTED))
    return doubts


def _due(weave: Weave, strand: Strand, moved: Mapping[Strand, Strand]) -> frozenset[Strand]:
    """The suites that a statement of all three texts should be in: a three-way merge of the heads around it."""
    base, omni, upstream = (frozenset(moved.get(head, head) for head in above(weave, strand, side)) for side in "bou")
    return frozenset(head for head in (omni & upstream) | (omni - base) | (upstream - base) if head.kept)


class _Contents:
    """The contents of new suites: the kept statements below them, at any depth, that all three texts have."""

    def __init__(self, weave: Weave) -> None:
        self._weave = weave
        self._known: dict[Strand, frozenset[Strand]] = {}

    def of(self, suite: Strand) -> frozenset[Strand]:
        """The contents of one suite, which one side alone has."""
        if suite not in self._known:
            (nodes, of), index = self._weave.side(suite.sides), suite.on(suite.sides)
            inside = (of[k] for k in below(nodes, index)[1:])
            self._known[suite] = frozenset(one for one in inside if one.sides == "bou" and one.kept)
        return self._known[suite]


def _around(weave: Weave, strand: Strand, contents: _Contents, *, is_copy: bool) -> list[Strand]:
    """The new suites around a statement, outermost first, below the innermost head that omni and upstream share.

    Empty if any of these heads is not new, or is a clause; in a text that is no copy also if omni has none.
    """
    omni, upstream = ([*above(weave, strand, side)] for side in "ou")
    mine, theirs = ([head for head in up_to(*both) if head.kept] for both in ((omni, upstream), (upstream, omni)))
    news = [*reversed(theirs), *reversed(mine)]
    if not mine and not is_copy:
        return []
    if any(not _is_new(head) or any_node(weave, head).is_clause for head in news):
        return []
    return sorted(news, key=lambda head: -len(contents.of(head)))


def _shared(weave: Weave, strand: Strand) -> Strand | None:
    """The innermost kept suite around a statement on both sides."""
    upstream = [*above(weave, strand, "u")]
    return next((head for head in above(weave, strand, "o") if head.kept and head in upstream), None)


def _is_new(suite: Strand) -> bool:
    return suite.sides in ("o", "u") and suite.kept
