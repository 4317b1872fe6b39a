"""Group the kinds of reasons by what their question is about, and so what it shows.

Comes in: nothing. Goes out: sets of ``Kind``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from runner_sync.merge.reason import Kind
from runner_sync.merge.replaced import REPLACED

OWN_TEXT: Collection[Kind] = frozenset(
    {
        "both changed a part",
        "both added versions",
        "both added an argument",
        "both put more around",
        "arguments of another call",
        "keywords taken over",
    }
)
"""Reasons about the text of one statement; for a compound statement, about its head only."""


CHANGES: frozenset[Kind] = frozenset({"removed statement changed", "removed part changed"})
ADDITIONS: frozenset[Kind] = frozenset(
    {
        "removed part changed",
        "addition to a removed block",
        "addition to a removed passage",
        "addition reads what omni does not set",
    }
)
"""Reasons about what upstream added to a part that omni lacks; `CHANGES` are about what it changed there."""


LEFT_OUT: Collection[Kind] = frozenset(
    {
        "removed part changed",
        "removed statement changed",
        "addition to a removed block",
        "addition to a removed passage",
        *REPLACED,
        "addition reads what omni does not set",
        "exit of no loop",
        "suite around nothing",
        "branch of a removed condition",
        "read only in what was left out",
    }
)
"""Reasons to leave out an upstream change to a part that omni had removed."""


PLACES: Collection[Kind] = frozenset(
    {
        "on the other side",
        "outside of its condition",
        "under a changed condition",
        "under a condition of omni's",
        "under a new condition",
        "under another condition",
    }
)
"""Reasons about where a statement stands; they hold for everything inside it too."""


WHOLE_SUITES: Collection[Kind] = frozenset(
    {
        "edited block removed",
        "loop with additions removed",
        "condition of additions removed",
        "removed block came back",
        "both rewrote a suite",
    }
)
"""Reasons about a whole suite, which stays for what is inside it."""


OWN_BLOCKS: Collection[Kind] = frozenset(
    {"added block emptied", "added block left", "added block replaced", "replaced outside of a block"}
)
"""Reasons about a block of omni's own or one in it, which is shown with all inside it, even if some of that stays."""
