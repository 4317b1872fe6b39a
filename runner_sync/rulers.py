"""Comments that draw a line: ``# ----- Omni-new -----``.

Comes in: a comment, or a line of a file. Goes out: whether it is a ruler, and what it says. May touch: nothing.

Callers have different purposes, so there are three tests. `ruler_title` finds rulers that may enclose a block: they
begin with dashes, at least three if a title follows. `divides` needs six: a comment above a definition belongs to it
unless it clearly separates. `is_drawn` accepts a drawn line of any kind anywhere in the comment: such a comment is not
about a single statement.
"""

from __future__ import annotations

import re

_BEGINNING = re.compile(r"#\s*([-=]{3,})")
_BARE = 8
"""Dashes that a ruler without a title has at least; shorter ones are used for all kinds of things."""
_DIVIDING = re.compile(r"\s*#\s*[-=]{6,}")
_DRAWN = re.compile(r"([-=#*~_+])\1{3}")
_ENDS = re.compile(r"^#+\s*[-=]*\s*|\s*[-=]{3,}\s*$")


def ruler_title(comment: str) -> str | None:
    """The text between the dashes of a ruler, empty for a bare one; ``None`` for a comment that is no ruler."""
    found = _BEGINNING.match(comment)
    if found is None:
        return None
    title = comment[found.end() :].strip().rstrip("-=").rstrip()
    return title if title or len(found[1]) >= _BARE else None


def divides(line: str) -> bool:
    """Whether a line of a file is a ruler that separates the definitions above and below it."""
    return _DIVIDING.match(line) is not None


def is_drawn(comment: str) -> bool:
    """Whether a comment has a line of dashes or the like in it, with or without words."""
    return _DRAWN.search(comment) is not None


def words(comment: str) -> str:
    """The words of a comment, ruler or not: without its ``#`` and without dashes at either end."""
    return _ENDS.sub("", comment)
