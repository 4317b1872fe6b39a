"""What a question shows of the statements of one side.

Comes in: the nodes of a side and their strands. Goes out: text. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner_sync.merge.weave import Strand
from runner_sync.statements import INDENT, Node, ancestors, below


def is_shown_whole(nodes: Sequence[Node], of: Sequence[Strand], index: int) -> bool:
    """Whether a question about a statement shows what is inside it and its clauses, too.

    That is so for a block that one side alone has, and of which nothing is kept: its head tells no one what went. Of a
    new suite of upstream's around old statements the head is what is new.
    """
    whole = below(nodes, index)
    is_around = of[index].sides == "u" and any(of[k].sides != "u" for k in whole)
    return len(of[index].sides) == 1 and not is_around and not any(of[k].kept for k in whole)


def shown_together(nodes: Sequence[Node], of: Sequence[Strand], indices: Sequence[int], *, whole: bool = False) -> str:
    """The texts of some statements as they stand in the method, each with all inside it where that met the same fate.

    Between those of different suites come the heads of these: what runs under a condition does not read as if it
    always ran. With ``whole`` a question is about the suites and not their heads, whatever became of what is inside.
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
