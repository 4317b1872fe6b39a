"""Comments that draw a line (``# ----- Omni-new -----``), and those that mark code with the same label.

Comes in: a comment, or a line of a file. Goes out: whether it is a ruler or a marker, and what it says. May touch:
nothing.

Callers have different purposes, so there are three tests. `ruler_title` finds rulers that may enclose a block: they
begin with dashes, at least three if a title follows. `divides` needs six: a comment above a definition belongs to it
unless it clearly separates. `is_drawn` accepts a drawn line of any kind anywhere in the comment: such a comment is not
about a single statement.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

MarkerKind = Literal["open", "close", "toggle", "bare", "trailing", "loose"]
"""A ruler that opens or closes a region, one with a label that may do either, one without a label; a comment behind
code, and one on a line of its own."""

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


class Grammar:
    """What a marker comment looks like for one label (``Omni-new`` → ``Omni-specific``, ``[Omni]``, ``OMNI:`` too)."""

    def __init__(self, label: str) -> None:
        whole, stem = re.escape(label), re.escape(re.split(r"[\W_]", label)[0])
        edge = r"begin|start|end"
        self._ruler = re.compile(
            rf"(?P<before>/|(?:{edge})(?: of)?\s+)?{whole}\s*(?P<after>{edge})?\s*(?:[:\-(]+\s*(?P<note>.*))?\Z",
            re.IGNORECASE,
        )
        self._line = re.compile(
            rf"#+\s*(?:\(?NOTE\)?:?\s*)?(?:\[{stem}\]|{stem}:|(?:{whole}|{stem}[-_ ](?:new|spec(?:ific)?))\b)"
            r"[\s:,.\-]*(?P<note>.*)\Z",
            re.IGNORECASE,
        )

    def read(self, comment: str, *, behind_code: bool) -> tuple[MarkerKind, str] | None:
        """Kind and note of a comment, or ``None`` when it is no marker."""
        if not behind_code and (title := ruler_title(comment)) is not None:
            return self._read_ruler(title)
        if found := self._line.match(comment):
            return ("trailing" if behind_code else "loose"), found["note"].rstrip()
        return None

    def _read_ruler(self, title: str) -> tuple[MarkerKind, str] | None:
        if not title:
            return "bare", ""
        found = self._ruler.match(title)
        if found is None:
            return None
        edge = ((found["before"] or "") + (found["after"] or "")).lower()
        note = (found["note"] or "").removesuffix(")")
        if edge:
            return ("close" if edge == "/" or edge.startswith("end") else "open"), note
        return "toggle", note


@lru_cache(maxsize=8)
def grammar_of(label: str) -> Grammar:
    """The grammar of one label."""
    return Grammar(label)


def note_of(comment: str, label: str) -> str:
    """The words of a comment, without the label if it is a marker."""
    plain, grammar = words(comment), grammar_of(label)
    read = grammar.read(comment, behind_code=False) or grammar.read(f"# {plain}", behind_code=False)
    return (plain if read is None else read[1]).strip()
