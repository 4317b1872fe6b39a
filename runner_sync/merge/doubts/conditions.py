"""Find additions that run under other conditions in the result than on the side that added them.

Comes in: the kept strands of a ``Weave``, and where each was written. Goes out: ``Doubt`` values. May touch: nothing.

An addition moves along with its neighbours. Between two that the other side put under a condition, it belongs there
too. Behind the last of them, it may belong under the condition or behind it. Here upstream put ``if`` around the first
statement, and omni added the second::

    load(a)                 if ready:
    log(a)                      load(a)
                                log(a)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.confidence import INFERRED, REBUILT
from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.weave import Doubt, Nodes, Strand, Weave, heads_around, other_side, pick_node, take_until
from runner_sync.statements import below, siblings
from runner_sync.statements.dataflow import binds, uses_anything_of


def find_changed_conditions(weave: Weave, kept: Sequence[Strand], emitted: Emitted) -> list[Doubt]:
    """Return doubts about additions that gained or lost a condition, or whose condition the other side changed."""
    sides = {
        "o": _Additions(weave, "o", weave.omni, weave.of_omni, emitted, _find_last_lines(kept, emitted, "u")),
        "u": _Additions(weave, "u", weave.upstream, weave.of_upstream, emitted, _find_last_lines(kept, emitted, "o")),
    }
    doubts = []
    for strand in kept:
        if strand.sides in sides and not (pick_node(weave, strand).is_comment or pick_node(weave, strand).is_clause):
            reason = sides[strand.sides].find_reason(strand)
            doubts += [Doubt(strand, reason, REBUILT)] if reason is not None else []
    return doubts


def find_added_by_both(weave: Weave, kept: Sequence[Strand], emitted: Emitted) -> list[Doubt]:
    """Return a doubt about the first statement under each omni condition that both sides added, upstream without it."""
    doubts: dict[Strand, Doubt] = {}
    for strand in kept:
        if strand.sides == "ou" and not pick_node(weave, strand).is_comment:
            heads = list(itertools.takewhile(lambda head: head.sides == "o", emitted.around(strand)))
            names = tuple(_name_condition(weave, head) for head in heads if pick_node(weave, head).is_condition)
            if names:
                doubts.setdefault(heads[0], Doubt(strand, Reason("both added under other conditions", names), INFERRED))
    return [*doubts.values()]


def _name_condition(weave: Weave, head: Strand) -> str:
    """Return the text of a condition; of an ``else``, with that of its statement."""
    text = pick_node(weave, head).canon
    return f"{pick_node(weave, head.owner).canon} … {text}" if text == "else" and head.owner is not None else text


def _find_last_lines(kept: Sequence[Strand], emitted: Emitted, side: str) -> dict[Strand | None, int]:
    """Return ``{suite: line}`` of the last statement of one side in each suite of the result."""
    ends: dict[Strand | None, int] = {}
    for strand in kept:
        if side in strand.sides and strand in emitted.place:
            above, line = emitted.above[strand], emitted.place[strand][0]
            ends[above] = max(line, ends.get(above, line))
    return ends


@dataclass(frozen=True, slots=True)
class _Additions:
    """Compare the suites around one side's additions on that side and in the result.

    ``ends`` maps each suite of the result to the line of the other side's last statement in it.
    """

    weave: Weave
    side: str
    nodes: Nodes
    strands: Sequence[Strand]
    emitted: Emitted
    ends: dict[Strand | None, int]

    @property
    def other(self) -> str:
        return other_side(self.side)

    def find_reason(self, strand: Strand) -> Reason | None:
        """Return the reason if an addition came under a condition, left one, or stands under one with changed text."""
        index = strand.on(self.side)
        before, now = [*heads_around(self.weave, strand, self.side)], [*self.emitted.around(strand)]
        near = [*self._iter_near(index, -1), *self._iter_near(index, 1)]
        for inside, head in itertools.pairwise([strand, *take_until(now, before)]):
            if self._is_condition(head) and not self._is_in_place_under(index, near, head, inside):
                return Reason(self._choose_kind(head), (pick_node(self.weave, head).canon,))
        for head in take_until(before, now):
            if self._is_condition(head) and not self._has_left_with_neighbours(strand, near, head):
                return Reason("outside of its condition", (pick_node(self.weave, head).canon,))
            if self._has_lost_context(head):
                return Reason("outside of its condition", (pick_node(self.weave, head).canon,))
        return self._find_changed_condition(index, before, now)

    def _find_changed_condition(self, index: int, before: Sequence[Strand], now: Sequence[Strand]) -> Reason | None:
        """Return the reason if the other side changed the condition around an addition, or put a new one around it.

        Returns ``None`` if a statement in the condition's own suite has the same text on both sides; otherwise the
        change was not meant for this addition. Skips an addition that replaces a base statement below the condition.
        """
        if not before or before[0].sides != "bou" or before[0] not in now:
            return None
        around = [head for head in now[now.index(before[0]) :] if self._is_condition(head)]
        new = [head for head in around if head.sides in ("o", "u") and head not in before]
        changed = [before[0], *new] if before[0] in around and self._is_changed_by_other_alone(before[0]) else new
        if not changed or self._has_shared_text_below(before[0]) or self._is_replacing_base(index, before[0]):
            return None
        names = [
            self._get_other_text(head) if head.sides == "bou" else pick_node(self.weave, head).canon for head in changed
        ]
        return Reason("under a changed condition", tuple(names))

    def _has_lost_context(self, head: Strand) -> bool:
        """Whether upstream removed a ``with``, ``try`` or ``finally`` around omni's addition together with all in it.

        What upstream does now instead may enter the context, or handle the error, in a method that it calls.
        """
        node = pick_node(self.weave, head)
        is_context = node.keyword in ("try", "finally") or bool(node.facts.enters)
        return is_context and self.side == "o" and head.sides == "bo" and not self._has_shared_text_below(head)

    def _has_shared_text_below(self, head: Strand) -> bool:
        """Whether a statement in the suite of a head has the same text on both sides."""
        return any(
            self.nodes[k].canon == self._get_other_text(self.strands[k])
            for k in below(self.nodes, head.on(self.side))
            if self.nodes[k].parent == head.on(self.side)
            and self.strands[k].sides == "bou"
            and self._is_shared(k)
            and not self.nodes[k].is_comment
        )

    def _is_replacing_base(self, index: int, head: Strand) -> bool:
        """Whether an addition binds a name that the base bound below the head, and so replaces a base statement."""
        bound = {name for k in below(self.weave.base, head.in_base) for name in binds(self.weave.base[k])}
        return not bound.isdisjoint(binds(self.nodes[index]))

    def _is_changed_by_other(self, strand: Strand) -> bool:
        """Whether the other side changed the text of a statement that all three texts have."""
        return strand.sides == "bou" and self.weave.is_edited(strand, self.other)

    def _is_changed_by_other_alone(self, head: Strand) -> bool:
        """Whether only the other side changed the text of a head."""
        return self.weave.is_unedited(head, self.side) and self.weave.is_edited(head, self.other)

    def _get_other_text(self, head: Strand) -> str:
        """Return the other side's text of a head."""
        return self.weave.side(self.other)[0][head.on(self.other)].canon

    def _choose_kind(self, head: Strand) -> Kind:
        if len(head.sides) == 1:
            return "under a new condition" if self.side == "o" else "under a condition of omni's"
        return "under another condition"

    def _is_condition(self, head: Strand) -> bool:
        return pick_node(self.weave, head).is_condition

    def _iter_near(self, index: int, step: int) -> Iterator[int]:
        """Yield the statements beside an addition in one direction, up to the first that both sides share."""
        for k in siblings(self.nodes, index, step=step):
            if not self.nodes[k].is_clause:
                yield k
                if self._is_shared(k):
                    return

    def _is_shared(self, index: int) -> bool:
        strand = self.strands[index]
        return len(strand.sides) > 1 and strand in self.emitted.above

    def _is_in_place_under(self, index: int, near: Sequence[int], head: Strand, inside: Strand) -> bool:
        """Whether an addition clearly belongs under the condition ``head`` that it came under.

        It belongs there between two shared statements under the condition, and behind one if another statement of the
        other side follows. An upstream addition also belongs there if it is around a shared statement, or uses what is
        set there.
        """
        around = [self.strands[k] for k in near if self._is_shared(k)]
        if len(around) > 1 and all(head in self.emitted.around(other) for other in around):
            return True
        is_behind = any(k < index and head in self.emitted.around(self.strands[k]) for k in near if self._is_shared(k))
        if is_behind and self.ends.get(head, 0) > self.emitted.place[inside][0]:
            return True
        if self.side == "o":
            return False
        if any(self._is_shared(k) for k in below(self.nodes, index)):
            return True
        setting = [self.weave.omni[k] for k in below(self.weave.omni, head.in_omni)] if head.omni is not None else []
        new = [k for top in (index, *near) if not self._is_shared(top) for k in below(self.nodes, top)]
        return uses_anything_of(setting, [self.nodes[k] for k in new])

    def _has_left_with_neighbours(self, strand: Strand, near: Sequence[int], head: Strand) -> bool:
        """Whether an addition left the condition ``head`` with its shared neighbours, so that it needs no question.

        Either both neighbours stand outside it. Or the condition is gone, and an unchanged neighbour stands in the
        addition's suite; a changed neighbour may stand for something else.
        """
        around = [self.strands[k] for k in near if self._is_shared(k)]
        if head not in self.emitted.above:
            alike = [other for other in around if not self._is_changed_by_other(other)]
            return any(self.emitted.above[other] is self.emitted.above[strand] for other in alike)
        return len(around) > 1 and all(head not in self.emitted.around(other) for other in around)
