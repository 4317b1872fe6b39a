"""Measure and cut text in terminal columns.

Comes in: safe text, without control characters. Goes out: numbers of columns, parts of the text. May touch: nothing.
"""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"
_FILLER = "\x01"


def measure(text: str) -> int:
    """Return how many terminal columns ``text`` takes: East Asian wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_measure_character(character) for character in text)


def cut_columns(text: str, start: int, end: int) -> str:
    """Return columns ``start`` … ``end - 1`` of ``text``, with a blank for half a wide character."""
    if text.isascii():
        return text[start:end]
    kept, at = "", 0
    for character in text:
        after = at + _measure_character(character)
        # A combining mark at the start belongs to the preceding character.
        if start <= at and after <= end and (after > start or not start):
            kept += character
        elif at < start < after or at < end < after:
            kept += " "
        at = after
    return kept


def shorten(text: str, width: int) -> str:
    """Return ``text``, cut to ``width`` columns with an ellipsis at the end if it is longer."""
    return text if measure(text) <= width else cut_columns(text, 0, width - 1) + ELLIPSIS


def add_filler(text: str) -> str:
    """Insert a filler behind each wide character of ``text``, so that its ``len`` is its width in columns."""
    if text.isascii():
        return text
    return "".join(character + _FILLER * (_measure_character(character) - 1) for character in text)


def remove_filler(text: str) -> str:
    """Undo ``add_filler``."""
    return text.replace(_FILLER, "")


def _measure_character(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
