"""Which stage brought a changed region, followed line by line through the stages of a draft.

Comes in: the stages of a draft. Goes out: its changed regions and statements, each with the source of the stage that
brought it. May touch: nothing.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from runner_sync.lineage import fingerprint
from runner_sync.model import Provenance
from runner_sync.upgrade.draft import Stage


@dataclass(frozen=True, slots=True)
class Region:
    """Changed lines of the last stage from line ``start`` (none for a deletion), and who changed them; ``gone`` are the
    lines of the first stage that they replace."""

    start: int
    lines: tuple[str, ...]
    source: Provenance
    gone: tuple[str, ...] = ()


def regions(stages: Sequence[Stage]) -> Iterator[Region]:
    """The regions where the last stage differs from the first; each is credited to the earliest stage that changed
    it."""
    old, new = stages[0].text.split("\n"), stages[-1].text.split("\n")
    brought, dropped = _line_by_line(stages)
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            changed = {brought[j] for j in range(j1, j2)} - {0} or {dropped[i] for i in range(i1, i2) if i in dropped}
            stage = min(changed, default=len(stages) - 1)
            yield Region(j1 + 1, tuple(new[j1:j2]), stages[stage].source, tuple(old[i1:i2]))


def _line_by_line(stages: Sequence[Stage]) -> tuple[list[int], dict[int, int]]:
    """The stage that brought each line of the last one; and the stage that dropped a line of the first one."""
    origins: list[tuple[int, int]] = [(0, i) for i, _ in enumerate(stages[0].text.split("\n"))]
    dropped: dict[int, int] = {}
    for number, (was, now) in enumerate(pairwise(stages), start=1):
        matcher = difflib.SequenceMatcher(None, was.text.split("\n"), now.text.split("\n"), autojunk=False)
        following: list[tuple[int, int]] = []
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                following += origins[i1:i2]
                continue
            dropped |= {line: number for stage, line in origins[i1:i2] if not stage}
            following += [(number, j) for j in range(j1, j2)]
        origins = following
    return [stage for stage, _ in origins], dropped


def brought_by(source: Provenance, stages: Sequence[Stage]) -> int:
    """How many statements of the last stage were brought by stages of one source."""
    left = fingerprint(stages[-1].text)
    found: Counter[str] = Counter()
    for was, now in pairwise(stages):
        if now.source == source:
            found += fingerprint(now.text) - fingerprint(was.text)
    return (found & left).total()
