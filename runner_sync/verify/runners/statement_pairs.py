"""Tells which statements are versions of one another, and quotes such a pair; shared by RS208 and RS209.

Comes in: canonical statements. Goes out: answers and quotations. May touch: nothing.
"""

from __future__ import annotations

import re

from runner_sync.statements import likeness
from runner_sync.verify.runners.reading import shorten_code

_VERSIONS = 0.5
"""From this Dice coefficient of words on, two statements count as versions of one another; a judgement."""

_MOST = 80
"""The longest quotation of a statement."""

_TAIL = 20
"""The characters from the first difference on that a quotation must have room for."""

UNTOLD = re.compile(r"(?:async )?def |@|import |from |logger\.|with record_function_or_nullcontext\(|[\w.]+: [^=]+$")
"""Starts of heads, imports, log messages, labels for a profiler, and declarations without a value."""


def quote_around_difference(lost: str, gained: str) -> list[str]:
    """Quote both statements, shortened; a long common start is cut off if it would hide the difference."""
    pairs_of_both = enumerate(zip(lost, gained, strict=False))
    common = next((at for at, (a, b) in pairs_of_both if a != b), min(len(lost), len(gained)))
    if common < _MOST - _TAIL or not lost or not gained:
        return [shorten_code(canon, most=_MOST) for canon in (lost, gained)]
    start = common - _MOST // 2
    return [f"…{shorten_code(canon[start:], most=_MOST)}" for canon in (lost, gained)]


def are_alike(lost: str, gained: str) -> bool:
    """Whether most words of two statements are the same."""
    return measure_likeness(lost, gained) >= _VERSIONS


def are_versions(lost: str, gained: str) -> bool:
    """Whether one statement replaced the other: most words are the same, or both assign to the same target."""
    return are_alike(lost, gained) or have_same_target(lost, gained)


def have_same_target(lost: str, gained: str) -> bool:
    """Whether both statements assign to one target."""
    target, is_assigned, _ = lost.partition(" = ")
    return bool(is_assigned) and gained.startswith(f"{target} = ")


def measure_likeness(lost: str, gained: str) -> float:
    """Return the Dice coefficient of the words of two statements."""
    return likeness.dice(likeness.words(lost), likeness.words(gained))
