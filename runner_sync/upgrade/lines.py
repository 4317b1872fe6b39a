"""Compare texts by their lines, at whatever indentation.

Comes in: texts. Goes out: lines. May touch: nothing.
"""

from __future__ import annotations


def strip_lines(text: str) -> list[str]:
    """Return the lines of a text, each without blanks at its ends."""
    return [line.strip() for line in text.split("\n")]


def strip_written_lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank, each without blanks at its ends."""
    return [line for line in strip_lines(text) if line]
