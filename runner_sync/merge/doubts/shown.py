"""The text that a question shows for statements of one side.

Comes in: the nodes of a side and their strands. Goes out: text. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner_sync.merge.weave import Strand
from runner_sync.statements import INDENT, Node, ancestors, below


def is_shown_whole(nodes: Sequence[Node], of: Sequence[Strand], index: int) -> bool:
    """Whether a question about a statement also shows what is inside it, and its clauses.

    It does for a block that one side alone has and of which nothing is kept: the head alone would not show what went.
    Not for a new suite of upstream's around old statements, of which only the head is new.
    """
    whole = below(nodes, index)
    is_around = of[index].sides == "u" and any(of[k].sides != "u" for k in whole)
    return len(of[index].sides) == 1 and not is_around and not any(of[k].kept for k in whole)


def shown_together(nodes: Sequence[Node], of: Sequence[Strand], indices: Sequence[int], *, whole: bool = False) -> str:
    """The texts of some statements, indented relative to each other, each with all inside it if `is_shown_whole`.

    If they stand in different suites, the heads of these are shown as well: what runs under a condition must not read
    as if it always ran. With ``whole`` everything inside is shown, whatever became of it.
    """
    among: set[int] = set()
    for index in indices:
        among.update(below(nodes, index) if whole or is_shown_whole(nodes, of, index) else [index])
    ways = [[*ancestors(nodes, index)][::-1] for index in indices]
    shared = sum(len(set(step)) == 1 for step in zip(*ways, strict=False)) if len(ways) > 1 else 0
    heads = {head for way in ways if len(ways) > 1 for head in way[shared:]}
    among |= heads | {nodes[head].owner for head in heads if nodes[head].is_clause}
    return "\n".join(_indented(nodes[k], _depth(nodes, k, among) * INDENT) for k in sorted(among))


def _depth(nodes: Sequence[Node], index: int, among: Collection[int]) -> int:
    return sum(head in among for head in ancestors(nodes, index))


def _indented(node: Node, column: int) -> str:
    margin = " " * column
    rows = enumerate(node.lines)
    return "\n".join(line if k in node.frozen or not line else margin + line for k, line in rows)
