"""Process many items, each in its own process.

Comes in: a module-level function and picklable items. Goes out: its results, in the order of the items. May touch:
processes.

Caches filled by one item are useless for the next, which has other trees. One process for hundreds of items would grow
by gigabytes and slow down.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


def spread(work: Callable[[Item], Value], items: Sequence[Item]) -> list[Value]:
    """Apply ``work`` to every item, as many at once as there are processors, and re-raise its exceptions.

    Processes are spawned, not forked, because two processes cannot share an open archive.
    """
    with multiprocessing.get_context("spawn").Pool(maxtasksperchild=1) as pool:
        return pool.map(work, items, chunksize=1)
