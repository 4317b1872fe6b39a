"""Drop the second of two equal keywords that the sides passed at different places of one call.

Comes in: the phrases of a merged statement and of its sides. Goes out: the phrases without repetitions. May touch:
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner_sync.merge.phrases.elements import KEYWORD
from runner_sync.statements import CLOSERS, OPENERS


def without_repeated(merged: list[str], sides: Sequence[list[str]]) -> list[str]:
    """Return ``merged`` with each keyword in a pair of brackets at most as often as one side has it there."""
    most: Counter[_Place] = Counter()
    for side in sides:
        most |= Counter(place for place in _find_places(side) if place is not None)
    seen: Counter[_Place] = Counter()
    out: list[str] = []
    for phrase, place in zip(merged, _find_places(merged), strict=True):
        if place is not None:
            seen[place] += 1
            if seen[place] > max(most[place], 1):
                continue
        out.append(phrase)
    return out


_Place = tuple[str, str]
"""The phrases in front of all brackets around a keyword, and the keyword with its value."""


def _find_places(phrases: list[str]) -> list[_Place | None]:
    """Return the place of each phrase that is a keyword with a value; ``None`` for any other phrase."""
    places: list[_Place | None] = []
    around: list[str] = [""]
    before = ""
    for phrase in phrases:
        is_keyword = phrase.endswith(",") and KEYWORD.match(phrase) is not None
        places.append((around[-1], phrase) if is_keyword else None)
        if phrase in OPENERS:
            around.append(f"{around[-1]}({before}")
        elif phrase.strip(",") in CLOSERS and len(around) > 1:
            around.pop()
        before = phrase
    return places
