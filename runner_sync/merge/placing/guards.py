"""Put upstream's additions behind a guard that precedes them in upstream and that omni has further down.

Comes in: a ``Weave`` and its strands in order. Goes out: the strands in order. May touch: nothing.

What omni moved ahead of the guard is the neighbour of an addition as well, and says the contrary. It must not win,
because what stands behind a guard relies on it::

    upstream    if self.busy: raise Busy     omni    take()                       merged    take()
                added()                              if self.busy: raise Busy               if self.busy: raise Busy
                take()                                                                      added()
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.weave import Nodes, Strand, Weave
from runner_sync.statements import below, in_suite, siblings
from runner_sync.statements.dataflow import uses_anything_of

_EXITS = ("raise", "return")


def put_behind_guards(weave: Weave, strands: Sequence[Strand]) -> list[Strand]:
    """Return the strands with upstream's additions behind the guards that omni has further down than upstream.

    An addition passes what both sides have of a single statement. It stays if omni's statements ahead of the guard
    mention what it sets: it may be another form of one of them.
    """
    ordered = [*strands]
    theirs = {canons: k for k, canons in _find_guards(weave.upstream).items() if weave.of_upstream[k].omni is None}
    for k, canons in _find_guards(weave.omni).items():
        if canons in theirs and weave.of_omni[k].upstream is None:
            _put_behind(ordered, weave, k, theirs[canons])
    return ordered


def _find_guards(nodes: Nodes) -> dict[int, tuple[str, ...]]:
    """Return each condition of a unit's own suite that only raises or returns, with its statements."""
    found = {}
    for k, node in enumerate(nodes):
        inside = below(nodes, k) if node.keyword == "if" and node.parent == 0 else []
        if len(inside) == len(in_suite(nodes, k)) + 1 and nodes[inside[-1]].keyword in _EXITS:
            found[k] = tuple(nodes[i].canon for i in inside)
    return found


def _put_behind(ordered: list[Strand], weave: Weave, mine: int, guard: int) -> None:
    """Move the additions behind upstream's ``guard`` that stand ahead of ``mine``, omni's, behind it."""
    last = weave.of_omni[below(weave.omni, mine)[-1]]
    statements = [below(weave.omni, k) for k in siblings(weave.omni, mine, step=-1)]
    for k in siblings(weave.upstream, guard, step=1):
        added = [weave.of_upstream[i] for i in below(weave.upstream, k)]
        first, end = ordered.index(added[0]), ordered.index(last)
        if any(strand.sides != "u" for strand in added) or first > end:
            continue
        shared = {
            strand.omni for strand in ordered[first:end] if strand.omni is not None and strand.upstream is not None
        }
        setting = [weave.upstream[strand.in_upstream] for strand in added]
        passes_one = sum(not shared.isdisjoint(one) for one in statements) <= 1
        if passes_one and not uses_anything_of(setting, weave.omni[:mine]):
            rest = [strand for strand in ordered if strand not in added]
            behind = rest.index(last) + 1
            ordered[:] = [*rest[:behind], *added, *rest[behind:]]
            last = added[-1]
