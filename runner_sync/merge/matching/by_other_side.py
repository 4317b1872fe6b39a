"""Correct the pairs of one side by those of the other: which of several equal statements, and which by place alone.

Comes in: the three node sequences, and the pairs of the base with both sides. Goes out: pairs that agree with each
other. May touch: nothing.

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
from runner_sync.merge.phrases.transplant import is_handed_on
from runner_sync.merge.weave import Nodes
from runner_sync.statements import in_suite
from runner_sync.statements.dataflow import sets
from runner_sync.statements.likeness import similarity
from runner_sync.thresholds import SIMILAR


def agree_with_other_side(
    base: Nodes, omni: Nodes, upstream: Nodes, of_omni: Sequence[Pair], of_upstream: Sequence[Pair]
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
    base: Nodes, omni: Nodes, upstream: Nodes, of_omni: Sequence[Pair], of_upstream: Sequence[Pair]
) -> bool:
    """Whether both sides have the same statement once more than the base."""
    return bool(_find_unpaired(omni, of_omni) & _find_unpaired(upstream, of_upstream) & {node.canon for node in base})


def _find_unpaired(nodes: Nodes, pairs: Sequence[Pair]) -> set[str]:
    paired = {pair.right for pair in pairs}
    return {node.canon for k, node in enumerate(nodes) if k not in paired and node.is_telling and not node.is_clause}


def _is_increasing(pairs: Sequence[Pair]) -> bool:
    return all(first.right < second.right for first, second in pairwise(sorted(pairs, key=lambda pair: pair.left)))


def _is_nested_alike(base: Nodes, omni: Nodes, pairs: Sequence[Pair], changed: Mapping[int, int]) -> bool:
    """Whether each changed statement, and each one inside it, stands below the partner of its head, if it has one."""
    partners = Partners(pairs).of_left
    return all(
        partners.get(base[pair.left].parent, omni[pair.right].parent) == omni[pair.right].parent
        for pair in pairs
        if pair.left in changed or base[pair.left].parent in changed
    )


def drop_false_places(
    base: Nodes, omni: Nodes, upstream: Nodes, of_omni: Sequence[Pair], of_upstream: Sequence[Pair]
) -> tuple[list[Pair], list[Pair]]:
    """Drop the pairs made by place alone that the other side shows to be wrong, on both sides."""
    of_one, of_other = (omni, of_omni), (upstream, of_upstream)
    return _keep_true_places(base, *of_one, *of_other), _keep_true_places(base, *of_other, *of_one)


def _keep_true_places(
    base: Nodes, nodes: Nodes, pairs: Sequence[Pair], others: Nodes, of_others: Sequence[Pair]
) -> list[Pair]:
    """Drop dissimilar ``pairs`` of one side if the other side shows that they are different statements.

    Two heads are different if the other side still has the base's head, but no statement of its suite, nor one that
    sets the same names: what stands there now was never meant for that condition; two ``with`` that share a
    context manager or a name after ``as`` are one. Two final ``return`` are different if
    the other side has an edited version of the base's, unless it only put a call around the base's value, which fits
    around any value: ``return wrap(EMPTY)``.
    """
    other_pairs = {pair.left: pair for pair in of_others}
    suites_left = {base[pair.left].parent for pair in of_others}

    def is_true(pair: Pair) -> bool:
        node, other = base[pair.left], other_pairs.get(pair.left)
        if pair.equal or other is None or similarity(node, nodes[pair.right]) >= SIMILAR:
            return True
        if node.facts.enters & nodes[pair.right].facts.enters or node.facts.opens & nodes[pair.right].facts.opens:
            return True
        if node.compound:
            return pair.left in suites_left or bool(_find_set_in(base, pair.left) & _find_set_in(others, other.right))
        is_version = not other.equal and similarity(node, others[other.right]) >= SIMILAR
        is_edited = is_version and not is_handed_on(node.text, others[other.right].text)
        return not (node.keyword == "return" and is_edited)

    return [pair for pair in pairs if is_true(pair)]


def _find_set_in(nodes: Nodes, head: int) -> set[str]:
    """Return the names that the statements directly in a suite set."""
    return {name for k in in_suite(nodes, head) for name in sets(nodes[k])}
