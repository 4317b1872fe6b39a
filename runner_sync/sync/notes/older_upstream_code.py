"""Note upstream code from before an upgrade that omni's copies lack and no review item is about.

Comes in: the results of the modules. Goes out: a note, or none. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner_sync.listing import at_most
from runner_sync.model import TITLES, Project
from runner_sync.sync.options import UpgradeOptions
from runner_sync.upgrade import ModuleResult, is_selected

NAMED = 12
"""How many names the note gives at most."""


def make_note(results: Sequence[ModuleResult], followed: Project, options: UpgradeOptions) -> tuple[str, ...]:
    """Make the note, with the methods whose upstream text uses each name."""
    after = "\n".join(result.after for result in results)
    asked = "\n".join(f"{i.reason}\n{i.base}\n{i.upstream}" for result in results for i in result.reviews)
    methods: dict[str, list[str]] = {}
    for result in results:
        for unit, names in result.never_had.items():
            for name in names if is_selected(unit, options.only) else ():
                methods.setdefault(name, []).append(unit.rpartition(".")[2])
    lacking = {
        name: list(dict.fromkeys(found))
        for name, found in methods.items()
        if not any(re.search(rf"\bself\.{re.escape(name)}\b", text) for text in (after, asked))
    }
    if not lacking:
        return ()
    listed = at_most(NAMED, [f"self.{name} ({', '.join(found)})" for name, found in lacking.items()])
    sentence = (
        f"omni's copies lack {TITLES[followed]} code from before this upgrade that no review item is about: "
        f"{listed}; omni removed it or never had it"
    )
    return (sentence,)
