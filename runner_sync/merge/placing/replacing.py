"""What a port puts in the place of something that the text has in another suite than the GPU runner.

Comes in: a ``Weave`` whose strands have their parents. Goes out: nothing; strands get another parent. May touch:
``parent`` of the strands.

Omni takes a statement of the GPU runner's into a suite of NPU's and goes on there, maybe with what it sets. When the
GPU runner says it in other words, the new ones belong to the same place, and not behind that suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner_sync.merge.placing.nesting import home, is_inside
from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements import ROOT, Node
from runner_sync.statements.dataflow import binds


def go_where_the_old_one_is(weave: Weave) -> None:
    """Put upstream's new statements into the suite in which omni has those that they replace, if it is another one.

    They replace the statements that upstream had in the same gap and that bind one of the names that they bind.
    """
    for new in _additions(weave):
        old = _removed_there(weave, new)
        names = [_bound(side, run) for side, run in ((weave.upstream, new), (weave.base, old))]
        tops = [weave.of_base[k] for k in old if weave.base[k].parent not in old and not weave.base[k].is_clause]
        homes = {home(weave, strand) for strand in tops}
        moved = all(_parent_in_base(weave, strand) is not home(weave, strand) for strand in tops)
        if not names[0] & names[1] or len(homes) != 1 or not moved:
            continue
        (suite,) = homes
        for k in new:
            inner = weave.upstream[k].parent in new or weave.upstream[k].is_clause
            if not inner and not is_inside(suite, weave.of_upstream[k]):
                weave.of_upstream[k].parent = suite


def _additions(weave: Weave) -> Iterator[list[int]]:
    """Runs of statements that only upstream has, with what is inside of them, as indices of upstream."""
    run: list[int] = []
    for k, strand in enumerate(weave.of_upstream):
        if strand.sides == "u" or weave.upstream[k].parent in run:
            run.append(k)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _removed_there(weave: Weave, new: Sequence[int]) -> list[int]:
    """What omni has and upstream has no more between the old statements around a run of upstream's, with what is inside
    of it, as indices of the base."""
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


def _bound(nodes: Sequence[Node], run: Sequence[int]) -> frozenset[str]:
    return frozenset(name for k in run for name in binds(nodes[k]))


def _parent_in_base(weave: Weave, strand: Strand) -> Strand | None:
    above = weave.base[strand.in_base].parent
    return weave.of_base[above] if above != ROOT else None
