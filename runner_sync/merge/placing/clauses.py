"""Leave one clause of a kind to each statement, where the merge has brought together several.

Comes in: the strands of a ``Weave`` with their parents. Goes out: ``Doubt`` values. May touch: ``kept`` and ``parent``
of the strands.

Clauses of one statement are one strand (`classify`). But a statement may get a second ``finally`` when the merge
settles what stands where: that of another ``try``, which a side took away or moved::

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
from runner_sync.merge.weave import LAST_CLAUSES, Doubt, Strand, Weave, any_node

REWRITTEN = Reason("both rewrote a suite")


def one_of_each(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """Put what stands under a second ``else``, ``finally`` or bare ``except`` of one statement under the first."""
    doubts = []
    first: dict[tuple[Strand, str], Strand] = {}
    for strand in strands:
        canon = any_node(weave, strand).canon
        if not strand.kept or strand.owner is None or canon not in LAST_CLAUSES:
            continue
        stays = first.setdefault((strand.owner, canon), strand)
        if stays is not strand:
            strand.kept = False
            for inner in strands:
                inner.parent = stays if inner.parent is strand else inner.parent
            doubts.append(_doubt(stays, strand))
    return doubts


def _doubt(stays: Strand, gone: Strand) -> Doubt:
    """The doubt about two clauses that became one; it shows omni's text of either, and upstream's of the other."""
    if stays.omni is None:
        return Doubt(gone, REWRITTEN, CONTESTED, stays)
    return Doubt(stays, REWRITTEN, CONTESTED, left_out=(gone,))
