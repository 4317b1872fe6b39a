"""Repeat omni's edited statements in each branch of a new condition, where upstream has split them up.

Comes in: a ``Triple``. Goes out: the same, with the statements in the branches of that condition in base and omni, too;
or, where upstream has dropped such a condition, without it. May touch: nothing.

So omni's edit is merged into each branch; otherwise the second branch would come in without it::

    base    out = self.model(rows, width)       upstream    if is_old():
    omni    out = self.own_forward(rows, width)                 out = self.model(rows, width)
                                                            else:
                                                                out = self.model(rows)

When upstream drops the condition again, omni's edited branches would otherwise all stay, and the work be done twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.preparing.forks import Fork, Run, counterpart, fork_at, forks, only_place, words_of
from runner_sync.merge.preparing.one_form import end, indented
from runner_sync.model import Triple
from runner_sync.statements import INDENT, Node, flatten, said
from runner_sync.syntax import indentation


def in_the_same_branches(triple: Triple) -> Triple:
    """The triple with base and omni split into branches, or joined from them, as upstream has done it."""
    upstream = flatten(triple.upstream)
    for fork in forks(upstream):
        triple = _in_branches(triple, upstream, fork)
    for fork in reversed([*forks(flatten(triple.base))]):
        triple = _out_of_branches(triple, upstream, fork)
    return triple


def _in_branches(triple: Triple, upstream: Sequence[Node], fork: Fork) -> Triple:
    """The triple with upstream's new condition ``fork`` in base and omni, too, around their version of its branches."""
    base, omni = flatten(triple.base), flatten(triple.omni)
    old = _said_once(base, upstream, fork)
    mine = counterpart(base, omni, old) if old else ()
    if not mine or said(omni, mine) == said(base, old):
        return triple
    heads = [upstream[k].lines for k in fork.heads]
    return Triple(_forked(triple.base, base, old, heads), _forked(triple.omni, omni, mine, heads), triple.upstream)


def _said_once(base: Sequence[Node], upstream: Sequence[Node], fork: Fork) -> Run:
    """The statements of the base that are equal to one of the branches; empty if the base already has the condition, or
    has them twice, or if upstream has them elsewhere, too."""
    branches = {said(upstream, branch): len(branch) for branch in fork.branches}
    if upstream[fork.heads[0]].canon in {node.canon for node in base} or len(branches) < len(fork.branches):
        return ()
    both = ((only_place(base, text, size), only_place(upstream, text, size)) for text, size in branches.items())
    return next((place for place, again in both if place and again), ())


def _forked(text: str, nodes: Sequence[Node], run: Run, heads: Sequence[Sequence[str]]) -> str:
    """The text with a run of statements repeated under each of ``heads``."""
    lines, first, last = text.split("\n"), nodes[run[0]].start - 1, end(nodes, run[-1])
    margin = indentation(lines[first])
    branch = indented(lines, nodes, range(first, last))
    made = [row for head in heads for row in (*(margin + line for line in head), *branch)]
    return "\n".join([*lines[:first], *made, *lines[last:]])


def _out_of_branches(triple: Triple, upstream: Sequence[Node], fork: Fork) -> Triple:
    """The triple without a condition of the base that upstream dropped but for the statements of one branch, if omni
    has edited all branches alike: base and omni get that branch only."""
    base, omni = flatten(triple.base), flatten(triple.omni)
    heads = counterpart(base, omni, fork.heads[:1])
    mine = fork_at(omni, heads[0]) if len(heads) == 1 else None
    if mine is None or [omni[k].canon for k in mine.heads] != [base[k].canon for k in fork.heads]:
        return triple
    stays = [k for k, branch in enumerate(fork.branches) if only_place(upstream, said(base, branch), len(branch))]
    is_gone = base[fork.heads[0]].canon not in {node.canon for node in upstream}
    if len(stays) != 1 or not is_gone or not _are_edited_alike(base, fork, omni, mine, stays[0]):
        return triple
    old, own = (_joined(*side, stays[0]) for side in ((triple.base, base, fork), (triple.omni, omni, mine)))
    return Triple(old, own, triple.upstream)


def _are_edited_alike(base: Sequence[Node], fork: Fork, omni: Sequence[Node], mine: Fork, stays: int) -> bool:
    """Whether everything that omni added to the branches that go, comments included, is also in the one that stays."""
    kept = mine.branches[stays]
    if not kept or said(omni, kept) == said(base, fork.branches[stays]):
        return False
    known = {node.canon for node in base} | {omni[j].canon for j in mine.suites[stays]}
    for old, branch, suite in zip(fork.branches, mine.branches, mine.suites, strict=True):
        more = words_of(omni, branch) - words_of(base, old)
        remarks = {omni[j].canon for j in suite if omni[j].is_comment}
        if more - words_of(omni, kept) or remarks - known:
            return False
    return True


def _joined(text: str, nodes: Sequence[Node], fork: Fork, stays: int) -> str:
    """The text with a condition replaced by the statements of one of its branches."""
    lines, first, last = text.split("\n"), nodes[fork.heads[0]].start - 1, end(nodes, fork.heads[0])
    suite = fork.suites[stays]
    rows = range(nodes[suite[0]].start - 1, nodes[suite[-1]].start - 1 + len(nodes[suite[-1]].lines))
    return "\n".join([*lines[:first], *indented(lines, nodes, rows, by=-INDENT), *lines[last:]])
