"""Merge three texts of one unit, and list every doubtful decision.

Comes in: a ``Triple``. Goes out: ``Merged``. May touch: nothing.

``engine`` takes the steps in their order: ``preparing`` gives the sides one form, ``matching`` pairs their statements,
``keeping`` decides which stay, ``placing`` where, ``phrases`` in which words, and ``doubts`` what a person must look
at. ``replaced`` finds replacements for ``keeping`` and ``doubts``. ``weave`` has the values they share, ``policy``
which side wins, and ``reason`` what a question says.
"""

from __future__ import annotations

from runner_sync.merge.doubts.decisions import Decision
from runner_sync.merge.engine import Merged, merge
from runner_sync.merge.matching.align import align
from runner_sync.merge.matching.branches import are_branches
from runner_sync.merge.policy import FOLLOW, PORT, RECORD, Policy, Preference, settle_for
from runner_sync.merge.preparing.parameters import find_new_parameters, follow_parameters, rename_alike
from runner_sync.merge.preparing.renames import (
    rename,
    rename_in,
    rename_where_free,
    with_old_reads_renamed,
    with_omni_names_behind,
)
from runner_sync.merge.reason import Kind, Reason, Veto
from runner_sync.statements import UnparsableText

__all__ = [
    "FOLLOW",
    "PORT",
    "RECORD",
    "Decision",
    "Kind",
    "Merged",
    "Policy",
    "Preference",
    "Reason",
    "UnparsableText",
    "Veto",
    "align",
    "are_branches",
    "find_new_parameters",
    "follow_parameters",
    "merge",
    "rename",
    "rename_alike",
    "rename_in",
    "rename_where_free",
    "settle_for",
    "with_old_reads_renamed",
    "with_omni_names_behind",
]
