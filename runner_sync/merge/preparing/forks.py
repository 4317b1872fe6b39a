"""Find conditions whose branches are versions of each other.

Comes in: nodes. Goes out: ``Fork`` values, and places that have the text of a branch. May touch: nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from runner_sync.merge.matching.align import align
from runner_sync.merge.matching.by_place import add_withs_by_names
from runner_sync.statements import Node, below, clauses, in_suite, said, siblings
from runner_sync.statements.likeness import VERSION, dice

Run = tuple[int, ...]
"""The indices of consecutive statements in one suite, without nested ones."""


@dataclass(frozen=True, slots=True)
class Fork:
    """An ``if`` with all its clauses up to an ``else``, as indices of one sequence.

    ``branches`` are the statements directly in each branch; ``suites`` are all nodes in it, nested ones and comments
    included.
    """

    heads: tuple[int, ...]
    branches: tuple[Run, ...]
    suites: tuple[range, ...]


def forks(nodes: Sequence[Node]) -> Iterator[Fork]:
    """Yield each ``if`` with an ``else`` whose branches all say nearly the same."""
    for k, node in enumerate(nodes):
        fork = fork_at(nodes, k) if node.keyword == "if" else None
        if fork is not None and all(_are_versions(nodes, fork.branches[0], branch) for branch in fork.branches[1:]):
            yield fork


def fork_at(nodes: Sequence[Node], head: int) -> Fork | None:
    """Return the ``if`` at an index as a fork; ``None`` without an ``else``, or with a branch on its head's line."""
    heads = (head, *clauses(nodes, head))
    if nodes[heads[-1]].canon != "else" or any(nodes[at].one_line for at in heads):
        return None
    ends = (*heads[1:], max(below(nodes, head)) + 1)
    suites = tuple(range(at + 1, behind) for at, behind in zip(heads, ends, strict=True))
    return Fork(heads, tuple(tuple(in_suite(nodes, at)) for at in heads), suites)


def _are_versions(nodes: Sequence[Node], one: Run, other: Run) -> bool:
    """Whether two runs have equally many statements and nearly the same words."""
    return dice(count_words(nodes, one), count_words(nodes, other)) >= VERSION and len(one) == len(other)


def count_words(nodes: Sequence[Node], run: Run) -> Counter[str]:
    """Count the words of a run of statements, including nested ones but no comments."""
    found = Counter[str]()
    for k in run:
        for j in below(nodes, k):
            found += nodes[j].words if not nodes[j].is_comment else Counter()
    return found


def find_only_place(nodes: Sequence[Node], wanted: tuple[str, ...], length: int) -> Run:
    """Return the only run of ``length`` statements with the canonical texts ``wanted``; empty if not exactly one."""
    found = []
    for k, node in enumerate(nodes):
        if node.canon == wanted[0] and not node.is_comment:
            run = (k, *islice(siblings(nodes, k, step=1), length - 1))
            if said(nodes, run) == wanted:
                found.append(run)
    return found[0] if len(found) == 1 else ()


def find_counterpart(base: Sequence[Node], omni: Sequence[Node], run: Run) -> Run:
    """Return omni's statements from its version of the first to its version of the last statement of a base run.

    Empty if omni lacks one of these two, or has them in different suites.
    """
    pairs = {pair.left: pair.right for pair in add_withs_by_names(base, omni, align(base, omni))}
    first, last = pairs.get(run[0]), pairs.get(run[-1])
    if first is None or last is None or omni[first].parent != omni[last].parent:
        return ()
    return (first, *(k for k in siblings(omni, first, step=1) if k <= last))
