"""Finds methods that are too different from their GPU twins to merge the twin's change.

Comes in: the text of a method, and the twin's old and new text. Goes out: whether the two are related, and calls that
the method lacks. May touch: nothing.
"""

from __future__ import annotations

from runner_sync import lineage
from runner_sync.listing import at_most
from runner_sync.model import Triple
from runner_sync.thresholds import NAMED, RELATED
from runner_sync.upgrade.from_gpu.merging.sound_merge import find_methods_called


def is_related(text: str, sides: Triple) -> bool:
    """Whether a method resembles both texts of its twin, or is a copy of the old one.

    A copy has all anchors even if the twin has grown so much that the two have little in common.
    """
    was, now = lineage.similarity(text, sides.base), lineage.similarity(text, sides.upstream)
    return was >= lineage.COPY or min(was, now) >= RELATED


def describe_uncalled(text: str, sides: Triple) -> str:
    """Return the end of a reason: methods that the twin newly calls and this one does not; empty if none.

    Most of a change may have been ported by hand: `load_model` of vllm-omni 0.22.0 lacks one call of two.
    """
    lacking = find_methods_called(sides.upstream) - find_methods_called(sides.base) - find_methods_called(text)
    return (
        f"; the GPU version now calls {at_most(NAMED, sorted(lacking))}, which the NPU version does not"
        if lacking
        else ""
    )
