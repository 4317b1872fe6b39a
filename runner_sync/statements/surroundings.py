"""Find the nodes around, beside and inside a node of a flat sequence.

Comes in: nodes and the index of one. Goes out: indices of others. May touch: nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.statements.nodes import ROOT, Node


def ancestors(nodes: Sequence[Node], index: int) -> Iterator[int]:
    """Yield the heads of the suites that contain a node, innermost first."""
    while (index := nodes[index].parent) != ROOT:
        yield index


def enclosing(nodes: Sequence[Node], index: int) -> Iterator[int]:
    """Yield the heads around a node, innermost first; for each clause, also the statement it belongs to."""
    while (index := nodes[index].owner if nodes[index].is_clause else nodes[index].parent) != ROOT:
        yield index


def siblings(nodes: Sequence[Node], index: int, *, step: int) -> Iterator[int]:
    """Yield the statements and clauses in the suite of a node before it (``step=-1``) or behind it (1), nearest
    first."""
    suite, k = nodes[index].parent, index + step
    while 0 <= k < len(nodes) and k != suite:
        node = nodes[k]
        if not node.is_comment:
            if node.parent < suite:
                return  # beyond the end of the suite; a comment may be at any column
            if node.parent == suite:
                yield k
        k += step


def in_suite(nodes: Sequence[Node], head: int) -> list[int]:
    """Return the statements and clauses directly in the suite of a head."""
    found = []
    for k in range(head + 1, len(nodes)):
        if _is_beyond(nodes[k], head):
            break
        if nodes[k].parent == head and not nodes[k].is_comment:
            found.append(k)
    return found


def _is_beyond(node: Node, suite: int) -> bool:
    """Whether a node below a head is behind the end of its suite; never a comment, which may be at any column."""
    return node.parent < suite and not node.is_comment


def clauses(nodes: Sequence[Node], index: int) -> list[int]:
    """Return the clauses of a statement."""
    return [k for k in below(nodes, index) if nodes[k].is_clause and nodes[k].owner == index]


def below(nodes: Sequence[Node], index: int) -> list[int]:
    """Return a statement and everything inside it and its clauses, as indices in order.

    The indices are consecutive, except for comments at another column between two clauses.
    """
    inside = {index: None}
    for k in range(index + 1, len(nodes)):
        if nodes[k].parent in inside or nodes[k].owner in inside:
            inside[k] = None
        elif not nodes[k].is_comment:
            break
    return list(inside)


def said(nodes: Sequence[Node], tops: Iterable[int]) -> tuple[str, ...]:
    """Return the canonical texts of statements, including everything inside them and their clauses, without
    comments."""
    return tuple(nodes[k].canon for top in tops for k in below(nodes, top) if not nodes[k].is_comment)


def lines_of(text: str, whole: Sequence[Node]) -> str:
    """Return the lines of ``text`` with the statement ``whole[0]`` and everything nested in it, dedented."""
    last = max(node.end for node in whole)
    return textwrap.dedent("\n".join(text.split("\n")[whole[0].start - 1 : last]))
