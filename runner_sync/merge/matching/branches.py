"""Tell which statements stand in different branches of one condition.

Comes in: nodes. Goes out: the answer. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.statements import Node, ancestors


def are_branches(nodes: Sequence[Node], first: int, second: int) -> bool:
    """Whether two statements never both run, because they stand in different branches of one condition."""
    branches, others = _find_branches(nodes, first), _find_branches(nodes, second)
    return any(others.get(condition, branch) != branch for condition, branch in branches.items())


def _find_branches(nodes: Sequence[Node], index: int) -> dict[int, int]:
    """Return ``{if: head of the branch}``, as indices, for each surrounding ``if``."""
    rows = ((nodes[k].owner if nodes[k].is_clause else k, k) for k in ancestors(nodes, index))
    return {head: k for head, k in rows if nodes[head].keyword == "if"}
