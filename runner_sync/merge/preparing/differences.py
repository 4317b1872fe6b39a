"""Compare two texts of one statement name by name.

Comes in: two canonical texts. Goes out: pairs of names. May touch: nothing.
"""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Za-z_]\w*|\W")


def find_differences(a: str, b: str) -> set[tuple[str, str]]:
    """Return the ``(old, new)`` names in which two texts differ, up to the first other difference.

    ``new`` is ``".old"`` if ``b`` differs only in reading ``new.old`` for ``old``, and empty if it reads ``new[0]`` or
    ``new()``: the value is a part of another one.
    """
    pairs = set()
    for x, y in zip(WORD.findall(a), WORD.findall(b), strict=False):
        if x != y:
            if not (x.isidentifier() and y.isidentifier()):
                break
            name = rf"(?<![\w.]){y}"
            if re.sub(rf"{name}\.{x}\b", x, b) == a:
                pairs.add((x, f".{x}"))
            else:
                pairs.add((x, "" if re.sub(rf"{name}(?:\[(?:-?\d+|'[^']*')\]|\(\))", x, b) == a else y))
    return pairs
