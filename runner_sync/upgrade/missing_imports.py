"""Finds names that a GPU runner imports and that the target has nowhere to import from.

Comes in: the text of the GPU module, and what is known of the target's modules. Goes out: names, each with its module.
May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from runner_sync.texts.bindings import read_bindings
from runner_sync.texts.import_entries import read_imports


def find_missing(
    text: str, path: str, *, lacks: Callable[[str, str], bool], moved_to: Callable[[str, str], str]
) -> dict[str, str]:
    """Map names that a module imports, and that no module of the target is known to have, to their module.

    Skips imports under a condition, and modules that are missing as a whole: such a tree may be incomplete.
    """
    conditional = read_bindings(text).conditional
    return {
        bound: entry.module
        for bound, entry in read_imports(text, path).items()
        if bound not in conditional
        and lacks(entry.module, entry.name)
        and not lacks(entry.module, "")
        and not moved_to(entry.module, entry.name)
    }
