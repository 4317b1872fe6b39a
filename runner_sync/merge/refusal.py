"""What must not come in from upstream, and what goes with it.

Comes in: a ``Weave`` and a ``Veto``. Goes out: ``Doubt`` values; the strands that stay out are marked. May touch:
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runner_sync.merge.confidence import DERIVED
from runner_sync.merge.reason import Reason, Veto
from runner_sync.merge.weave import Doubt, Strand, Weave, runs
from runner_sync.statements import Node


def refuse(weave: Weave, strands: Sequence[Strand], veto: Veto) -> list[Doubt]:
    """Leave out what ``veto`` refuses, what depends on it, and the deletions that belong to the same change."""
    doubts, refused = [], set()
    lost: set[str] = set()
    for strand in strands:
        if strand.upstream is None or strand.omni is not None or not strand.kept:
            continue
        node = weave.upstream[strand.upstream]
        above = weave.of_upstream[node.parent] if node.parent >= 0 else None
        inside = above is not None and id(above) in refused
        reason = None if node.is_comment else veto(node.canon) or _depends(node.canon, lost)
        if reason or inside:
            strand.kept = False
            refused.add(id(strand))
            lost |= _bound_names(node.canon) - _names_of(weave.omni)
            if reason and not inside:
                doubts.append(Doubt(strand, reason, DERIVED))
    for run in runs(strands):
        if any(id(strand) in refused for strand in run):
            for strand in run:
                strand.kept = strand.kept or strand.omni is not None
    return doubts


def _depends(canon: str, lost: Collection[str]) -> Reason | None:
    names = sorted(set(_WORD.findall(canon)) & set(lost))
    return Reason("reads what was left out", (names[0],)) if names else None


_WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*")
_TARGETS = re.compile(r"^(?:for |with .* as )?\(?([A-Za-z_][\w, ]*)\)?(?::[^=]*)?(?: = | in )")


def _bound_names(canon: str) -> set[str]:
    """Local names that a canonical statement assigns (by its text: ``a, b = …``, ``for a in …``)."""
    match = _TARGETS.match(canon)
    return set(re.findall(r"[A-Za-z_]\w*", match[1])) if match else set()


def _names_of(nodes: Sequence[Node]) -> set[str]:
    return {name for node in nodes for name in _bound_names(node.canon)}
