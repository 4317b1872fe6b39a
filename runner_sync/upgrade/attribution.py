"""Credits each changed region of a unit to the stage of its draft that brought it.

Comes in: the stages of a draft. Goes out: changed regions with their sources, and counts of statements by source. May
touch: nothing.
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
    """Changed lines of the last stage, and the source of the change.

    ``start`` is the 1-based first line. ``lines`` is empty for a deletion. ``gone`` holds the replaced lines of the
    first stage.
    """

    start: int
    lines: tuple[str, ...]
    source: Provenance
    gone: tuple[str, ...] = ()


def find_regions(stages: Sequence[Stage]) -> Iterator[Region]:
    """Yield the regions where the last stage differs from the first, each credited to the earliest stage behind it."""
    old, new = stages[0].text.split("\n"), stages[-1].text.split("\n")
    brought, dropped = _trace_lines(stages)
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            changed = {brought[j] for j in range(j1, j2)} - {0} or {dropped[i] for i in range(i1, i2) if i in dropped}
            stage = min(changed, default=len(stages) - 1)
            yield Region(j1 + 1, tuple(new[j1:j2]), stages[stage].source, tuple(old[i1:i2]))


def _trace_lines(stages: Sequence[Stage]) -> tuple[list[int], dict[int, int]]:
    """Return, by line, the stage that brought each line of the last stage and that dropped a line of the first."""
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


def count_statements_from(source: Provenance, stages: Sequence[Stage]) -> int:
    """Count the statements of the last stage that stages of ``source`` brought and the first stage lacks."""
    left = fingerprint(stages[-1].text) - fingerprint(stages[0].text)
    found: Counter[str] = Counter()
    for was, now in pairwise(stages):
        if now.source == source:
            found += fingerprint(now.text) - fingerprint(was.text)
    return (found & left).total()
