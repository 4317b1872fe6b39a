"""What upstream says in both branches of a new condition, where it said it once, and omni has it in its own words.

Comes in: a ``Triple``. Goes out: the same, with such a statement in both branches of base and omni, too. May touch:
nothing.

An edit of omni's is then merged into either branch; else the second one would come as upstream has it::

    base    out = self.model(rows, width)       upstream    if is_old():
    omni    out = self.own_forward(rows, width)                 out = self.model(rows, width)
                                                            else:
                                                                out = self.model(rows)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.merge.matching.align import align
from runner_sync.merge.matching.by_place import by_what_is_open
from runner_sync.merge.matching.classify import VERSION
from runner_sync.merge.preparing.one_form import end, indented
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, below, flatten
from runner_sync.syntax import indentation


@dataclass(frozen=True, slots=True)
class _Fork:
    """An ``if`` with an ``else``, and the one statement that each of them has: places in one sequence of nodes."""

    head: int
    branches: tuple[int, int]


def in_two_branches(triple: Triple) -> Triple:
    """The triple with each statement in two branches on all sides that upstream has put there, once in either."""
    upstream = flatten(triple.upstream)
    for fork in _forks(upstream):
        base, omni = flatten(triple.base), flatten(triple.omni)
        old = _only_place(base, upstream, fork)
        mine = _counterpart(base, omni, old) if old != ROOT else ROOT
        if mine == ROOT or _said(omni, mine) == _said(base, old):
            continue
        head = upstream[fork.head].lines
        triple = Triple(_forked(triple.base, base, old, head), _forked(triple.omni, omni, mine, head), triple.upstream)
    return triple


def _counterpart(base: Sequence[Node], omni: Sequence[Node], at: int) -> int:
    """Where omni has a statement of the base; ``ROOT`` where it has none."""
    pairs = by_what_is_open(base, omni, align(base, omni))
    return next((pair.right for pair in pairs if pair.left == at), ROOT)


def _forks(nodes: Sequence[Node]) -> Iterator[_Fork]:
    """Each ``if`` with an ``else``, and nothing between, of which both have one statement, in two versions."""
    for k, node in enumerate(nodes):
        clauses = [j for j, other in enumerate(nodes) if other.is_clause and other.owner == k]
        if not node.canon.startswith("if ") or [nodes[j].canon for j in clauses] != ["else"]:
            continue
        suites = [[j for j in below(nodes, at) if nodes[j].parent == at] for at in (k, clauses[0])]
        code = [[j for j in suite if not nodes[j].is_comment] for suite in suites]
        if all(len(suite) == 1 for suite in code) and _are_versions(nodes, code[0][0], code[1][0]):
            yield _Fork(k, (code[0][0], code[1][0]))


def _are_versions(nodes: Sequence[Node], one: int, other: int) -> bool:
    """Whether two statements, with all that is in them, differ in little."""
    first, second = (sum((nodes[j].words for j in below(nodes, k)), Counter[str]()) for k in (one, other))
    share = 2 * (first & second).total() / max(1, first.total() + second.total())
    return share >= VERSION and nodes[one].compound == nodes[other].compound


def _only_place(base: Sequence[Node], upstream: Sequence[Node], fork: _Fork) -> int:
    """Where the base has the statement of one of the branches; ``ROOT`` where it has the condition, too, or has the
    statement twice, or where upstream still has it elsewhere."""
    branches = [_said(upstream, k) for k in fork.branches]
    if upstream[fork.head].canon in {node.canon for node in base} or branches[0] == branches[1]:
        return ROOT
    for said in branches:
        places = [k for k, node in enumerate(base) if node.canon == said[0] and _said(base, k) == said]
        again = [k for k, node in enumerate(upstream) if node.canon == said[0] and _said(upstream, k) == said]
        if len(places) == len(again) == 1:
            return places[0]
    return ROOT


def _said(nodes: Sequence[Node], at: int) -> tuple[str, ...]:
    return tuple(nodes[k].canon for k in below(nodes, at) if not nodes[k].is_comment)


def _forked(text: str, nodes: Sequence[Node], at: int, head: Sequence[str]) -> str:
    """The text with one statement in both branches of a condition."""
    lines, first, last = text.split("\n"), nodes[at].start - 1, end(nodes, at)
    margin = indentation(lines[first])
    branch = indented(lines, nodes, range(first, last))
    heads = [margin + line for line in head]
    return "\n".join([*lines[:first], *heads, *branch, f"{margin}else:", *branch, *lines[last:]])
