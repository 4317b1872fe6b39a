"""List names in one sentence.

Comes in: names. Goes out: text. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice


def at_most(most: int, names: Collection[str]) -> str:
    """Return the first ``most`` names and the number of the others: ``a, b``, or ``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(islice(names, most)) + (f" and {more} more" if more > 0 else "")
