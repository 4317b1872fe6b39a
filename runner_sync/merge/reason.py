"""Say why a decision of a merge is doubtful: what happened, and to which names.

Comes in: nothing. Goes out: ``Reason`` values. May touch: nothing.

A reason is a value, not a sentence: code compares its kind and names, and the code that shows it words it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    # Both sides did something to one statement.
    "both changed a part",
    "both added versions",
    "both added an argument",
    "both put more around",
    "arguments of another call",
    "both added in another order",
    "both added under other conditions",
    "both emptied",
    "both rewrote a suite",
    "additions moved on",
    "edit moved on",
    "keywords taken over",
    "remark left out",
    "remark removed",
    # One side removed what the other had edited or added to.
    "edited statement removed",
    "edited statement replaced",
    "edited statement beside",
    "edited statement rewritten",
    "edited statement unread",
    "removed statement changed",
    "removed part changed",
    "moved statement changed",
    "renamed statement changed",
    "repeated statement changed",
    "repeated statement followed",
    "edited block removed",
    "loop with additions removed",
    "condition of additions removed",
    "removed value read",
    "value of a newer form",
    "each kept another branch",
    "added block emptied",
    "added block left",
    "added block replaced",
    "replaced outside of a block",
    "removed block came back",
    # What upstream added has no place.
    "exit that omni has otherwise",
    "exit without omni's statement",
    "repeated without omni's change",
    "called without omni's change",
    "called by both",
    "call beside a changed one",
    "calls what was replaced",
    "exit of no loop",
    "block at hand",
    "addition to a removed block",
    "addition to a removed passage",
    "replacement in a removed block",
    "replacement in a removed passage",
    "addition reads what omni does not set",
    "suite around nothing",
    "suite around other statements",
    "suites that overlap",
    "branch of a removed condition",
    "read only in what was left out",
    "reads what was left out",
    # A kept statement runs in another way than before.
    "no longer read",
    "set by both",
    "sets omni's local",
    "sets what omni reads",
    "reads omni's local",
    "passed beside own",
    "set beside omni's call",
    "set below its use",
    "set beside its use",
    "reads an older value",
    "under a new condition",
    "under a condition of omni's",
    "under another condition",
    "under a changed condition",
    "outside of its condition",
    "in other suites",
    "on the other side",
    "both moved",
    "kept at its place",
    # A veto refuses the statement.
    "reads what nothing sets",
    "half of a feature",
    "parameter that nothing reads",
    "leaves before other statements",
    "needs an absent member",
    "uses refused code",
    "unpacks other results",
    "taken out of the copy",
]


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind, and the names that it is about.

    ``detail`` is the veto's explanation of what is wrong with the name ("not in torch"). ``passages`` is the number of
    passages of the text that the reason covers.
    """

    kind: Kind
    names: tuple[str, ...] = ()
    detail: str = ""
    passages: int = 1


Veto = Callable[[str], Reason | None]
"""Takes a canonical upstream statement; returns why it must not come in, or ``None`` if it may."""
