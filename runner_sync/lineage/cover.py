"""Few of many that have everything between them.

Comes in: what is wanted, and what each has of it. Goes out: positions. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

Thing = TypeVar("Thing")


def cover(wanted: Iterable[Thing], offers: Sequence[AbstractSet[Thing]]) -> list[int]:
    """Positions of few ``offers`` that have all of ``wanted`` between them, in order.

    Greedy set cover (Johnson, "Approximation algorithms for combinatorial problems", 1974): each time the one that has
    most of what is left, of equals the first. Everything ``wanted`` must be on offer.
    """
    left = set(wanted)
    chosen = []
    while left:
        at = max(range(len(offers)), key=lambda k: len(left & offers[k]))
        left -= offers[at]
        chosen.append(at)
    return sorted(chosen)
