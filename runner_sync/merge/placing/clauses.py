"""Merge the clauses of one statement where it ends up with two of a kind.

Comes in: the strands of a ``Weave`` with their parents. Goes out: ``Doubt`` values. May touch: ``kept`` and ``parent``
of the strands.

`classify` makes the clauses of one statement one strand. But a statement may receive a second ``finally`` from another
``try`` that a side removed or moved::

    base    try:                upstream    try:                   omni    try:
                read(a)                         try:                           read(a)
            finally:                                send(b)                finally:
                close(a)                        finally:                       close(a)
            try:                                    log(b)                     flush(b)
                flush(b)                        read(a)                    try:
                send(b)                     finally:                           send(b)
            finally:                            close(a)                   finally:
                log(b)                                                         log(b)
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import LAST_CLAUSES, Doubt, Strand, Weave, pick_node

REWRITTEN = Reason("both rewrote a suite")


def merge_duplicate_clauses(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """Move the suite of a second ``else``, ``finally`` or bare ``except`` of a statement under the first one."""
    doubts = []
    first: dict[tuple[Strand, str], Strand] = {}
    for strand in strands:
        canon = pick_node(weave, strand).canon
        if not strand.kept or strand.owner is None or canon not in LAST_CLAUSES:
            continue
        first_clause = first.setdefault((strand.owner, canon), strand)
        if first_clause is not strand:
            strand.kept = False
            for inner in strands:
                inner.parent = first_clause if inner.parent is strand else inner.parent
            doubts.append(_make_doubt(first_clause, strand))
    return doubts


def _make_doubt(first: Strand, second: Strand) -> Doubt:
    """Return the doubt about two clauses that became one: omni's text of either, and upstream's of the other."""
    if first.omni is None:
        return Doubt(second, REWRITTEN, CONTESTED, first)
    return Doubt(first, REWRITTEN, CONTESTED, left_out=(second,))
