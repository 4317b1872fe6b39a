"""Joins questions about statements that a port leaves out because of names that they read.

Comes in: decisions of a port. Goes out: decisions, some of them joined. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from runner_sync import merge
from runner_sync.lineage import list_nodes
from runner_sync.merge import Kind, Reason
from runner_sync.statements import flatten
from runner_sync.upgrade.lines import strip_lines

READS_UNSET: tuple[Kind, ...] = ("reads what nothing sets", "reads what was left out", "half of a feature")
"""Kinds of decisions about statements left out because of a name that they read."""


def find_lacking(decisions: Sequence[merge.Decision]) -> frozenset[str]:
    """Return the names because of which statements were left out."""
    return frozenset(name for item in decisions if item.reason.kind in READS_UNSET for name in item.reason.names)


def join_left_out(decisions: Sequence[merge.Decision]) -> Sequence[merge.Decision]:
    """Join decisions that left out statements because of a name that they read, and those that left out half a feature.

    Drops a decision if a larger block that contains its statement is itself left out and asked about.
    """
    blocks = [item.upstream for item in decisions if item.reason.kind not in READS_UNSET and not item.chosen]
    decisions = [
        item
        for item in decisions
        if item.reason.kind not in READS_UNSET or not any(_has_lines(block, item.upstream) for block in blocks)
    ]
    return _join(_join(decisions, READS_UNSET[:-1]), READS_UNSET[-1:])


def drop_already_present(decisions: Sequence[merge.Decision], omni: str) -> Sequence[merge.Decision]:
    """Drop decisions on additions that read a name unset at that point if the method ``omni`` has them elsewhere.

    ``omni`` must have every statement with an effect; conditions around them may differ.
    """
    here = frozenset(node.canon for node in flatten(omni) if not node.is_comment)
    return [item for item in decisions if not _is_present(item, here)]


def _is_present(item: merge.Decision, here: Collection[str]) -> bool:
    if item.reason.kind != READS_UNSET[0] or item.base or item.chosen:
        return False
    steps = [node for node in list_nodes(item.upstream) if node.is_telling and not (node.compound or node.is_clause)]
    return bool(steps) and all(step.canon in here and step.names & {*item.reason.names} for step in steps)


def _join(decisions: Sequence[merge.Decision], kinds: Sequence[Kind]) -> Sequence[merge.Decision]:
    """Join the decisions of these ``kinds`` into one, additions first."""
    left_out = sorted((item for item in decisions if item.reason.kind in kinds), key=lambda item: bool(item.base))
    if len(left_out) < 2:
        return decisions
    names = sorted({name for item in left_out for name in item.reason.names})
    reason = Reason(kinds[0], tuple(names), passages=len(left_out))
    upstream = "\n".join(item.under_conditions().upstream for item in left_out)
    whole = replace(left_out[0], reason=reason, base="", upstream=upstream, chosen=left_out[0].omni, over_upstream=())
    return [whole if item is left_out[0] else item for item in decisions if item is left_out[0] or item not in left_out]


def _has_lines(block: str, part: str) -> bool:
    """Whether ``block`` contains the lines of ``part`` consecutively, at any indentation."""
    rows, wanted = strip_lines(block), strip_lines(part)
    return any(rows[k : k + len(wanted)] == wanted for k in range(len(rows) - len(wanted) + 1))
