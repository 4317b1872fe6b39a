"""Choose which of several equal omni statements matches a base statement, if upstream has as many.

Comes in: the three node sequences, and the pairs of the base with both sides. Goes out: the pairs with omni, agreeing
with those of upstream. May touch: nothing.

The base is aligned with each side by itself, and may be paired with either of two equal statements. If omni has taken
over upstream's second one, the alignments may choose differently, and the statement that each calls new would come
twice::

    base    send(rows)        upstream    send(rows)        omni    note(rows)
                                          send(rows)                send(rows)
                                                                    send(rows)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from runner_sync.merge.matching.align import align
from runner_sync.merge.matching.pairs import Pair, Partners
from runner_sync.statements import Node

_Nodes = Sequence[Node]


def agree_with_other_side(
    base: _Nodes, omni: _Nodes, upstream: _Nodes, of_omni: Sequence[Pair], of_upstream: Sequence[Pair]
) -> list[Pair]:
    """Exchange equal statements in ``of_omni`` so that both sides call the same one new.

    Exchanges nothing if pairs would cross, or a suite would be torn from its head.
    """
    if not _is_ambiguous(base, omni, upstream, of_omni, of_upstream):
        return list(of_omni)
    across = {pair.right: pair.left for pair in align(omni, upstream) if pair.equal}
    on_upstream = {pair.left: pair.right for pair in of_upstream if pair.equal}
    wanted = {
        pair.left: across[on_upstream[pair.left]]
        for pair in of_omni
        if pair.equal and on_upstream.get(pair.left) in across
    }
    made = [replace(pair, right=wanted.get(pair.left, pair.right)) for pair in of_omni]
    return made if _is_increasing(made) and _is_nested_alike(base, omni, made, wanted) else list(of_omni)


def _is_ambiguous(
    base: _Nodes, omni: _Nodes, upstream: _Nodes, of_omni: Sequence[Pair], of_upstream: Sequence[Pair]
) -> bool:
    """Whether both sides have the same statement once more than the base."""
    return bool(_find_unpaired(omni, of_omni) & _find_unpaired(upstream, of_upstream) & {node.canon for node in base})


def _find_unpaired(nodes: _Nodes, pairs: Sequence[Pair]) -> set[str]:
    paired = {pair.right for pair in pairs}
    return {node.canon for k, node in enumerate(nodes) if k not in paired and node.is_telling and not node.is_clause}


def _is_increasing(pairs: Sequence[Pair]) -> bool:
    return all(first.right < second.right for first, second in pairwise(sorted(pairs, key=lambda pair: pair.left)))


def _is_nested_alike(base: _Nodes, omni: _Nodes, pairs: Sequence[Pair], changed: Mapping[int, int]) -> bool:
    """Whether each changed statement, and each one inside it, stands below the partner of its head, if it has one."""
    partners = Partners(pairs).of_left
    return all(
        partners.get(base[pair.left].parent, omni[pair.right].parent) == omni[pair.right].parent
        for pair in pairs
        if pair.left in changed or base[pair.left].parent in changed
    )
