"""One change that completes a method.

Comes in and goes out: a frozen value. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mended:
    """The text of a method after one change, the 1-based ``line`` of the ``statement`` that it is in now, and what was
    done; ``was`` is the statement before. Where ``is_gone``, the ``statement`` (or part of one) was there and is no
    more. With ``is_settled`` nobody need be asked: omni had it so before, beside the same text of upstream's."""

    text: str
    line: int
    statement: str
    reason: str
    is_gone: bool = False
    is_settled: bool = False
    was: str = ""
