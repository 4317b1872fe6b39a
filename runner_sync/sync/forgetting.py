"""Free what a phase of a run has cached and the next phase does not need.

Comes in and goes out: nothing. May touch: the caches of this program's modules, and the garbage collector, which
`__main__` turns off.
"""

from __future__ import annotations

import gc
import sys


def forget_answers() -> None:
    """Empty every bounded cache of a function of this program, and free objects that refer to each other.

    What is asked again is computed again.
    """
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] == "runner_sync"]
    cached = [value for module in modules for value in [*vars(module).values()] if hasattr(value, "cache_parameters")]
    for function in cached:
        if function.cache_parameters()["maxsize"] is not None:
            function.cache_clear()
    gc.collect()
