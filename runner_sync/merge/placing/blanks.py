"""Blank lines in front of a statement above which something else stood.

Comes in: a ``Weave`` and a strand that is written. Goes out: how many blank lines. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Container

from runner_sync.merge.weave import Nodes, Strand, Weave
from runner_sync.statements import ROOT


def at_the_start(weave: Weave, strand: Strand, blanks: int) -> int:
    """The blank lines in front of the first statement of a suite, as far as a side has some that begins its suite so.

    Others set it apart from what stood above it, which is gone.
    """
    own = [nodes[k].blanks for nodes, k in _places(weave, strand) if nodes[k].parent in (ROOT, k - 1)]
    return min(blanks, max(own, default=0))


def below_a_comment_that_went(weave: Weave, strand: Strand, written: Container[Strand]) -> int:
    """The blank lines in front of a comment of omni's copy that went, and left the statement below it where it was.

    The paragraph still begins here, unless upstream has closed it.
    """
    if strand.omni is None:
        return 0
    top = _top(weave.omni, strand.in_omni)
    if top == strand.in_omni or any(weave.of_omni[k] in written for k in range(top, strand.in_omni)):
        return 0
    if strand.upstream is None:
        return weave.omni[top].blanks
    return min(weave.omni[top].blanks, weave.upstream[_top(weave.upstream, strand.in_upstream)].blanks)


def _top(nodes: Nodes, index: int) -> int:
    """The first of the comments directly above a statement, or the statement."""
    while index and nodes[index - 1].is_comment and not nodes[index].blanks:
        index -= 1
    return index


def _places(weave: Weave, strand: Strand) -> list[tuple[Nodes, int]]:
    return [(weave.side(side)[0], strand.on(side)) for side in strand.sides]
