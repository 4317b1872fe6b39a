"""Leave out upstream's additions to a part that omni removed, unless a neighbour is left to stand beside.

Comes in: a weave that is being settled. Goes out: ``Doubt`` values; left-out strands are marked. May touch: ``kept`` of
the strands.
"""

from __future__ import annotations

from runner_sync.confidence import INFERRED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.replaced import find_replaced
from runner_sync.merge.weave import (
    Doubt,
    Strand,
    Weave,
    find_beside,
    is_old,
    pick_node,
    strands_in_suite,
    strands_inside,
)
from runner_sync.statements import ROOT, below


def leave_out_inside_removed(settling: Settling) -> None:
    """Leave out what upstream adds inside a suite that is not kept, or (in a copy) around a block that omni removed.

    An addition still comes in if omni has the nearest old statement before or behind it, in whatever suite, or if it
    replaces a statement of omni's (`_replaces_omnis`).
    """
    weave = settling.weave
    for strand in settling.strands:
        if strand.sides != "u" or not strand.kept:
            continue
        node = weave.upstream[strand.in_upstream]
        above = weave.of_upstream[node.parent] if node.parent >= 0 else None
        if above is None or _has_neighbour(weave, strand):
            continue
        is_removed = above.kept and settling.is_copy and _is_around_removed_block(weave, above)
        if (above.kept and not is_removed) or (settling.is_copy and _replaces_omnis(weave, above)):
            continue
        strand.kept = False
        if not node.is_comment and (above.sides == "bu" or is_removed):
            kind: Kind = (
                "replacement in a removed block" if find_replaced(weave, strand) else "addition to a removed block"
            )
            settling.doubts.append(Doubt(strand, Reason(kind), INFERRED))


def _replaces_omnis(weave: Weave, head: Strand) -> bool:
    """Whether upstream left nothing of a suite, whose head omni had removed and whose statements omni had kept.

    Without what stands there now, the work of the suite would be done no more.
    """
    if head.sides != "bu":
        return False
    old, now = strands_in_suite(weave, head, "b"), strands_in_suite(weave, head, "u")
    is_gone = any(strand.sides == "bo" and not strand.kept for strand in old)
    return is_gone and not any(strand.base is not None and not pick_node(weave, strand).is_clause for strand in now)


def _is_around_removed_block(weave: Weave, head: Strand) -> bool:
    """Whether a new upstream suite wraps a block that omni removed.

    At least half of its statements must be in the base and nowhere in omni, and omni must have none of the others.
    """
    if head.sides != "u" or any(strand.omni is not None for strand in strands_inside(weave, head, "u")):
        return False
    code = strands_in_suite(weave, head, "u")
    omni_texts = {node.canon for node in weave.omni}
    gone = [s for s in code if s.sides == "bu" and not s.kept and weave.base[s.in_base].canon not in omni_texts]
    return bool(gone) and 2 * len(gone) >= len(code)


def leave_out_between_removed(settling: Settling) -> None:
    """In a copy, leave out what upstream adds inside a passage that omni removed.

    The addition stands between two removed statements of one suite. Or it is an early exit behind a removed early exit,
    because omni decides by itself where it leaves. An addition that merely repeats a statement now under a condition
    comes in (`_is_repetition`). So does one in a passage from which upstream removed a statement of omni's, which it
    replaces.
    """
    weave = settling.weave
    for strand in settling.strands if settling.is_copy else ():
        if strand.sides != "u" or not strand.kept or strand.upstream is None:
            continue
        whole = strands_inside(weave, strand, "u")
        around = [find_beside(weave, strand, "u", step, is_old) for step in (-1, 1)]
        before, behind = (other is not None and other.sides == "bu" and not other.kept for other in around)
        is_more = before and not behind and _is_early_exit(weave, strand) and _is_removed_exit(weave, around[0])
        is_inside = before and behind and not _has_removal_between(weave, *around)
        is_new = (is_inside or is_more) and all(inside.sides == "u" for inside in whole)
        if is_new and not _is_repetition(weave, strand.upstream):
            for inside in whole:
                inside.kept = False
            if not pick_node(weave, strand).is_comment:
                is_exchange = bool(find_replaced(weave, strand))
                kind: Kind = "replacement in a removed passage" if is_exchange else "addition to a removed passage"
                settling.doubts.append(Doubt(strand, Reason(kind), INFERRED))


def _has_removal_between(weave: Weave, first: Strand | None, last: Strand | None) -> bool:
    """Whether upstream removed a statement of omni's between two statements that omni removed."""
    assert first is not None
    assert last is not None
    between = (weave.of_base[k] for k in range(first.in_base + 1, last.in_base))
    return any(strand.sides == "bo" and not strand.kept for strand in between)


def _is_removed_exit(weave: Weave, strand: Strand | None) -> bool:
    return strand is not None and _is_early_exit(weave, strand)


def _is_early_exit(weave: Weave, strand: Strand) -> bool:
    """Whether an upstream statement is just an ``if`` around a ``return``."""
    whole = (weave.upstream[k] for k in below(weave.upstream, strand.in_upstream))
    return [node.keyword for node in whole if not node.is_comment] == ["if", "return"]


def _is_repetition(weave: Weave, index: int) -> bool:
    """Whether an addition repeats a base statement.

    Upstream moved that statement into another suite further up::

        rows = self.rows                if self.is_idle:
        if self.is_idle:                    rows = self.rows
            return rows                     return rows
                                        rows = self.rows
    """
    node = weave.upstream[index]
    if node.compound or node.is_comment:
        return False
    earlier = (k for k in range(index) if weave.upstream[k].canon == node.canon)
    return any(_is_in_another_suite(weave, weave.of_upstream[k]) for k in earlier)


def _is_in_another_suite(weave: Weave, strand: Strand) -> bool:
    """Whether upstream put a base statement into a suite that it was not in."""
    if strand.base is None:
        return False
    suite = weave.upstream[strand.in_upstream].parent
    return suite != ROOT and weave.of_upstream[suite].base != weave.base[strand.base].parent


def _has_neighbour(weave: Weave, strand: Strand) -> bool:
    """Whether omni has the nearest base statement before or behind an upstream one in its suite."""
    around = [find_beside(weave, strand, "u", step, is_old) for step in (-1, 1)]
    return any(other is not None and other.omni is not None for other in around)
