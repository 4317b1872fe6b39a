"""Parse text with conflict markers into parts, and settle the conflicts.

Comes in: the output of a merge tool. Goes out: plain text and ``Conflict`` values, settled texts, line spans. May
touch: nothing.
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
    """One conflict: the lines of both sides, including their newlines."""

    omni: str
    upstream: str


Part = str | Conflict


def read(text: str) -> tuple[Part, ...]:
    """Return the parts of ``text`` without the bases of diff3 conflicts; an unexpected marker counts as plain text."""
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


def count_conflicts(parts: Sequence[Part]) -> int:
    """Return the number of conflicts."""
    return sum(isinstance(part, Conflict) for part in parts)


def settle(parts: Sequence[Part], side: ConflictSide) -> str:
    """Return the text with every conflict settled for one side."""
    return "".join(part if isinstance(part, str) else getattr(part, side) for part in parts)


def find_conflict_spans(parts: Sequence[Part], side: ConflictSide) -> list[tuple[int, int]]:
    """Return the lines (1-based, inclusive) of the settled text that come from conflicts."""
    found, line = [], 1
    for part in parts:
        text = part if isinstance(part, str) else str(getattr(part, side))
        height = text.count("\n")
        if isinstance(part, Conflict) and height:
            found.append((line, line + height - 1))
        line += height
    return found
