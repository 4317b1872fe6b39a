"""Tells whether upstream's change of a method concerns an override that has only parts of that method.

Comes in: texts of methods. Goes out: yes or no. May touch: nothing.

``sample_tokens`` of the generation runner has the start and the end of vllm-ascend's method and nothing of the sampling
in between, so this change inside a block that it lacks is none of its business::

    if self.need_accepted_tokens:                                if self.need_accepted_tokens:
        global_stream().wait_event(self.sampling_done_event)         self.stream.wait_event(self.sampling_done_event)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner_sync import lineage, merge
from runner_sync.statements import ROOT, Node, ancestors
from runner_sync.statements.calls import names_called
from runner_sync.statements.dataflow import reads, sets
from runner_sync.statements.likeness import similarity
from runner_sync.thresholds import SIMILAR


def is_concerned(text: str, *, old: str, new: str) -> bool:
    """Whether an override (``text``) has a part of the method that upstream changed from ``old`` to ``new``.

    It has that part if it has a changed or removed statement, in any version. Of new code it is concerned if it has the
    blocks around, and of a changed statement that it lacks if, besides, that makes a call which ``old`` does not make.
    Locals that nothing of this reads do not count.

    timid: yes if a text does not parse.
    """
    mine, before, after = (lineage.list_nodes(one) for one in (text, old, new))
    if not (mine and before and after):
        return True
    pairs = merge.align(before, after)
    came_from = {pair.right: pair.left for pair in pairs}
    same = {pair.left for pair in pairs if pair.equal}
    changed = [node for k, node in enumerate(before) if k not in same and node.is_telling]
    if any(_has_version(mine, node) for node in changed):
        return True
    known = {node.canon for node in mine}
    called = set(names_called(old))
    equal = {pair.right for pair in pairs if pair.equal}
    news = [k for k, node in enumerate(after) if k not in equal and node.is_telling]
    there = [k for k in news if _has_blocks_around(after, k, known, came_from)]
    there = [k for k in there if k not in came_from or set(names_called(after[k].text)) - called]
    readers = {k for k, node in enumerate(after) if node.canon in known}.union(there)
    return any(not _is_unused_local(after, k, readers) for k in there)


def _has_version(mine: Sequence[Node], node: Node) -> bool:
    """Whether an override has a statement of upstream's, perhaps changed; if it makes calls, then one of these, too."""
    called = set(names_called(node.text))
    return any(
        one.canon == node.canon
        or (similarity(one, node) >= SIMILAR and not (called and called.isdisjoint(names_called(one.text))))
        for one in mine
        if one.is_telling
    )


def _has_blocks_around(nodes: Sequence[Node], index: int, known: Collection[str], came_from: Collection[int]) -> bool:
    """Whether the override has all blocks around a statement that upstream had before; the method itself counts."""
    heads = [k for k in ancestors(nodes, index) if nodes[k].parent != ROOT]
    return all(k not in came_from or nodes[k].canon in known or not nodes[k].is_telling for k in heads)


def _is_unused_local(nodes: Sequence[Node], index: int, readers: Collection[int]) -> bool:
    """Whether a statement does nothing but set locals, without a call, that none of the ``readers`` reads."""
    node = nodes[index]
    names = sets(node)
    if node.compound or not names or set(node.facts.targets) != names or names_called(node.text):
        return False
    return not any(names & reads(nodes[k]) for k in readers if k != index)
