"""Find conditions whose branches are versions of each other.

Comes in: nodes. Goes out: ``Fork`` values, and places with the text of a branch. May touch: nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from runner_sync.merge.matching.align import align
from runner_sync.merge.matching.by_place import by_what_is_open
from runner_sync.statements import Node, below, clauses, in_suite, said, siblings
from runner_sync.statements.likeness import VERSION, dice

Run = tuple[int, ...]
"""The indices of statements that follow each other in one suite, without those of what is inside them."""


@dataclass(frozen=True, slots=True)
class Fork:
    """An ``if`` with all its clauses up to an ``else``, as indices of one sequence.

    ``branches`` are the statements directly in each branch, ``suites`` all nodes in it, at any depth and with comments.
    """

    heads: tuple[int, ...]
    branches: tuple[Run, ...]
    suites: tuple[range, ...]


def forks(nodes: Sequence[Node]) -> Iterator[Fork]:
    """Each ``if`` with an ``else`` whose branches all say nearly the same."""
    for k, node in enumerate(nodes):
        fork = fork_at(nodes, k) if node.keyword == "if" else None
        if fork is not None and all(_are_versions(nodes, fork.branches[0], branch) for branch in fork.branches[1:]):
            yield fork


def fork_at(nodes: Sequence[Node], head: int) -> Fork | None:
    """The ``if`` at an index as a fork; ``None`` if it has no ``else``, or a branch on the line of its head."""
    heads = (head, *clauses(nodes, head))
    if nodes[heads[-1]].canon != "else" or any(nodes[at].one_line for at in heads):
        return None
    ends = (*heads[1:], max(below(nodes, head)) + 1)
    suites = tuple(range(at + 1, behind) for at, behind in zip(heads, ends, strict=True))
    return Fork(heads, tuple(tuple(in_suite(nodes, at)) for at in heads), suites)


def _are_versions(nodes: Sequence[Node], one: Run, other: Run) -> bool:
    """Whether two runs have equally many statements and nearly the same words."""
    return dice(words_of(nodes, one), words_of(nodes, other)) >= VERSION and len(one) == len(other)


def words_of(nodes: Sequence[Node], run: Run) -> Counter[str]:
    """The words of a run of statements and of all inside them, comments left out."""
    found = Counter[str]()
    for k in run:
        for j in below(nodes, k):
            found += nodes[j].words if not nodes[j].is_comment else Counter()
    return found


def only_place(nodes: Sequence[Node], wanted: tuple[str, ...], length: int) -> Run:
    """The only run of ``length`` statements with the canonical texts ``wanted``; empty if there is none, or another."""
    found = []
    for k, node in enumerate(nodes):
        if node.canon == wanted[0] and not node.is_comment:
            run = (k, *islice(siblings(nodes, k, step=1), length - 1))
            if said(nodes, run) == wanted:
                found.append(run)
    return found[0] if len(found) == 1 else ()


def counterpart(base: Sequence[Node], omni: Sequence[Node], run: Run) -> Run:
    """Omni's statements from its version of the first to that of the last of a run of the base; empty if omni lacks one
    of these two, or has them in different suites."""
    pairs = {pair.left: pair.right for pair in by_what_is_open(base, omni, align(base, omni))}
    first, last = pairs.get(run[0]), pairs.get(run[-1])
    if first is None or last is None or omni[first].parent != omni[last].parent:
        return ()
    return (first, *(k for k in siblings(omni, first, step=1) if k <= last))
