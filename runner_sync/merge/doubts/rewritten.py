"""Find clauses that both sides filled differently, so that the merged body is neither side's.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, strands_in_suite


def find_rewritten(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return a doubt about each ``joined`` clause that keeps statements of both sides and none that they share.

    Upstream must have changed the clause: what only omni rewrote is omni's.
    """
    return [
        Doubt(strand, Reason("both rewrote a suite"), CONTESTED)
        for strand in kept
        if strand in weave.joined and _has_nothing_shared(weave, strand) and _is_changed(weave, strand)
    ]


def _has_nothing_shared(weave: Weave, clause: Strand) -> bool:
    omni, upstream = (_find_kept_inside(weave, clause, side) for side in "ou")
    return bool(omni and upstream) and omni.isdisjoint(upstream)


def _is_changed(weave: Weave, clause: Strand) -> bool:
    """Whether upstream has another or an edited statement directly under a clause."""
    old = {*strands_in_suite(weave, clause, "b")} if clause.base is not None else set[Strand]()
    new = strands_in_suite(weave, clause, "u")
    return any(strand not in old or weave.is_edited(strand, "u") for strand in new)


def _find_kept_inside(weave: Weave, clause: Strand, side: str) -> set[Strand]:
    """Return the statements directly under a clause on one side that stay, wherever."""
    return {strand for strand in strands_in_suite(weave, clause, side) if strand.kept}
