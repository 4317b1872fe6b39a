"""Select few offers that together have everything wanted.

Comes in: what is wanted, and what each offer has of it. Goes out: positions. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

Thing = TypeVar("Thing")


def cover(wanted: Iterable[Thing], offers: Sequence[AbstractSet[Thing]]) -> list[int]:
    """Return the positions of few ``offers`` that together have all of ``wanted``, in order.

    Greedy set cover (Johnson, "Approximation algorithms for combinatorial problems", 1974): repeatedly takes the offer
    that has most of what is missing, the first of equals. Each element of ``wanted`` must be in some offer.
    """
    left = set(wanted)
    chosen = []
    while left:
        at = max(range(len(offers)), key=lambda k: len(left & offers[k]))
        left -= offers[at]
        chosen.append(at)
    return sorted(chosen)
