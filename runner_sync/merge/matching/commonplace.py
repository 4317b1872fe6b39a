"""Pair statements whose text identifies nothing: ``try``, ``else``, ``break``, ``continue``, ``pass``, ``return``.

Comes in: two node sequences and the pairs found so far. Goes out: the pairs, corrected and completed for such
statements. May touch: nothing.

Every ``try`` reads the same, so two are paired if statements inside them are. Two ``break`` are paired if they stand in
the same suite, or if one stands in a new block inside that suite::

    base        if is_last(row):        upstream    if is_last(row):
                    break                               note(row)
                pack(row)                               break
                                                    if is_late(row):
                                                        break
                                                    pack(row)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from runner_sync.merge.matching.pairs import Pair, Partners, add_in_order, index_unique
from runner_sync.statements import ROOT, Node, enclosing


def pair_commonplace(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Pair each ``try`` by what is inside it, and each exit (``break``, ``return row``) by its suite.

    Drops pairs of exits whose suites do not correspond. The result increases on both sides.
    """
    others = [pair for pair in pairs if not _is_try(left[pair.left])]
    pairs = add_in_order(others, _pair_tries(left, right, pairs))
    partners = Partners(pairs)
    sides = (left, partners.of_left), (right, partners.of_right)
    pairs = [pair for pair in pairs if not is_frequent_exit(left[pair.left]) or _are_in_one_suite(*sides, pair)]
    return add_in_order(pairs, _pair_exits(left, right, pairs))


def add_clauses(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add the equal clauses of two paired statements that are not yet paired with a clause elsewhere."""
    partners = Partners(pairs)
    free = [(k, node) for k, node in enumerate(right) if node.is_clause and k not in partners.of_right]
    clauses = {(node.owner, node.canon): k for k, node in free}
    keys = {k: (partners.of_left.get(node.owner, ROOT), node.canon) for k, node in enumerate(left) if node.is_clause}
    found = [
        Pair(k, clauses[key], equal=True) for k, key in keys.items() if k not in partners.of_left and key in clauses
    ]
    return add_in_order(pairs, found)


def is_commonplace(node: Node) -> bool:
    """Whether a statement is a bare ``try`` or exit; clauses do not count, because they pair with their statement."""
    return _is_try(node) or _is_exit(node)


def _is_try(node: Node) -> bool:
    return node.canon == "try" and node.compound


def _is_exit(node: Node) -> bool:
    return node.kind == "statement" and not node.is_telling and not node.compound


def is_frequent_exit(node: Node) -> bool:
    """Whether a statement is an exit or returns just a local.

    So many suites end like this that its text hardly tells which one it ends.
    """
    return _is_exit(node) or _RETURN_OF_A_LOCAL.match(node.canon) is not None


_RETURN_OF_A_LOCAL = re.compile(r"return \w+$")


def _is_telling(node: Node) -> bool:
    return node.is_telling and not node.is_clause


def _pair_tries(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Pair each ``try`` at most once, those with the most paired statements inside first.

    An earlier pair also stays if one of its two has no telling statement inside.
    """
    around_left, around_right = _find_tries_around(left), _find_tries_around(right)
    shared = Counter(
        (i, j)
        for pair in pairs
        if around_left[pair.left] and _is_telling(left[pair.left])
        for i in around_left[pair.left]
        for j in around_right[pair.right]
    )
    before = [(pair.left, pair.right) for pair in pairs if _is_try(left[pair.left])]
    full, others = (
        {i for node, tries in zip(side, around, strict=True) if tries and _is_telling(node) for i in tries}
        for side, around in ((left, around_left), (right, around_right))
    )
    found = sorted(shared, key=lambda pair: (-shared[pair], pair not in before, pair))
    found += [(i, j) for i, j in before if i not in full or j not in others]
    taken: dict[int, int] = {}
    for i, j in found:
        if i not in taken and j not in taken.values():
            taken[i] = j
    return [Pair(i, j, equal=True) for i, j in taken.items()]


def _find_tries_around(nodes: Sequence[Node]) -> list[tuple[int, ...]]:
    """Return for each node the ``try`` heads around it, innermost first, even if it is in a clause of one."""
    if not any(map(_is_try, nodes)):
        return [()] * len(nodes)
    return [tuple(k for k in enclosing(nodes, index) if _is_try(nodes[k])) for index in range(len(nodes))]


_Side = tuple[Sequence[Node], Mapping[int, int]]
"""Nodes, and the partners of those that are paired."""


def _are_in_one_suite(left: _Side, right: _Side, pair: Pair) -> bool:
    """Whether two exits stand in suites that correspond.

    The suite of one is paired, and the other stands in its partner, directly or inside new blocks there. Or neither
    suite is paired, and both heads stand in the same outer suite: a condition that was replaced as a whole.
    """
    (left_nodes, to_right), (right_nodes, to_left) = left, right
    a, b = left_nodes[pair.left].parent, right_nodes[pair.right].parent
    if a not in to_right and b not in to_left:
        return to_right.get(left_nodes[a].parent) == right_nodes[b].parent
    return _find_paired_head(right_nodes, b, to_left) == to_right.get(a) or _find_paired_head(
        left_nodes, a, to_right
    ) == to_left.get(b)


def _find_paired_head(nodes: Sequence[Node], suite: int, partners: Mapping[int, int]) -> int:
    """Return the innermost paired head, counting from ``suite`` outwards."""
    while suite not in partners:
        suite = nodes[suite].parent
    return suite


def _pair_exits(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Pair equal exits that are not yet paired, in two matched suites with one such exit each."""
    partners = Partners(pairs)
    exits, others = (
        [(node.parent, node.canon, k) for k, node in enumerate(nodes) if _is_exit(node) and k not in taken]
        for nodes, taken in ((left, partners.of_left), (right, partners.of_right))
    )
    places = index_unique(((suite, canon), k) for suite, canon, k in others if suite in partners.of_right)
    found = index_unique(
        ((partners.of_left[suite], canon), k) for suite, canon, k in exits if suite in partners.of_left
    )
    return [Pair(k, places[key], equal=True) for key, k in found.items() if key in places]
