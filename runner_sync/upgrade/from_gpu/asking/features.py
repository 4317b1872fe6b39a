"""Separates ported statements of one feature from adjacent ones, so that the feature can be declined alone.

Comes in: the names that a class gets with the feature, and ranges of rows. Goes out: ranges with statements of the
feature only, or without any. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runner_sync.statements import Node, below, flatten
from runner_sync.statements.dataflow import binds, reads

Rows = tuple[int, int, int, int]
"""Start and end row of a changed passage in the old and in the new text."""


def has_new_use(rows: Rows, old: Sequence[str], new: Sequence[str], names: Collection[str]) -> bool:
    """Whether a passage newly mentions one of the names."""
    i1, i2, j1, j2 = rows
    return bool(names) and not (_find_words(new[j1:j2]) - _find_words(old[i1:i2])).isdisjoint(names)


def split_passage(rows: Rows, after: str, names: Collection[str]) -> list[Rows]:
    """Split an added passage where statements of the feature end or begin.

    A passage that does not consist of whole statements stays whole. Statements that read a local set by the feature
    belong to the feature, too.
    """
    i1, i2, j1, j2 = rows
    if not names or i1 != i2:
        return [rows]
    nodes = flatten(after)
    heads = _find_outermost(nodes, j1, j2)
    spans = [below(nodes, head) for head in heads]
    if not all(j1 <= nodes[k].start - 1 and nodes[k].end <= j2 for span in spans for k in span):
        return [rows]
    starts, made, was = [j1], set[str](), None
    for head, span in zip(heads, spans, strict=True):
        inside = [nodes[k] for k in span]
        is_part = any(not _find_words(node.lines).isdisjoint(names) or reads(node) & made for node in inside)
        made |= {name for node in inside for name in binds(node)} if is_part else set()
        if was is not None and is_part is not was:
            starts.append(_find_comment_row(nodes, head))
        was = is_part
    return [(i1, i2, first, end) for first, end in zip(starts, [*starts[1:], j2], strict=True)]


def _find_outermost(nodes: Sequence[Node], first: int, end: int) -> list[int]:
    """Return the outermost statements in a range of rows, without comments."""
    here = [k for k, node in enumerate(nodes) if first <= node.start - 1 < end]
    return [k for k in here if not nodes[k].is_comment and nodes[k].parent not in here and nodes[k].owner not in here]


def _find_comment_row(nodes: Sequence[Node], index: int) -> int:
    """Return the first row of the comments directly above a statement, else the statement's row."""
    while index and nodes[index - 1].is_comment and nodes[index - 1].end == nodes[index].start - 1:
        index -= 1
    return nodes[index].start - 1


def _find_words(lines: Sequence[str]) -> set[str]:
    return set(_WORD.findall("\n".join(lines)))


_WORD = re.compile(r"\w+")
