"""Decide for each strand whether it is kept, and with what doubt.

Comes in: a ``Weave``. Goes out: verdicts on its strands, in place, and ``Doubt`` values. May touch: nothing itself; its
passes do.

Verdicts depend on each other. So the passes run in phases, and each phase declares which verdicts it may still turn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from runner_sync.merge.keeping.added_alike import leave_out_added_alike
from runner_sync.merge.keeping.blocks_at_hand import leave_out_blocks_at_hand
from runner_sync.merge.keeping.foreign import drop_foreign_doubts, leave_out_foreign
from runner_sync.merge.keeping.had_already import leave_out_had_already
from runner_sync.merge.keeping.lost import leave_out_without_definitions
from runner_sync.merge.keeping.own_suites import keep_clauses_of_edited, keep_marked_blocks, settle_own_suites
from runner_sync.merge.keeping.passages import leave_out_between_removed, leave_out_inside_removed
from runner_sync.merge.keeping.presence import judge_each
from runner_sync.merge.keeping.refusal import refuse
from runner_sync.merge.keeping.removed_suites import keep_loops_with_additions, keep_suites_with_edits
from runner_sync.merge.keeping.returning import leave_out_stayed_blocks
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.keeping.staying import (
    keep_first_values,
    keep_needed_suites,
    keep_pinned,
    keep_remarks_on_edits,
    keep_values_read,
    take_other_branches,
    undo_half_moves,
)
from runner_sync.merge.keeping.values_taken import take_values_read
from runner_sync.merge.policy import Terms
from runner_sync.merge.weave import Doubt, Strand, Weave

Pass = Callable[[Settling], None]
"""Turns the verdicts on any strands, and adds or drops doubts."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Passes in their order, and the verdicts that they may turn.

    ``out`` and ``back`` are the sides (``"bo"``: base and omni) of the strands that the passes may leave out and bring
    back. A verdict that no later phase may turn is final. What all three sides have stays from the start.
    """

    name: str
    passes: tuple[Pass, ...]
    out: Collection[str] = ()
    back: Collection[str] = ()


PHASES = (
    Phase("each strand by itself", (judge_each,), out=("o", "bo", "bu")),
    Phase(
        "suites of omni's own",
        (keep_marked_blocks, keep_clauses_of_edited, settle_own_suites),
        out=("o",),
        back=("o", "bo"),
    ),
    Phase(
        "what of upstream's comes in",
        (
            leave_out_stayed_blocks,
            leave_out_added_alike,
            leave_out_had_already,
            keep_suites_with_edits,
            leave_out_foreign,
            leave_out_inside_removed,
            keep_loops_with_additions,
            leave_out_between_removed,
            leave_out_blocks_at_hand,
            leave_out_without_definitions,
            drop_foreign_doubts,
            refuse,
        ),
        out=("u", "bu"),
        back=("o", "bo"),
    ),
    Phase(
        "what stays after all",
        (
            keep_pinned,
            undo_half_moves,
            keep_needed_suites,
            keep_first_values,
            keep_values_read,
            take_values_read,
            take_other_branches,
            keep_remarks_on_edits,
        ),
        out=("u",),
        back=("o", "u", "bo", "bu"),
    ),
)
"""Every pass that gives or turns verdicts. From the third phase on, no kept statement of omni's is left out again."""


def settle_presence(weave: Weave, strands: Sequence[Strand], terms: Terms) -> list[Doubt]:
    """Decide which strands stay, and return the doubts.

    What one side deleted and the other left alone goes; any other deletion is a doubt.
    """
    settling = Settling(weave, strands, terms)
    for phase in PHASES:
        for settle in phase.passes:
            settle(settling)
    return settling.doubts


def leave_out_newly_undefined(weave: Weave, strands: Sequence[Strand], terms: Terms) -> list[Doubt]:
    """Run ``leave_out_without_definitions`` once more, for what was left out since the verdicts were given."""
    settling = Settling(weave, strands, terms)
    leave_out_without_definitions(settling)
    return settling.doubts
