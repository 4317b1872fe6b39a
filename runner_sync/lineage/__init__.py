"""Infer which upstream text a unit is a copy of, and where each of its statements comes from.

Comes in: the text of a unit, and the texts of its namesakes at several upstream revisions or in a GPU twin. Goes out:
an ``Origin`` per unit, a ``Span`` per statement (``provenance``). May touch: nothing.

- ``origin`` chooses the revision that a unit was copied from: ``likeness`` measures how similar two texts are,
  ``cover`` chooses few revisions among many, and ``timeline`` narrows a git history down before anything is parsed.
- ``undivided`` and ``unsynced`` correct such a base: passages that upstream took out, additions that never arrived.
- ``alignment`` finds the revision of the GPU twin, and ``stale_passages`` what is older than that. ``inlined`` and
  ``expanding`` put helpers of the twin in place of their calls, and ``same_meaning`` compares with such a method.
"""

from runner_sync.lineage.likeness import (
    FEWEST,
    MODELLED,
    Fingerprint,
    comments,
    fingerprint,
    follows,
    has_change,
    list_nodes,
    share,
    similarity,
)
from runner_sync.lineage.origin import Candidate, Origin, classify, find_origin
from runner_sync.lineage.unsynced import without_unsynced
from runner_sync.statements.likeness import COPY, dice

__all__ = [
    "COPY",
    "FEWEST",
    "MODELLED",
    "Candidate",
    "Fingerprint",
    "Origin",
    "classify",
    "comments",
    "dice",
    "find_origin",
    "fingerprint",
    "follows",
    "has_change",
    "list_nodes",
    "share",
    "similarity",
    "without_unsynced",
]
