"""How many blank lines go in front of a statement that had something else above it on its side.

Comes in: a ``Weave`` and a strand that is written. Goes out: how many blank lines. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Container

from runner_sync.merge.weave import Nodes, Strand, Weave
from runner_sync.statements import ROOT


def at_the_start(weave: Weave, strand: Strand, blanks: int) -> int:
    """The blank lines in front of the first statement of a suite: ``blanks``, but no more than a side has on which it
    is the first of its suite, too.

    Any others set it apart from a statement above, which is gone.
    """
    own = [nodes[k].blanks for nodes, k in _places(weave, strand) if nodes[k].parent in (ROOT, k - 1)]
    return min(blanks, max(own, default=0))


def below_a_comment_that_went(weave: Weave, strand: Strand, written: Container[Strand]) -> int:
    """The blank lines that stood in front of omni's comment directly above ``strand``, if that comment is not in the
    result; else 0.

    The statement still begins a paragraph, unless upstream has no blank line there.
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
    """The index of the first of the comments directly above a statement, or of the statement itself."""
    while index and nodes[index - 1].is_comment and not nodes[index].blanks:
        index -= 1
    return index


def _places(weave: Weave, strand: Strand) -> list[tuple[Nodes, int]]:
    return [(weave.side(side)[0], strand.on(side)) for side in strand.sides]
