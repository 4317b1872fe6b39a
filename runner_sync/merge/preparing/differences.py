"""Compare two texts of one statement name by name.

Comes in: two canonical texts. Goes out: pairs of names. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_WORD = re.compile(r"[A-Za-z_]\w*|\W")


def find_differences(a: str, b: str) -> set[tuple[str, str]]:
    """Return the ``(old, new)`` names in which two texts differ, up to the first other difference.

    Another keyword of a call is such a difference, because what follows belongs to another argument. ``new`` is
    ``".old"`` if ``b`` differs only in reading ``new.old`` for ``old``, and empty if it reads ``new[0]`` or ``new()``:
    the value is a part of another one.
    """
    pairs = set()
    for (x, x_is_keyword), (y, y_is_keyword) in zip(_read_words(a), _read_words(b), strict=False):
        if x != y:
            if x_is_keyword or y_is_keyword or not (x.isidentifier() and y.isidentifier()):
                break
            name = rf"(?<![\w.]){y}"
            if re.sub(rf"{name}\.{x}\b", x, b) == a:
                pairs.add((x, f".{x}"))
            else:
                pairs.add((x, "" if re.sub(rf"{name}(?:\[(?:-?\d+|'[^']*')\]|\(\))", x, b) == a else y))
    return pairs


def _read_words(canon: str) -> Iterator[tuple[str, bool]]:
    """Yield the words and signs of a canonical text, and whether each is the keyword of an argument."""
    for word, after in pairwise([*_WORD.findall(canon), ""]):
        yield word, after == "="  # in any other place a space precedes the sign
