"""What a port leaves out because of the names that it reads: one question about all of it.

Comes in: decisions of a port. Goes out: decisions, some of them as one. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from runner_sync import merge
from runner_sync.lineage import nodes_of
from runner_sync.merge import Kind, Reason
from runner_sync.statements import flatten

READS_UNSET: tuple[Kind, ...] = ("reads what nothing sets", "reads what was left out", "half of a feature")
"""Kinds of decisions about statements that stay out because of a name that they read."""


def with_left_out_joined(decisions: Sequence[merge.Decision]) -> Sequence[merge.Decision]:
    """The decisions, with all that left out statements because of a name that they read joined into one, and all that
    left out a half feature into another.

    Those are dropped whose statement stands in a larger block which is itself left out and asked about.
    """
    blocks = [item.upstream for item in decisions if item.reason.kind not in READS_UNSET and not item.chosen]
    decisions = [
        item
        for item in decisions
        if item.reason.kind not in READS_UNSET or not any(_has_lines(block, item.upstream) for block in blocks)
    ]
    return _joined(_joined(decisions, READS_UNSET[:-1]), READS_UNSET[-1:])


def without_those_here(decisions: Sequence[merge.Decision], omni: str) -> Sequence[merge.Decision]:
    """The decisions without those on additions that read a name which nothing sets above them, where the method
    ``omni`` has them further down: the statements that do something, under conditions of its own.
    """
    here = frozenset(node.canon for node in flatten(omni) if not node.is_comment)
    return [item for item in decisions if not _is_here(item, here)]


def _is_here(item: merge.Decision, here: Collection[str]) -> bool:
    if item.reason.kind != READS_UNSET[0] or item.base or item.chosen:
        return False
    steps = [node for node in nodes_of(item.upstream) if node.is_telling and not (node.compound or node.is_clause)]
    return bool(steps) and all(step.canon in here and step.names & {*item.reason.names} for step in steps)


def _joined(decisions: Sequence[merge.Decision], kinds: Sequence[Kind]) -> Sequence[merge.Decision]:
    """The decisions, with those whose reason is of one of these ``kinds`` as one, additions first."""
    left_out = sorted((item for item in decisions if item.reason.kind in kinds), key=lambda item: bool(item.base))
    if len(left_out) < 2:
        return decisions
    names = sorted({name for item in left_out for name in item.reason.names})
    reason = Reason(kinds[0], tuple(names), passages=len(left_out))
    upstream = "\n".join(item.under_conditions().upstream for item in left_out)
    whole = replace(left_out[0], reason=reason, base="", upstream=upstream, chosen=left_out[0].omni, over_upstream=())
    return [whole if item is left_out[0] else item for item in decisions if item is left_out[0] or item not in left_out]


def _has_lines(block: str, part: str) -> bool:
    """Whether ``block`` contains the lines of ``part`` in a row, at any indentation."""
    rows, wanted = ([line.strip() for line in text.split("\n")] for text in (block, part))
    return any(rows[k : k + len(wanted)] == wanted for k in range(len(rows) - len(wanted) + 1))
