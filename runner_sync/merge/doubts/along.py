"""Add to each doubt the statements left out along with its own, so that the question shows all of them.

Comes in: a ``Weave``, the kept strands, and ``Doubt`` values. Goes out: the doubts, with more in ``left_out``. May
touch: nothing.

For example, a left-out ``try`` takes its ``finally`` along, which the head alone would not show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from runner_sync.merge.doubts.own_calls import has_own_call
from runner_sync.merge.doubts.shown import is_shown_whole
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements import below, enclosing


def add_left_out_together(
    weave: Weave, kept: Collection[Strand], doubts: Sequence[Doubt], foreign: Collection[str]
) -> list[Doubt]:
    """Add to each doubt about a left-out statement the other upstream statements dropped with it.

    These are its body, its clauses, and new enclosing heads that became empty. Statements in ``foreign`` (a third
    party's) are not shown.
    """
    alive = set(kept)
    first: dict[Strand, Doubt] = {}
    for asked in doubts:
        for strand in _iter_asked_strands(asked):
            first.setdefault(strand, asked)
    shown = {k for strand in first for k in _find_shown(weave, strand)}
    along: dict[Doubt, list[Strand]] = defaultdict(list)
    for k, strand in enumerate(weave.of_upstream):
        node = weave.upstream[k]
        if (
            strand in alive
            or k in shown
            or not _is_upstream_change(weave, strand)
            or not node.is_telling
            or node.canon in foreign
        ):
            continue
        near = (first[other] for other in _iter_around_and_inside(weave, k) if other in first and other not in alive)
        doubt = next(near, None)
        if doubt is not None:
            along[doubt].append(strand)
    return [replace(doubt, left_out=(*doubt.left_out, *along[doubt])) if along[doubt] else doubt for doubt in doubts]


def _iter_asked_strands(doubt: Doubt) -> Iterator[Strand]:
    yield doubt.strand
    if doubt.instead is not None:
        yield doubt.instead
    yield from doubt.left_out


def _find_shown(weave: Weave, strand: Strand) -> Sequence[int]:
    if strand.upstream is None:
        return ()
    is_whole = is_shown_whole(weave.upstream, weave.of_upstream, strand.upstream)
    return below(weave.upstream, strand.upstream) if is_whole else [strand.upstream]


def _is_upstream_change(weave: Weave, strand: Strand) -> bool:
    """Whether upstream added a statement, or changed one that omni lacks and has no call of its own for."""
    is_changed = strand.sides == "bu" and weave.is_edited(strand, "u") and not has_own_call(weave, strand)
    return strand.sides == "u" or is_changed


def _iter_around_and_inside(weave: Weave, index: int) -> Iterator[Strand]:
    """Yield the heads around a statement up to one that omni has, innermost first, then what is inside it."""
    for k in enclosing(weave.upstream, index):
        if weave.of_upstream[k].omni is not None:
            break
        yield weave.of_upstream[k]
    yield from (weave.of_upstream[k] for k in below(weave.upstream, index)[1:])
