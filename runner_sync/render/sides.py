"""Make the patch between two sides of a review item, for sides too long to be read next to each other.

Comes in: the lines of two sides. Goes out: lines to show. May touch: nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

SHORT = 4
"""The most lines of a side that is shown in full beside another."""


def make_difference(base: Sequence[str], newer: Sequence[str], most: int) -> list[str]:
    """Return the difference from base to the newer side as patch lines if both have more than ``most`` lines.

    Empty if more changed than stayed: then both sides are easier to read in full.
    """
    if min(len(base), len(newer)) <= most:
        return []
    patch = list(difflib.unified_diff(base, newer, n=1, lineterm=""))[2:]
    shown = [line for line in patch if not line.startswith("@@") and line[1:]]
    if 2 * sum(line[0] != " " for line in shown) > len(base) + len(newer):
        return []
    indent = min((len(line) - len(line[1:].lstrip()) for line in shown), default=1)
    return ["…" if line.startswith("@@") else f"{line[0]} {line[indent:]}" for line in patch]
