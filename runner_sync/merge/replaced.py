"""Find what the base had and both sides no longer have: what upstream's additions stand in the place of.

Comes in: a ``Weave`` and a strand that upstream alone has, or what a question shows of the base. Goes out: indices of
the base. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from runner_sync.merge.reason import Kind
from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements import ROOT, below, siblings

REPLACED: Collection[Kind] = frozenset({"replacement in a removed block", "replacement in a removed passage"})
"""Reasons about additions in the place of something that both sides no longer have."""


def find_replaced(weave: Weave, addition: Strand) -> list[int]:
    """The statements of the base, with all inside them, that neither side has any more and that stood where upstream
    has an addition now: between the same old statements of one suite, or at the same end of it.

    None of what upstream has at another place by now. Here ``dump()`` replaces the condition::

        base                    upstream
            first()                 first()
            if debugger:            dump()
                stop()              return rows
            return rows
    """
    head = weave.upstream[addition.in_upstream].parent
    suite = ROOT if head == ROOT else weave.of_upstream[head].base
    if suite is None:
        return []
    before, behind = (next(_iter_old_siblings(weave, addition, step), None) for step in (-1, 1))
    first, last = suite if before is None else before, len(weave.base) if behind is None else behind
    said = {node.canon for node in weave.upstream}
    gone = (k for k in range(first + 1, last) if weave.of_base[k].sides == "b" and weave.base[k].parent == suite)
    found = [k for k in gone if weave.base[k].is_telling and not weave.base[k].is_clause]
    return [inside for k in found if weave.base[k].canon not in said for inside in below(weave.base, k)]


def _iter_old_siblings(weave: Weave, addition: Strand, step: int) -> Iterator[int]:
    """The statements before or after one of upstream's, in its suite, that the base has, too, as indices of the base;
    the nearest first."""
    for k in siblings(weave.upstream, addition.in_upstream, step=step):
        base = weave.of_upstream[k].base
        if base is not None:
            yield base


def find_gone_between(weave: Weave, shown: Sequence[int]) -> Iterator[int]:
    """The statements of the base that both sides no longer have, in the suites of those ``shown`` and in between two of
    them with nothing of omni's: without these the base would read as if it had never done that."""
    suites = {weave.base[k].parent for k in shown}
    for first, last in pairwise(sorted(shown)):
        between = range(first + 1, last)
        for k in between if all(weave.of_base[k].omni is None for k in between) else ():
            node = weave.base[k]
            if weave.of_base[k].sides == "b" and node.parent in suites and not node.is_comment and not node.is_clause:
                yield from below(weave.base, k)
