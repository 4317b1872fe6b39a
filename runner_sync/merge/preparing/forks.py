"""Conditions of which each branch says nearly the same.

Comes in: nodes. Goes out: ``Fork`` values, and where else a branch of one is said. May touch: nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from runner_sync.merge.matching.align import align
from runner_sync.merge.matching.by_place import by_what_is_open
from runner_sync.merge.matching.classify import VERSION
from runner_sync.statements import Node, below, clauses, in_suite, said, siblings
from runner_sync.statements.likeness import dice

Run = tuple[int, ...]
"""The places of statements that follow each other in one suite; what is inside of them is none of them."""


@dataclass(frozen=True, slots=True)
class Fork:
    """An ``if`` with all clauses up to its ``else``, and the statements of each branch, as places in one sequence.

    ``suites`` are all nodes in a branch, at any depth, comments as well.
    """

    heads: tuple[int, ...]
    branches: tuple[Run, ...]
    suites: tuple[range, ...]


def forks(nodes: Sequence[Node]) -> Iterator[Fork]:
    """Each ``if`` that always does one of several versions of the same."""
    for k, node in enumerate(nodes):
        fork = fork_at(nodes, k) if node.keyword == "if" else None
        if fork is not None and all(_are_versions(nodes, fork.branches[0], branch) for branch in fork.branches[1:]):
            yield fork


def fork_at(nodes: Sequence[Node], head: int) -> Fork | None:
    """The ``if`` at a place as a fork; ``None`` where it has no ``else``."""
    heads = (head, *clauses(nodes, head))
    if nodes[heads[-1]].canon != "else" or any(nodes[at].one_line for at in heads):
        return None
    ends = (*heads[1:], max(below(nodes, head)) + 1)
    suites = tuple(range(at + 1, behind) for at, behind in zip(heads, ends, strict=True))
    return Fork(heads, tuple(tuple(in_suite(nodes, at)) for at in heads), suites)


def _are_versions(nodes: Sequence[Node], one: Run, other: Run) -> bool:
    """Whether two runs, with all that is in them, differ in little."""
    return dice(words_of(nodes, one), words_of(nodes, other)) >= VERSION and len(one) == len(other)


def words_of(nodes: Sequence[Node], run: Run) -> Counter[str]:
    """The words of statements and of all that is in them, comments left out."""
    found = Counter[str]()
    for k in run:
        for j in below(nodes, k):
            found += nodes[j].words if not nodes[j].is_comment else Counter()
    return found


def only_place(nodes: Sequence[Node], wanted: tuple[str, ...], length: int) -> Run:
    """The one run of so many statements that says what is ``wanted``; empty where there is none, or more than one."""
    found = []
    for k, node in enumerate(nodes):
        if node.canon == wanted[0] and not node.is_comment:
            run = (k, *islice(siblings(nodes, k, step=1), length - 1))
            if said(nodes, run) == wanted:
                found.append(run)
    return found[0] if len(found) == 1 else ()


def counterpart(base: Sequence[Node], omni: Sequence[Node], run: Run) -> Run:
    """What omni has from the first to the last of some statements of the base; empty where it lacks one of these two,
    or has them in two suites."""
    pairs = {pair.left: pair.right for pair in by_what_is_open(base, omni, align(base, omni))}
    first, last = pairs.get(run[0]), pairs.get(run[-1])
    if first is None or last is None or omni[first].parent != omni[last].parent:
        return ()
    return (first, *(k for k in siblings(omni, first, step=1) if k <= last))
