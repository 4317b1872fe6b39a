"""Methods that have too little in common with their GPU twins for the twin's change to be merged into them.

Comes in: the text of a method, and the twin's before and now. Goes out: whether it is one, and what it lacks. May
touch: nothing.
"""

from __future__ import annotations

from runner_sync import lineage
from runner_sync.listing import at_most
from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.merging.sound_merge import methods_called

RELATED = 0.15
"""Below this similarity to its GPU twin a method has no anchors for the twin's changes."""

CALLS = 3
"""How many calls a reason names at most."""


def is_related(text: str, sides: Triple) -> bool:
    """Whether a method is similar enough to its twin to be merged: to the old and the new twin, or a copy of the old
    one.

    The second counts because a twin that grew much has little in common with a copy of its old text, yet all anchors.
    """
    was, now = lineage.similarity(text, sides.base), lineage.similarity(text, sides.upstream)
    return was >= lineage.COPY or min(was, now) >= RELATED


def uncalled(text: str, sides: Triple) -> str:
    """The end of a reason, with the methods that the twin calls since it changed and this one does not; empty if there
    are none.

    Most of a change may have come by hand: `load_model` of vllm-omni 0.22.0 lacks one call of two.
    """
    lacking = methods_called(sides.upstream) - methods_called(sides.base) - methods_called(text)
    return f"; the twin calls {at_most(CALLS, sorted(lacking))} now, which this one does not" if lacking else ""
