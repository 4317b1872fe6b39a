"""Finds statements that a port moved into or out of a block and left as they are.

Comes in: a unit's text before and after a port, and the rows of a passage. Goes out: a reason and the passage, on the
side that has the block under its head. May touch: nothing.

No statement is new then, and yet other rows may reach them::

    before    if row.is_last:                  after    if row.is_last:
                  self.count(row)                           self.count(row)
                  self.send(row)                        self.send(row)
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from runner_sync.statements import INDENT, Node, ancestors, flatten
from runner_sync.thresholds import QUOTED
from runner_sync.upgrade.from_gpu.asking.features import Rows


class NestedOtherwise(NamedTuple):
    """The reason of the question about a moved passage, and the passage before and after the port."""

    reason: str
    was: str
    now: str


def find_nested_otherwise(before: str, after: str, rows: Rows, passage: str) -> NestedOtherwise | None:
    """Return what to ask if the ``passage``, in ``rows``, is under a head after the port that it was not under before,
    or the other way round; ``None`` if it is under the same heads."""
    old, new = (_list_heads(text, *span) for text, span in ((before, rows[:2]), (after, rows[2:])))
    for then, now in zip(old, new, strict=False):
        for head in Counter(now) - Counter(then):
            return NestedOtherwise(
                f"ported from the GPU runner, which moved this; here it is under `{_shorten(head)}` now",
                passage,
                _put_under(head, passage),
            )
        for head in Counter(then) - Counter(now):
            return NestedOtherwise(
                f"ported from the GPU runner, which moved this; here it is no longer under `{_shorten(head)}`",
                _put_under(head, passage),
                passage,
            )
    return None


def _list_heads(text: str, first: int, last: int) -> list[list[str]]:
    """Return the heads around each statement that begins in the rows ``first`` to ``last``, innermost first."""
    nodes: Sequence[Node] = flatten(text)
    inside = [k for k, node in enumerate(nodes) if first < node.start <= last and node.is_telling]
    return [[nodes[head].canon for head in ancestors(nodes, k)] for k in inside]


def _put_under(head: str, passage: str) -> str:
    return f"{head}\n{textwrap.indent(passage, INDENT * ' ')}"


def _shorten(head: str) -> str:
    return textwrap.shorten(head, QUOTED, placeholder=" …")
