"""Find additions of omni's that read what a new upstream statement beside them sets.

Comes in: the kept strands of a ``Weave`` in output order. Goes out: ``Doubt`` values. May touch: nothing.

Both sides added statements between the same two. Neither text tells their order, only what they set and read does::

    upstream    rows = pad(rows)        omni    count = len(rows)

Omni's statement stands behind upstream's (`sequence`). It may need the value as it was. Where upstream only replaced
the statement that sets the value, there is no other value to need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from runner_sync.confidence import REBUILT
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, pick_node, split_into_runs
from runner_sync.statements import Node
from runner_sync.statements.dataflow import attributes_set, binds, find_fed


def find_fed_beside(weave: Weave, kept: Sequence[Strand], *, asked: Collection[Strand]) -> list[Doubt]:
    """Return a doubt about the first omni addition of each gap that reads what upstream's additions there set.

    Skips strands in ``asked``.
    """
    more = _count_setters(weave.upstream) - _count_setters(weave.base)
    doubts = []
    for run in split_into_runs(kept) if more else ():
        new, own = ([strand for strand in run if strand.sides == side] for side in "uo")
        setting = [pick_node(weave, strand) for strand in new]
        fed = find_fed(setting, [pick_node(weave, strand) for strand in own]) & more.keys()
        readers = (strand for strand in own if find_fed(setting, [pick_node(weave, strand)]) & fed)
        reader = next(readers, None)
        if reader is not None and reader not in asked:
            names = find_fed(setting, [pick_node(weave, reader)]) & fed
            setters = tuple(strand for strand, node in zip(new, setting, strict=True) if names & _find_set(node))
            doubts.append(Doubt(reader, Reason("set beside its use", tuple(sorted(names))), REBUILT, None, setters))
    return doubts


def _count_setters(nodes: Sequence[Node]) -> Counter[str]:
    """Return how many statements set each local and attribute."""
    return Counter(name for node in nodes for name in _find_set(node))


def _find_set(node: Node) -> frozenset[str]:
    return binds(node) | attributes_set(node)
