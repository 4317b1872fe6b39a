"""Count the blank lines in front of a statement that followed something else on its own side.

Comes in: a ``Weave`` and a strand that is written. Goes out: a number of blank lines. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Container

from runner_sync.merge.weave import Nodes, Strand, Weave
from runner_sync.statements import ROOT


def limit_blanks_at_start(weave: Weave, strand: Strand, blanks: int) -> int:
    """Limit the ``blanks`` in front of the first statement of a suite.

    The limit is the largest number on a side where the statement also comes first. More blank lines would set it apart
    from a statement above that is gone.
    """
    own = [nodes[k].blanks for nodes, k in _list_positions(weave, strand) if nodes[k].parent in (ROOT, k - 1)]
    return min(blanks, max(own, default=0))


def count_blanks_of_removed_comment(weave: Weave, strand: Strand, written: Container[Strand]) -> int:
    """Return the blank lines above omni's comment on ``strand`` if that comment is not ``written``; else 0.

    The statement still begins a paragraph, unless upstream has no blank line there.
    """
    if strand.omni is None:
        return 0
    first = _find_first_comment(weave.omni, strand.in_omni)
    if first == strand.in_omni or any(weave.of_omni[k] in written for k in range(first, strand.in_omni)):
        return 0
    if strand.upstream is None:
        return weave.omni[first].blanks
    return min(weave.omni[first].blanks, weave.upstream[_find_first_comment(weave.upstream, strand.in_upstream)].blanks)


def _find_first_comment(nodes: Nodes, index: int) -> int:
    """Return the index of the first comment directly above a statement, or of the statement itself."""
    while index and nodes[index - 1].is_comment and not nodes[index].blanks:
        index -= 1
    return index


def _list_positions(weave: Weave, strand: Strand) -> list[tuple[Nodes, int]]:
    return [(weave.side(side)[0], strand.on(side)) for side in strand.sides]
