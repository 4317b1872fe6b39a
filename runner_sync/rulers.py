"""Comments that draw a line: ``# ----- Omni-new -----``.

Comes in: a comment, or a line of a file. Goes out: whether it is a ruler, and what it says. May touch: nothing.

Who asks wants to know different things, so there are three answers. `ruler_title` tells what may enclose a block: it
begins with dashes, and three do where a title follows. `divides` wants six: a comment above a definition belongs to it
unless it plainly separates. `is_drawn` takes a line of any kind anywhere in the comment: such a comment is about no
single statement.
"""

from __future__ import annotations

import re

_BEGINNING = re.compile(r"#\s*([-=]{3,})")
_BARE = 8
"""Dashes of a ruler without a title; fewer of them divide all kinds of things."""
_DIVIDING = re.compile(r"\s*#\s*[-=]{6,}")
_DRAWN = re.compile(r"([-=#*~_+])\1{3}")
_ENDS = re.compile(r"^#+\s*[-=]*\s*|\s*[-=]{3,}\s*$")


def ruler_title(comment: str) -> str | None:
    """What a ruler says between its dashes, empty for a bare one; ``None`` for a comment that is no ruler."""
    found = _BEGINNING.match(comment)
    if found is None:
        return None
    said = comment[found.end() :].strip().rstrip("-=").rstrip()
    return said if said or len(found[1]) >= _BARE else None


def divides(line: str) -> bool:
    """Whether a line of a file separates the definitions above and below it."""
    return _DIVIDING.match(line) is not None


def is_drawn(comment: str) -> bool:
    """Whether a comment has a line of dashes or the like in it, with or without words."""
    return _DRAWN.search(comment) is not None


def words(comment: str) -> str:
    """What a comment says, ruler or not: without its ``#`` and without dashes at either end."""
    return _ENDS.sub("", comment)
