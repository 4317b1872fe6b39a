"""Defines the value for one change that completes a method.

Comes in: the change. Goes out: a frozen value. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repair:
    """The text of a method after one change.

    ``statement`` is the changed statement now, at the 1-based ``line``, and ``was`` the statement before. With
    ``is_gone``, ``statement`` is the removed code (a statement or part of one). With ``is_settled``, no question is
    needed: omni already had it so before, with the same upstream text, or the GPU twin has no use for it either.
    """

    text: str
    line: int
    statement: str
    reason: str
    is_gone: bool = False
    is_settled: bool = False
    was: str = ""
