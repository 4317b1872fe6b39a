"""Move ported replacements into the suite in which the NPU method has the old statements.

Comes in: a ``Weave`` whose strands have their parents. Goes out: nothing. May touch: ``parent`` of the strands.

The NPU method may have a GPU statement inside a suite of its own, and use there what the statement sets. When the GPU
runner replaces the statement, the replacement belongs into that suite, not behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner_sync.merge.placing.nesting import find_kept_suite, is_inside
from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements import ROOT, Node
from runner_sync.statements.dataflow import binds


def move_to_replaced_suites(weave: Weave) -> None:
    """Move each run of new upstream statements into the suite in which omni has the replaced statements.

    The replaced statements are base statements in the same gap that upstream removed and omni has. They must bind a
    name that the run binds, and stand in one suite of omni's that differs from their suite in the base.
    """
    for new in _find_new_runs(weave):
        old = _find_removed(weave, new)
        names = [_collect_bound(side, run) for side, run in ((weave.upstream, new), (weave.base, old))]
        tops = [weave.of_base[k] for k in old if weave.base[k].parent not in old and not weave.base[k].is_clause]
        homes = {find_kept_suite(weave, strand) for strand in tops}
        moved = all(_find_parent_in_base(weave, strand) is not find_kept_suite(weave, strand) for strand in tops)
        if not names[0] & names[1] or len(homes) != 1 or not moved:
            continue
        (suite,) = homes
        for k in new:
            inner = weave.upstream[k].parent in new or weave.upstream[k].is_clause
            if not inner and not is_inside(suite, weave.of_upstream[k]):
                weave.of_upstream[k].parent = suite


def _find_new_runs(weave: Weave) -> Iterator[list[int]]:
    """Yield the runs of consecutive statements that only upstream has, with all nested ones, as upstream indices."""
    run: list[int] = []
    for k, strand in enumerate(weave.of_upstream):
        if strand.sides == "u" or weave.upstream[k].parent in run:
            run.append(k)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _find_removed(weave: Weave, new: Sequence[int]) -> list[int]:
    """Return the base statements in the gap of an upstream run that upstream removed and omni still has.

    Includes all nested ones, as base indices.
    """
    before = (weave.of_upstream[k].base for k in range(new[0] - 1, -1, -1))
    after = (weave.of_upstream[k].base for k in range(new[-1] + 1, len(weave.upstream)))
    first = next((index for index in before if index is not None), ROOT)
    last = next((index for index in after if index is not None), len(weave.base))
    gone: list[int] = []
    for k in range(first + 1, last):
        node = weave.base[k]
        if not node.is_comment and (weave.of_base[k].sides == "bo" or node.parent in gone):
            gone.append(k)
    return gone


def _collect_bound(nodes: Sequence[Node], run: Sequence[int]) -> frozenset[str]:
    return frozenset(name for k in run for name in binds(nodes[k]))


def _find_parent_in_base(weave: Weave, strand: Strand) -> Strand | None:
    above = weave.base[strand.in_base].parent
    return weave.of_base[above] if above != ROOT else None
