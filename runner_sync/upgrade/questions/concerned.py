"""Tells whether upstream's change of a method concerns an override that has only parts of that method.

Comes in: texts of methods. Goes out: yes or no. May touch: nothing.

``sample_tokens`` of the generation runner has the start and the end of vllm-ascend's method and nothing of the sampling
in between, so this change inside a block that it lacks is none of its business::

    if self.need_accepted_tokens:                                if self.need_accepted_tokens:
        global_stream().wait_event(self.sampling_done_event)         self.stream.wait_event(self.sampling_done_event)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from runner_sync import lineage, merge
from runner_sync.statements import JUMPS, Node, below, enclosing
from runner_sync.statements.calls import names_called
from runner_sync.statements.dataflow import reads, sets
from runner_sync.statements.likeness import similarity
from runner_sync.thresholds import SIMILAR


def is_concerned(text: str, *, old: str, new: str) -> bool:
    """Whether an override (``text``) has a part of the method that upstream changed from ``old`` to ``new``.

    It has that part if it has a changed or removed statement, in any version, or something inside it. Of new code it is
    concerned if it has the blocks around, and of a changed statement that it lacks if, besides, that makes a call which
    ``old`` does not make. Locals that neither it nor this code reads do not count.

    timid: yes if a text does not parse.
    """
    override, before, after = (lineage.list_nodes(one) for one in (text, old, new))
    if not (override and before and after):
        return True
    pairs = merge.align(before, after)
    was, now = _Side(override, before), _Side(override, after)
    same, equal = {pair.left for pair in pairs if pair.equal}, {pair.right for pair in pairs if pair.equal}
    if any(was.has_changed(k) for k in range(len(before)) if k not in same):
        return True
    came_from, called = {pair.right for pair in pairs}, set(names_called(old))
    news = [k for k in range(len(after)) if k not in equal and now.has_blocks_around(k, came_from)]
    if any(now.has_inside(k) for k in news if after[k].compound and k not in came_from):
        return True
    there = [k for k in news if after[k].is_telling or after[k].keyword in JUMPS]
    there = [k for k in there if k not in came_from or set(names_called(after[k].text)) - called]
    return any(not _is_unused_local(after[k], [*override, *(after[j] for j in there if j != k)]) for k in there)


@dataclass(frozen=True)
class _Side:
    """Upstream's statements (``nodes``) of one version, and those of an override."""

    override: Sequence[Node]
    nodes: Sequence[Node]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(node.canon for node in self.override if node.is_telling)

    def has_changed(self, index: int) -> bool:
        """Whether the override has a statement that upstream changed or removed."""
        node = self.nodes[index]
        if node.keyword in JUMPS:
            return self.has_blocks_around(index)
        if node.compound:
            return self._has_block(index)
        return self._has_version(node) or (self._sets_same(node) and self.has_blocks_around(index))

    def has_blocks_around(self, index: int, old: Collection[int] | None = None) -> bool:
        """Whether the override has the blocks around a statement; of these, only ``old`` ones count if given."""
        heads = [k for k in enclosing(self.nodes, index) if k and (old is None or k in old)]
        return all(self._has_block(k) for k in heads)

    def has_inside(self, head: int) -> bool:
        """Whether the override has a statement of a block, perhaps under another condition or under none."""
        return any(self._has_version(self.nodes[k]) for k in below(self.nodes, head)[1:])

    def _has_block(self, head: int) -> bool:
        return self._has_version(self.nodes[head]) or self.has_inside(head)

    def _has_version(self, node: Node) -> bool:
        """Whether an override has a statement of upstream's, perhaps changed; if it makes calls, one of these, too."""
        called = set(names_called(node.text))
        return node.is_telling and (
            node.canon in self._known
            or any(
                similarity(one, node) >= SIMILAR and not (called and called.isdisjoint(names_called(one.text)))
                for one in self.override
                if one.is_telling
            )
        )

    def _sets_same(self, node: Node) -> bool:
        return any(set(one.facts.targets) & set(node.facts.targets) for one in self.override)


def _is_unused_local(node: Node, readers: Iterable[Node]) -> bool:
    """Whether a statement does nothing but set locals, without a call, that none of the ``readers`` reads."""
    names = sets(node)
    if node.compound or not names or set(node.facts.targets) != names or names_called(node.text):
        return False
    return not any(names & reads(one) for one in readers)
