"""What a question shows of a statement of one side.

Comes in: the nodes of a side and their strands. Goes out: text. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.weave import Strand
from runner_sync.statements import INDENT, Node, below


def is_shown_whole(nodes: Sequence[Node], of: Sequence[Strand], index: int) -> bool:
    """Whether a question about a statement shows what is inside it and its clauses, too.

    That is so for a block that one side alone has, and of which nothing is kept: its head tells no one what went. Of a
    new suite of upstream's around old statements the head is what is new.
    """
    whole = below(nodes, index)
    is_around = of[index].sides == "u" and any(of[k].sides != "u" for k in whole)
    return len(of[index].sides) == 1 and not is_around and not any(of[k].kept for k in whole)


def shown(nodes: Sequence[Node], of: Sequence[Strand], index: int) -> str:
    """The text of a statement, with all inside it where that met the same fate."""
    if not is_shown_whole(nodes, of, index):
        return nodes[index].text
    whole = below(nodes, index)
    depth = {index: 0}
    for k in whole[1:]:
        node = nodes[k]
        depth[k] = depth[node.owner] if node.owner in depth else depth[node.parent] + 1
    return "\n".join(_indented(nodes[k], depth[k] * INDENT) for k in whole)


def _indented(node: Node, column: int) -> str:
    margin = " " * column
    rows = enumerate(node.lines)
    return "\n".join(line if k in node.frozen or not line else margin + line for k, line in rows)
