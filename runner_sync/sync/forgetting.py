"""Free what a phase of a run has cached and the next phase does not need.

Comes in and goes out: nothing. May touch: the caches of this program's modules, and the garbage collector, which
`__main__` turns off.
"""

from __future__ import annotations

import functools
import gc
import sys
from types import ModuleType
from typing import Any


def forget_answers() -> None:
    """Empty every bounded cache of a function of this program, and free objects that refer to each other.

    What is asked again is computed again. Where the garbage collector is on, it frees such objects by itself.
    """
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] == "runner_sync"]
    for module in modules:
        for function in _find_bounded(module):
            function.cache_clear()
    if not gc.isenabled():
        gc.collect()


@functools.cache
def _find_bounded(module: ModuleType) -> list[Any]:
    """Return the functions in ``module``, its own and imported ones, that have a bounded ``lru_cache``."""
    cached = [value for value in [*vars(module).values()] if hasattr(value, "cache_parameters")]
    return [function for function in cached if function.cache_parameters()["maxsize"] is not None]
