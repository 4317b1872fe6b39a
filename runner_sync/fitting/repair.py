"""Defines the value for one change that completes a method.

Comes in: the change. Goes out: a frozen value. May touch: nothing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from runner_sync.edits import lines_of


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


def make_repair(text: str, made: str, around: ast.expr, reason: str) -> Repair:
    """Return the repair that changes ``text`` into ``made`` within the lines of ``around``."""
    first, last = around.lineno, around.end_lineno or around.lineno
    grown = made.count("\n") - text.count("\n")
    return Repair(made, first, lines_of(made, first, last + grown), reason, was=lines_of(text, first, last))
