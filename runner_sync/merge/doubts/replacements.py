"""Tell of a statement of omni's that stays what upstream put in its place.

Comes in: a ``Weave``, and ``Doubt`` values. Goes out: the doubts, some of them joined. May touch: nothing.

For a text that is no copy. Here upstream gives up ``update`` for a call in the block above, which omni does not have::

    base                            upstream
        if self.cache:                  if self.cache:
            rows = copy(rows)               rows = copy(rows)
        self.update(rows)                   self.write(rows)

That is one question, at omni's ``update``, and not one about ``update`` and one about ``write`` somewhere above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, above, any_node
from runner_sync.statements import below


def with_replacements(weave: Weave, doubts: Sequence[Doubt]) -> list[Doubt]:
    """The doubts, each about a statement that upstream removed with what upstream added directly in front of it, to a
    block that omni does not have; those about that are gone."""
    joined: dict[Doubt, Doubt] = {}
    for doubt in doubts:
        if doubt.reason.kind == "edited statement removed" and doubt.strand.kept and doubt.strand.sides == "bo":
            added = [other for other in doubts if other not in joined and _is_in_front(weave, other, doubt.strand)]
            joined |= dict.fromkeys(added, doubt)
    blocks: dict[Doubt, dict[Strand, None]] = {doubt: {} for doubt in joined.values()}
    for other, doubt in joined.items():
        blocks[doubt] |= dict.fromkeys(_block(weave, other.strand, doubt.strand))
    return [_told(weave, doubt, [*blocks.get(doubt, ())]) for doubt in doubts if doubt not in joined]


def _told(weave: Weave, doubt: Doubt, block: Sequence[Strand]) -> Doubt:
    if not block:
        return doubt
    code = tuple(strand for strand in block if not any_node(weave, strand).is_comment)
    return replace(doubt, reason=Reason("edited statement replaced"), left_out=code)


def _is_in_front(weave: Weave, doubt: Doubt, removed: Strand) -> bool:
    """Whether a doubt is about an addition to a block that ends directly in front of a removed statement: upstream has
    nothing of the base in between."""
    if doubt.reason.kind != "addition to a removed block" or doubt.strand.sides != "u":
        return False
    block = _block(weave, doubt.strand, removed)
    if not block:
        return False
    old = [strand.base for strand in weave.of_upstream[block[-1].in_upstream + 1 :] if strand.base is not None]
    return block[0].in_base < removed.in_base < min(old, default=len(weave.base))


def _block(weave: Weave, addition: Strand, removed: Strand) -> list[Strand]:
    """The outermost block that omni does not have around an addition of upstream's, and that was not around the removed
    statement, with everything in it."""
    shared = [*above(weave, removed, "b")]
    heads = [head for head in above(weave, addition, "u") if head.sides == "bu" and not head.kept]
    own = [head.in_upstream for head in heads if head not in shared]
    return [weave.of_upstream[k] for head in own[-1:] for k in below(weave.upstream, head)]
