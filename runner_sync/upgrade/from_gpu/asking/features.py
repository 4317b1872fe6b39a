"""Tells ported statements of one feature from others beside them: whoever declines it takes out just these.

Comes in: the names that a class gets with the feature, and ranges of rows. Goes out: ranges that hold statements of the
feature only, or none. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runner_sync.statements import Node, below, flatten
from runner_sync.statements.dataflow import binds, reads

Rows = tuple[int, int, int, int]
"""Start and end row of a changed passage in the old and in the new text."""


def uses(rows: Rows, old: Sequence[str], new: Sequence[str], names: Collection[str]) -> bool:
    """Whether a passage newly mentions one of the names."""
    i1, i2, j1, j2 = rows
    return bool(names) and not (_words(new[j1:j2]) - _words(old[i1:i2])).isdisjoint(names)


def cut(rows: Rows, after: str, names: Collection[str]) -> list[Rows]:
    """An added passage, cut where statements of the feature end or begin; whole if it is not made of statements.

    What reads a local that a statement of the feature sets belongs to the feature, too.
    """
    i1, i2, j1, j2 = rows
    if not names or i1 != i2:
        return [rows]
    nodes = flatten(after)
    heads = _outermost(nodes, j1, j2)
    spans = [below(nodes, head) for head in heads]
    if not all(j1 <= nodes[k].start - 1 and _end(nodes[k]) <= j2 for span in spans for k in span):
        return [rows]
    starts, made, was = [j1], set[str](), None
    for head, span in zip(heads, spans, strict=True):
        inside = [nodes[k] for k in span]
        is_part = any(not _words(node.lines).isdisjoint(names) or reads(node) & made for node in inside)
        made |= {name for node in inside for name in binds(node)} if is_part else set()
        if was is not None and is_part is not was:
            starts.append(_with_remarks(nodes, head))
        was = is_part
    return [(i1, i2, first, end) for first, end in zip(starts, [*starts[1:], j2], strict=True)]


def _outermost(nodes: Sequence[Node], first: int, end: int) -> list[int]:
    """The statements in a range of rows that stand in no other one there; without comments."""
    here = [k for k, node in enumerate(nodes) if first <= node.start - 1 < end]
    return [k for k in here if not nodes[k].is_comment and nodes[k].parent not in here and nodes[k].owner not in here]


def _with_remarks(nodes: Sequence[Node], index: int) -> int:
    """The row of the first of the comments directly above a statement, or of the statement itself."""
    while index and nodes[index - 1].is_comment and _end(nodes[index - 1]) == nodes[index].start - 1:
        index -= 1
    return nodes[index].start - 1


def _end(node: Node) -> int:
    return node.start - 1 + len(node.lines)


def _words(lines: Sequence[str]) -> set[str]:
    return set(_WORD.findall("\n".join(lines)))


_WORD = re.compile(r"\w+")
