"""Repeat omni's edited statements in each branch of a condition that upstream put around them.

Comes in: a ``Triple``. Goes out: the triple with upstream's condition in base and omni, or without a condition that
upstream dropped. May touch: nothing.

Then omni's edit is merged into each branch. Otherwise the second branch would come in without the edit::

    base    out = self.model(rows, width)       upstream    if is_old():
    omni    out = self.own_forward(rows, width)                 out = self.model(rows, width)
                                                            else:
                                                                out = self.model(rows)

If upstream drops the condition again, omni's edited branches would otherwise all stay, and the work be done twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.preparing.forks import Fork, Run, count_words, find_counterpart, find_only_place, fork_at, forks
from runner_sync.merge.preparing.one_form import end, indented
from runner_sync.model import Triple
from runner_sync.statements import INDENT, Node, flatten, said
from runner_sync.syntax import indentation


def with_upstream_branches(triple: Triple) -> Triple:
    """Split base and omni into branches, or join their branches, as upstream did."""
    upstream = flatten(triple.upstream)
    for fork in forks(upstream):
        triple = _split_into_branches(triple, upstream, fork)
    for fork in reversed([*forks(flatten(triple.base))]):
        triple = _join_branches(triple, upstream, fork)
    return triple


def _split_into_branches(triple: Triple, upstream: Sequence[Node], fork: Fork) -> Triple:
    """Put upstream's new condition ``fork`` around the version of its branches in base and omni."""
    base, omni = flatten(triple.base), flatten(triple.omni)
    base_run = _find_unique_branch(base, upstream, fork)
    omni_run = find_counterpart(base, omni, base_run) if base_run else ()
    if not omni_run or said(omni, omni_run) == said(base, base_run):
        return triple
    heads = [upstream[k].lines for k in fork.heads]
    return Triple(_fork(triple.base, base, base_run, heads), _fork(triple.omni, omni, omni_run, heads), triple.upstream)


def _find_unique_branch(base: Sequence[Node], upstream: Sequence[Node], fork: Fork) -> Run:
    """Return the base statements that equal one of the branches.

    Empty if the base already has the condition, or has the statements twice, or if upstream also has them elsewhere.
    """
    branches = {said(upstream, branch): len(branch) for branch in fork.branches}
    if upstream[fork.heads[0]].canon in {node.canon for node in base} or len(branches) < len(fork.branches):
        return ()
    both = (
        (find_only_place(base, text, size), find_only_place(upstream, text, size)) for text, size in branches.items()
    )
    return next((place for place, again in both if place and again), ())


def _fork(text: str, nodes: Sequence[Node], run: Run, heads: Sequence[Sequence[str]]) -> str:
    """Repeat a run of statements under each of ``heads``."""
    lines, first, last = text.split("\n"), nodes[run[0]].start - 1, end(nodes, run[-1])
    margin = indentation(lines[first])
    branch = indented(lines, nodes, range(first, last))
    made = [row for head in heads for row in (*(margin + line for line in head), *branch)]
    return "\n".join([*lines[:first], *made, *lines[last:]])


def _join_branches(triple: Triple, upstream: Sequence[Node], fork: Fork) -> Triple:
    """Replace a base condition that upstream dropped by the one branch that upstream kept, in base and omni.

    Applies only if omni edited all branches alike.
    """
    base, omni = flatten(triple.base), flatten(triple.omni)
    heads = find_counterpart(base, omni, fork.heads[:1])
    omni_fork = fork_at(omni, heads[0]) if len(heads) == 1 else None
    if omni_fork is None or [omni[k].canon for k in omni_fork.heads] != [base[k].canon for k in fork.heads]:
        return triple
    stays = [k for k, branch in enumerate(fork.branches) if find_only_place(upstream, said(base, branch), len(branch))]
    is_gone = base[fork.heads[0]].canon not in {node.canon for node in upstream}
    if len(stays) != 1 or not is_gone or not _are_edited_alike(base, fork, omni, omni_fork, stays[0]):
        return triple
    old, own = (_keep_branch(*side, stays[0]) for side in ((triple.base, base, fork), (triple.omni, omni, omni_fork)))
    return Triple(old, own, triple.upstream)


def _are_edited_alike(base: Sequence[Node], fork: Fork, omni: Sequence[Node], omni_fork: Fork, stays: int) -> bool:
    """Whether all of omni's additions to the dropped branches, comments included, are also in the branch that stays."""
    kept = omni_fork.branches[stays]
    if not kept or said(omni, kept) == said(base, fork.branches[stays]):
        return False
    known = {node.canon for node in base} | {omni[j].canon for j in omni_fork.suites[stays]}
    for old, branch, suite in zip(fork.branches, omni_fork.branches, omni_fork.suites, strict=True):
        more = count_words(omni, branch) - count_words(base, old)
        remarks = {omni[j].canon for j in suite if omni[j].is_comment}
        if more - count_words(omni, kept) or remarks - known:
            return False
    return True


def _keep_branch(text: str, nodes: Sequence[Node], fork: Fork, stays: int) -> str:
    """Replace a condition by the statements of one of its branches."""
    lines, first, last = text.split("\n"), nodes[fork.heads[0]].start - 1, end(nodes, fork.heads[0])
    suite = fork.suites[stays]
    rows = range(nodes[suite[0]].start - 1, nodes[suite[-1]].end)
    return "\n".join([*lines[:first], *indented(lines, nodes, rows, by=-INDENT), *lines[last:]])
