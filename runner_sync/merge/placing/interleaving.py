"""Nest the new suites that both sides put around the same statements.

Comes in: a ``Weave`` whose removals are settled. Goes out: ``Doubt`` values. May touch: ``kept`` and ``parent`` of the
strands.

The contents of a suite are the statements below it that all three texts have. Of two suites around the same statement,
the one with more contents goes outside; with equal contents, upstream's does::

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
from runner_sync.merge.weave import Doubt, Strand, Weave, heads_around, pick_node, strands_inside, take_until

CROSSING = Reason("suites that overlap")


def drop_crossing_suites(weave: Weave, strands: Sequence[Strand], *, is_copy: bool) -> list[Doubt]:
    """Drop upstream's new suites that are incompatible with a new omni suite, with their own new statements.

    A suite is incompatible if it overlaps an omni suite. In a text that is no copy, a suite with the same contents is
    dropped as well, because omni's suite stands for it.
    """
    contents = _Contents(weave)
    doubts = []
    for strand in strands:
        if strand.sides != "u" or not strand.kept or not pick_node(weave, strand).compound:
            continue
        own = contents.collect(strand)
        others = {head for one in own for head in heads_around(weave, one, "o") if _is_new(head)}
        other_contents = [contents.collect(head) for head in others]
        is_crossing = any(not (own <= one or one <= own) for one in other_contents)
        if is_crossing or (own in other_contents and not is_copy):
            for inside in strands_inside(weave, strand, "u"):
                inside.kept = inside.kept and inside.sides != "u"
            doubts.append(Doubt(strand, CROSSING if is_crossing else PARTIAL, CONTESTED))
    return doubts


def interleave(weave: Weave, strands: Sequence[Strand], *, is_copy: bool) -> None:
    """Set the parents of statements inside new suites, and of these suites, in the order of ``_order_new_suites``.

    If only upstream has new suites there, they are nested this way only in a copy.
    """
    contents = _Contents(weave)
    for strand in strands:
        if strand.sides == "bou" and strand.kept:
            around = _order_new_suites(weave, strand, contents, is_copy=is_copy)
            if around:
                around[0].parent = _find_shared_suite(weave, strand)
                for outer, inner in pairwise([*around, strand]):
                    inner.parent = outer


def find_in_other_suites(weave: Weave, kept: Sequence[Strand], moved: Mapping[Strand, Strand]) -> list[Doubt]:
    """Return doubts about statements whose suites differ from a three-way merge of their suites.

    Reports only the outermost of statements with the same wrong suites. ``moved`` maps the strand at a moved head's old
    place to the strand at its new place.
    """
    doubts = []
    wrong: dict[Strand, frozenset[Strand]] = {}
    for strand in kept:
        if strand.sides != "bou" or pick_node(weave, strand).is_comment:
            continue
        wrong[strand] = _merge_suites(weave, strand, moved) ^ frozenset(strand.around())
        if wrong[strand] and wrong[strand] != next((wrong[head] for head in strand.around() if head in wrong), None):
            names = tuple(pick_node(weave, head).canon for head in kept if head in wrong[strand])
            doubts.append(Doubt(strand, Reason("in other suites", names), CONTESTED))
    return doubts


def _merge_suites(weave: Weave, strand: Strand, moved: Mapping[Strand, Strand]) -> frozenset[Strand]:
    """Return the suites that a statement of all three texts should be in: a three-way merge of its heads."""
    base, omni, upstream = (
        frozenset(moved.get(head, head) for head in heads_around(weave, strand, side)) for side in "bou"
    )
    return frozenset(head for head in (omni & upstream) | (omni - base) | (upstream - base) if head.kept)


class _Contents:
    """The contents of new suites: the kept statements below them, at any depth, that all three texts have."""

    def __init__(self, weave: Weave) -> None:
        self._weave = weave
        self._known: dict[Strand, frozenset[Strand]] = {}

    def collect(self, suite: Strand) -> frozenset[Strand]:
        """Return the contents of a suite that only one side has."""
        if suite not in self._known:
            inside = strands_inside(self._weave, suite, suite.sides)[1:]
            self._known[suite] = frozenset(one for one in inside if one.sides == "bou" and one.kept)
        return self._known[suite]


def _order_new_suites(weave: Weave, strand: Strand, contents: _Contents, *, is_copy: bool) -> list[Strand]:
    """Return the new suites around a statement, outermost first, below the innermost head that both sides share.

    Empty if one of these heads is not new or is a clause, or if omni has none and the text is no copy.
    """
    omni, upstream = ([*heads_around(weave, strand, side)] for side in "ou")
    omni_only, upstream_only = (
        [head for head in take_until(*both) if head.kept] for both in ((omni, upstream), (upstream, omni))
    )
    news = [*reversed(upstream_only), *reversed(omni_only)]
    if not omni_only and not is_copy:
        return []
    if any(not _is_new(head) or pick_node(weave, head).is_clause for head in news):
        return []
    return sorted(news, key=lambda head: -len(contents.collect(head)))


def _find_shared_suite(weave: Weave, strand: Strand) -> Strand | None:
    """Return the innermost kept suite around a statement on both sides."""
    upstream = [*heads_around(weave, strand, "u")]
    return next((head for head in heads_around(weave, strand, "o") if head.kept and head in upstream), None)


def _is_new(suite: Strand) -> bool:
    return suite.sides in ("o", "u") and suite.kept
