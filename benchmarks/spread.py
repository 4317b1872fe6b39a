"""The same work on many items, each in a process of its own.

Comes in: a function of a module and items that can be pickled. Goes out: its values, in the order of the items. May
touch: processes.

What one item leaves in caches is of no use to the next one, which has other trees: a process that does hundreds of them
grows by gigabytes and slows down.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


def spread(work: Callable[[Item], Value], items: Sequence[Item]) -> list[Value]:
    """``work`` of every item, as many at once as there are processors; what it raises is raised here.

    The processes are started anew and not forked: two of them cannot read one open archive.
    """
    with multiprocessing.get_context("spawn").Pool(maxtasksperchild=1) as pool:
        return pool.map(work, items, chunksize=1)
