"""Read a unified diff into line replacements.

Comes in: the patch of a ``Finding.fix``. Goes out: ``Replacement`` values; none if the text is no patch but, for
example, a command. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replaces ``removed`` lines from ``line`` (1-based) on by ``inserted`` (with newlines).

    With ``removed`` 0 the text is inserted before ``line``.
    """

    line: int
    removed: int
    inserted: str


def read_patch(text: str) -> tuple[Replacement, ...]:
    """Return the replacements of a patch of one file; empty for anything but a well-formed patch."""
    lines = text.split("\n")
    found: list[Replacement] = []
    index = 0
    while index < len(lines):
        match = _HEADER.match(lines[index])
        index += 1
        if match:
            start, length = int(match[1]), int(match[2] or 1)
            body = _take_body(lines[index:])
            index += len(body)
            if sum(line[:1] in (" ", "-") for line in body) != length:
                return ()
            # A hunk without old lines gives the line *after* which it inserts.
            found += _iter_replacements(body, start if length else start + 1)
    return tuple(found)


def _take_body(lines: list[str]) -> list[str]:
    body: list[str] = []
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line[:1] not in (" ", "+", "-", "\\") or (line.startswith("--- ") and following.startswith("+++ ")):
            break
        body.append(line)
    return body


def _iter_replacements(body: list[str], line: int) -> Iterator[Replacement]:
    removed, inserted = 0, ""
    for text in body:
        if text[:1] == "-":
            removed += 1
        elif text[:1] == "+":
            inserted += text[1:] + "\n"
        elif text[:1] == " ":
            if removed or inserted:
                yield Replacement(line, removed, inserted)
            line += removed + 1
            removed, inserted = 0, ""
    if removed or inserted:
        yield Replacement(line, removed, inserted)
