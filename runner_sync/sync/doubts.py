"""Review items: their identity and their place in the file as written.

Comes in: decisions of a merge. Goes out: ``ReviewItem`` values. May touch: nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from runner_sync.model import ReviewItem
from runner_sync.sync.job import Draft


def review(
    draft: Draft,
    path: str,
    reason: str,
    confidence: float,
    base: str,
    omni: str,
    upstream: str,
    chosen: str,
    *,
    line: int = 1,
) -> ReviewItem:
    """A review item of a draft; ``line`` is still relative to the unit. The id depends on content, not on lines."""
    seed = "\0".join((path, draft.name, reason, base, omni, upstream))
    identity = "R" + hashlib.sha256(seed.encode()).hexdigest()[:8]
    return ReviewItem(
        identity, draft.name, path, max(line, 1), max(line, 1), reason, confidence, base, omni, upstream, chosen
    )


def place(item: ReviewItem, unit: Sequence[str], start: int) -> ReviewItem:
    """``item`` with absolute lines: where its chosen text stands in the unit's final lines, nearest to where it was."""
    wanted = [line.strip() for line in item.chosen.split("\n") if line.strip()]
    at = min(item.line, max(len(unit), 1))
    if wanted:
        stripped = [line.strip() for line in unit]
        starts = [k + 1 for k, line in enumerate(stripped) if line == wanted[0]]
        at = min(starts, key=lambda k: abs(k - item.line), default=at)
    last = min(at + max(len(wanted), 1) - 1, max(len(unit), 1))
    return replace(item, line=start + at - 1, end_line=start + max(last, at) - 1)
