"""Several answers to one question, each of which may be unknown.

Comes in: the answers, ``None`` for an unknown one. Goes out: all of them or none. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

_Answer = TypeVar("_Answer")


def all_known(answers: Iterable[_Answer | None]) -> list[_Answer]:
    """Return the answers; empty if one of them is unknown."""
    found = list(answers)
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else []
