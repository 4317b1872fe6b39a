"""Find base statements that both sides dropped and that upstream's additions replace.

Comes in: a ``Weave``, and a strand that only upstream has or base statements that a question shows. Goes out: indices
of the base. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from runner_sync.merge.reason import Kind
from runner_sync.merge.weave import Strand, Weave, find_beside, is_old
from runner_sync.statements import ROOT, below

REPLACED: Collection[Kind] = frozenset({"replacement in a removed block", "replacement in a removed passage"})
"""Reasons about an addition that replaces something both sides dropped."""


def find_replaced(weave: Weave, addition: Strand) -> list[int]:
    """Return the base statements, with all inside them, that both sides dropped and an upstream addition replaces.

    They stood between the same old statements of one suite as the addition, or at the same end of the suite. Skips
    statements that upstream has at another place. Here ``dump()`` replaces the condition::

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
    before, behind = (find_beside(weave, addition, "u", step, is_old) for step in (-1, 1))
    first, last = suite if before is None else before.in_base, len(weave.base) if behind is None else behind.in_base
    upstream_texts = {node.canon for node in weave.upstream}
    gone = (k for k in range(first + 1, last) if weave.of_base[k].sides == "b" and weave.base[k].parent == suite)
    found = [k for k in gone if weave.base[k].is_telling and not weave.base[k].is_clause]
    return [inside for k in found if weave.base[k].canon not in upstream_texts for inside in below(weave.base, k)]


def find_gone_between(weave: Weave, shown: Sequence[int]) -> Iterator[int]:
    """Yield the base statements, dropped by both sides, that a question must also show.

    They lie between two ``shown`` statements, in one of their suites, with nothing of omni's in between. Without them
    the base would read as if it had never run them.
    """
    suites = {weave.base[k].parent for k in shown}
    for first, last in pairwise(sorted(shown)):
        between = range(first + 1, last)
        for k in between if all(weave.of_base[k].omni is None for k in between) else ():
            node = weave.base[k]
            if weave.of_base[k].sides == "b" and node.parent in suites and not node.is_comment and not node.is_clause:
                yield from below(weave.base, k)
