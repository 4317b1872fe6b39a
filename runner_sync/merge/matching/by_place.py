"""Pairs of statements that their place makes one: the head of one suite, the ``return`` at the end of it.

Comes in: two node sequences and the pairs of their nodes. Goes out: the pairs with others of such statements. May
touch: nothing.

    base    if self.use_aux:               upstream    if self.drafter and self.drafter.kind == EAGLE:
                rows, aux = rows                           rows, aux = rows
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from runner_sync.merge.matching.commonplace import Pair, with_more
from runner_sync.statements import ROOT, Node


def by_last_returns(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with those of the ``return`` at the end of two suites that are one, whatever is returned: a suite is
    left once."""
    partners = {ROOT: ROOT} | {pair.left: pair.right for pair in pairs}
    taken, suites, others = set(partners.values()), inside(left), inside(right)
    found = []
    for head, suite in suites.items():
        other = others.get(partners.get(head, ROOT), ())
        if head == ROOT or not other or suite[-1] in partners or other[-1] in taken:
            continue
        if left[suite[-1]].canon.startswith("return ") and right[other[-1]].canon.startswith("return "):
            found.append(Pair(suite[-1], other[-1], equal=False))
    return with_more(pairs, found)


def by_whole_suites(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with those of two heads with little in common that stand around the same suite: one statement under
    another condition."""
    partners = {ROOT: ROOT} | {pair.left: pair.right for pair in pairs}
    taken = set(partners.values())
    equal = {pair.left for pair in pairs if pair.equal}
    suites, others = inside(left), inside(right)
    found = []
    for head, suite in suites.items():
        other = right[partners[suite[0]]].parent if suite[0] in partners else ROOT
        if head in partners or other in (ROOT, *taken) or partners.get(left[head].parent) != right[other].parent:
            continue
        is_one = _keyword(left[head]) == _keyword(right[other]) and any(
            left[k].weight >= 1 and not left[k].is_clause for k in suite if k in equal
        )
        if is_one and [partners.get(k) for k in suite] == others[other]:
            found.append(Pair(head, other, equal=False))
    return with_more(pairs, found)


def inside(nodes: Sequence[Node]) -> dict[int, list[int]]:
    """By its head, the statements of each suite that stand in it directly."""
    found: dict[int, list[int]] = defaultdict(list)
    for k, node in enumerate(nodes):
        if node.parent != ROOT and not node.is_comment:
            found[node.parent].append(k)
    return found


def _keyword(head: Node) -> str:
    return head.canon.split(" ", 1)[0]
