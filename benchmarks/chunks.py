"""Text with conflict markers ↔ parts.

Comes in: what a merge tool wrote. Goes out: plain text and ``Conflict`` values, settled texts, line spans.
May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ConflictSide = Literal["omni", "upstream"]
SIDES: tuple[ConflictSide, ...] = ("omni", "upstream")
_MARK = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?: .*)?\n?\Z")


@dataclass(frozen=True, slots=True)
class Conflict:
    """One conflict: the lines of either side, both complete with their newlines."""

    omni: str
    upstream: str


Part = str | Conflict


def read(text: str) -> tuple[Part, ...]:
    """Parts of ``text``; the base of a three-sided conflict is left out. A marker out of turn is plain text."""
    parts: list[Part] = []
    plain: list[str] = []
    sides: dict[str, list[str]] = {}
    inside = ""
    for line in text.splitlines(keepends=True):
        match = _MARK.match(line)
        mark = match[1] if match else ""
        if mark == "<<<<<<<" and not inside:
            parts, plain = [*parts, "".join(plain)], []
            sides, inside = {"<<<<<<<": [], "|||||||": [], "=======": []}, mark
        elif mark in sides and inside and mark != inside:
            inside = mark
        elif mark == ">>>>>>>" and inside:
            parts.append(Conflict("".join(sides["<<<<<<<"]), "".join(sides["======="])))
            inside = ""
        elif inside:
            sides[inside].append(line)
        else:
            plain.append(line)
    return tuple(part for part in [*parts, "".join(plain)] if part != "")


def conflicts(parts: Sequence[Part]) -> int:
    """How many conflicts there are."""
    return sum(isinstance(part, Conflict) for part in parts)


def settle(parts: Sequence[Part], side: ConflictSide) -> str:
    """The text with every conflict settled for one side."""
    return "".join(part if isinstance(part, str) else getattr(part, side) for part in parts)


def spans(parts: Sequence[Part], side: ConflictSide) -> list[tuple[int, int]]:
    """Lines (1-based, inclusive) of the settled text that stand in a conflict."""
    found, line = [], 1
    for part in parts:
        text = part if isinstance(part, str) else str(getattr(part, side))
        height = text.count("\n")
        if isinstance(part, Conflict) and height:
            found.append((line, line + height - 1))
        line += height
    return found
