"""Several answers to one question, each of which may be unknown.

Comes in: the answers, ``None`` or an empty list for an unknown one. Goes out: all of them or none. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

_Answer = TypeVar("_Answer")


def all_known(answers: Iterable[_Answer | None]) -> list[_Answer]:
    """Return the answers; empty if one of them is unknown."""
    found = list(answers)
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else []


def join_known(parts: Iterable[Sequence[_Answer] | None]) -> list[_Answer]:
    """Return what all the answers hold; empty if one of them is ``None`` or empty, that is unknown."""
    found = list(parts)
    return [one for part in found for one in part or ()] if all(found) else []
