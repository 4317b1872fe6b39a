"""Choose which of several equal statements in branches of one condition matches a base statement.

Comes in: two node sequences and the pairs found so far. Goes out: the pairs, with such a statement paired by what
stands beside it, or not at all. May touch: nothing.

The base may have once what omni has in both branches. Only the surroundings can tell which is meant. Here they do not,
so an upstream change of the statement is asked about::

    base    rows = pick(batch)             omni    if self.is_first:
            if self.is_first:                          rows = pick(batch)
                send(batch)                            send(batch)
            else:                                  else:
                scores = score(rows)                   rows = pick(batch)
                                                       scores = score(rows)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from runner_sync.merge.matching.branches import are_branches
from runner_sync.merge.matching.by_place import index_suites
from runner_sync.merge.matching.pairs import Pair, Partners, add_in_order
from runner_sync.statements import ROOT, Node


def correct_by_surroundings(
    base: Sequence[Node], nodes: Sequence[Node], pairs: Sequence[Pair], of_others: Sequence[Pair]
) -> list[Pair]:
    """Correct the ``pairs`` of one side for statements that the other side, with the pairs ``of_others``, changed.

    If this side has such a statement in several branches of one condition, the one whose suite is paired with the
    base's is taken, else the one that shares most neighbours; none if that does not decide.
    """
    unchanged = {pair.left for pair in of_others if pair.equal}
    paired = {pair.right for pair in pairs}
    loose = defaultdict[str, list[int]](list)
    for k, node in enumerate(nodes):
        if k not in paired and node.is_telling and not node.compound:
            loose[node.canon].append(k)
    left, found = [*pairs], list[Pair]()
    for pair in pairs:
        rivals = loose.get(nodes[pair.right].canon, []) if pair.equal and pair.left not in unchanged else []
        branches = [k for k in rivals if are_branches(nodes, pair.right, k)]
        best = _find_best(base, nodes, pairs, pair.left, [pair.right, *branches]) if branches else [pair.right]
        if best != [pair.right]:
            left.remove(pair)
            found += [Pair(pair.left, k, equal=True) for k in best if len(best) == 1]
    return add_in_order(left, found)


def _find_best(
    base: Sequence[Node], nodes: Sequence[Node], pairs: Sequence[Pair], index: int, places: Sequence[int]
) -> list[int]:
    """Return the ``places`` whose surroundings are most like those of the base statement ``index``."""
    partners, neighbours = Partners(pairs), _count_neighbours(base, index)
    likeness = {
        k: (
            partners.are_in_one_suite(base[index], nodes[k]),
            (neighbours & _count_neighbours(nodes, k)).total(),
        )
        for k in places
    }
    return [k for k in places if likeness[k] == max(likeness.values())]


def _count_neighbours(nodes: Sequence[Node], index: int) -> Counter[str]:
    """Return the telling statements in the suite of a statement, without itself."""
    suite = index_suites(nodes).get(nodes[index].parent, []) if nodes[index].parent != ROOT else range(len(nodes))
    others = (nodes[k] for k in suite if k != index and nodes[k].parent == nodes[index].parent)
    return Counter(node.canon for node in others if node.is_telling and not node.is_comment)
