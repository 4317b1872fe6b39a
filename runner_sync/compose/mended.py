"""One change that completes a method.

Comes in and goes out: a frozen value. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mended:
    """The text of a method after one change.

    ``statement`` is the changed statement as it is now, at the 1-based ``line``, and ``was`` as it was before. If
    ``is_gone``, ``statement`` is what was removed (a statement or part of one). If ``is_settled``, nobody need be
    asked: omni had it so before, with the same upstream text.
    """

    text: str
    line: int
    statement: str
    reason: str
    is_gone: bool = False
    is_settled: bool = False
    was: str = ""
