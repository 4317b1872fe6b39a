"""Show with a kept omni statement what upstream put in its place.

Comes in: a ``Weave``, and ``Doubt`` values. Goes out: the doubts, some of them joined. May touch: nothing.

In a port, the removal and the addition become one question. Here upstream replaces ``update`` by a call in the block
above, which omni lacks::

    base                            upstream
        if self.cache:                  if self.cache:
            rows = copy(rows)               rows = copy(rows)
        self.update(rows)                   self.write(rows)

The question stands at omni's ``update``; there is none about ``write`` somewhere above.

In a copy, upstream's replacement has come in, and stands beside omni's edit of the statement.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from runner_sync.confidence import CONTESTED
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, heads_around, pick_node, strands_inside
from runner_sync.statements import ROOT, Node
from runner_sync.statements.calls import words_called


def join_replacements(weave: Weave, doubts: Sequence[Doubt]) -> list[Doubt]:
    """Join each doubt about a removed statement with those about what upstream added directly in front of it.

    The additions must be in a block that omni lacks. Their own doubts are dropped.
    """
    joined: dict[Doubt, Doubt] = {}
    for doubt in doubts:
        if doubt.reason.kind == "edited statement removed" and doubt.strand.kept and doubt.strand.sides == "bo":
            added = [other for other in doubts if other not in joined and _is_in_front(weave, other, doubt.strand)]
            joined |= dict.fromkeys(added, doubt)
    blocks: dict[Doubt, dict[Strand, None]] = {doubt: {} for doubt in joined.values()}
    for other, doubt in joined.items():
        blocks[doubt] |= dict.fromkeys(_find_block(weave, other.strand, doubt.strand))
    return [_add_block(weave, doubt, [*blocks.get(doubt, ())]) for doubt in doubts if doubt not in joined]


def add_successors_beside(weave: Weave, kept: Collection[Strand], doubts: Sequence[Doubt]) -> list[Doubt]:
    """Add to each doubt about a kept omni statement the upstream replacement that now stands beside it."""
    alive, runs = set(kept), [*_iter_added_runs(weave)]
    return [_add_successor(weave, doubt, alive, runs) for doubt in doubts]


def find_replaced_in_own_blocks(weave: Weave, kept: Collection[Strand]) -> list[Doubt]:
    """Return doubts about what omni moved into a block of its own, and upstream replaced outside of that block.

    Without the replaced statements, the block must still be around others: a question about an empty one says it all.
    """
    alive = set(kept)
    doubts = []
    for run in _iter_added_runs(weave):
        new = [strand for strand in (weave.of_upstream[k] for k in run) if not pick_node(weave, strand).is_comment]
        instead = next((strand for strand in new if strand in alive), None)
        for strand in (weave.of_base[k] for k in _find_passage(weave, run)):
            head = next(heads_around(weave, strand, "o"), None)
            is_dropped = (
                weave.is_unedited(strand, "o") and strand not in alive and not pick_node(weave, strand).is_comment
            )
            if head is None or head.sides != "o" or head not in alive or not is_dropped:
                continue
            if instead is None or head not in instead.around():
                reason = Reason("replaced outside of a block", (pick_node(weave, head).canon,))
                doubts.append(Doubt(strand, reason, CONTESTED, instead, tuple(new)))
                break
    return doubts


def _add_successor(weave: Weave, doubt: Doubt, alive: set[Strand], runs: Sequence[range]) -> Doubt:
    removed = doubt.strand
    if doubt.reason.kind != "edited statement removed" or removed.sides != "bo" or removed not in alive:
        return doubt
    for run in runs:
        code = tuple(weave.of_upstream[k] for k in run if not weave.upstream[k].is_comment)
        if alive.issuperset(code) and _is_replacement_of(weave, run, removed):
            return replace(doubt, reason=Reason("edited statement beside"), left_out=code)
    return doubt


def _iter_added_runs(weave: Weave) -> Iterator[range]:
    """Yield new upstream statements that stand together in one suite, with all inside them, as upstream indices."""
    nodes, start = weave.upstream, None
    for k, strand in enumerate([*weave.of_upstream, None]):
        is_new = strand is not None and strand.sides == "u"
        if start is not None and not (is_new and (nodes[k].parent >= start or nodes[k].parent == nodes[start].parent)):
            yield range(start, k)
            start = None
        if start is None and is_new:
            start = k


def _is_replacement_of(weave: Weave, run: range, removed: Strand) -> bool:
    """Whether a run of new statements replaces a passage that upstream removed and that contains ``removed``.

    The run must stand in a suite around both.
    """
    head = weave.upstream[run[0]].parent
    is_around = head == ROOT or weave.of_upstream[head] in heads_around(weave, removed, "b")
    return is_around and removed.in_base in _find_passage(weave, run)


def _find_passage(weave: Weave, run: range) -> list[int]:
    """Return the base statements that upstream removed where a run of new ones stands and calls one of their functions.

    Returns none if the run calls nothing that they call.
    """
    before = (weave.of_upstream[k].base for k in range(run[0] - 1, -1, -1))
    after = (weave.of_upstream[k].base for k in range(run[-1] + 1, len(weave.upstream)))
    first = next((index for index in before if index is not None), ROOT)
    last = next((index for index in after if index is not None), len(weave.base))
    passage = [k for k in range(first + 1, last) if weave.of_base[k].upstream is None]
    called = _find_called(weave.upstream[k] for k in run) & _find_called(weave.base[k] for k in passage)
    return passage if called else []


def _find_called(nodes: Iterator[Node]) -> set[str]:
    """Return the names of the functions and methods that some statements call, except built-ins."""
    names = {name for node in nodes for name in words_called(node.canon)}
    return {name for name in names if not hasattr(builtins, name)}


def _add_block(weave: Weave, doubt: Doubt, block: Sequence[Strand]) -> Doubt:
    if not block:
        return doubt
    code = tuple(strand for strand in block if not pick_node(weave, strand).is_comment)
    return replace(doubt, reason=Reason("edited statement replaced"), left_out=code)


def _is_in_front(weave: Weave, doubt: Doubt, removed: Strand) -> bool:
    """Whether a doubt is about an addition to a block that ends directly in front of a removed statement.

    Upstream must have nothing of the base in between.
    """
    kinds: Collection[Kind] = ("addition to a removed block", "replacement in a removed block")
    if doubt.reason.kind not in kinds or doubt.strand.sides != "u":
        return False
    block = _find_block(weave, doubt.strand, removed)
    if not block:
        return False
    old = [strand.base for strand in weave.of_upstream[block[-1].in_upstream + 1 :] if strand.base is not None]
    return block[0].in_base < removed.in_base < min(old, default=len(weave.base))


def _find_block(weave: Weave, addition: Strand, removed: Strand) -> list[Strand]:
    """Return the outermost block around an upstream addition, with everything in it, that omni lacks.

    The block must not have been around the removed statement.
    """
    shared = [*heads_around(weave, removed, "b")]
    heads = [head for head in heads_around(weave, addition, "u") if head.sides == "bu" and not head.kept]
    own = [head for head in heads if head not in shared]
    return strands_inside(weave, own[-1], "u") if own else []
