"""Recognise comments that draw a line (``# ----- Omni-new -----``) or mark code with the same label.

Comes in: a comment, or a line of a file. Goes out: whether it is a ruler or a marker, and its text. May touch: nothing.

Callers have different purposes, so there are three tests. `ruler_title` finds rulers that may enclose a block: they
begin with dashes, at least three if a title follows. `is_divider` needs six, because a comment above a definition
belongs to the definition unless it clearly separates. `is_drawn` accepts a drawn line anywhere in the comment, because
such a comment is not about a single statement.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

MarkerKind = Literal["open", "close", "toggle", "bare", "trailing", "loose"]
"""``open`` and ``close`` rulers; ``toggle``: a labelled ruler that may do either; ``bare``: a ruler without a label;
``trailing``: a comment behind code; ``loose``: a comment on its own line."""

_BEGINNING = re.compile(r"#\s*([-=]{3,})")
_BARE = 8
"""The minimum number of dashes in a ruler without a title; shorter ones serve all kinds of purposes."""
_DIVIDING = re.compile(r"\s*#\s*[-=]{6,}")
_DRAWN = re.compile(r"([-=#*~_+])\1{3}")
_REVIEW = re.compile(r"#\s*runner-sync:\s*review\b")
_ENDS = re.compile(r"^#+\s*[-=]*\s*|\s*[-=]{3,}\s*$")


def ruler_title(comment: str) -> str | None:
    """Return the text between the dashes of a ruler, ``""`` for a bare ruler, ``None`` for any other comment."""
    found = _BEGINNING.match(comment)
    if found is None:
        return None
    title = comment[found.end() :].strip().rstrip("-=").rstrip()
    return title if title or len(found[1]) >= _BARE else None


def is_review(comment: str) -> bool:
    """Whether a comment is a question of an earlier upgrade, and so neither omni's nor upstream's."""
    return _REVIEW.match(comment.strip()) is not None


def is_divider(line: str) -> bool:
    """Whether a line of a file is a ruler that separates the definitions above and below it."""
    return _DIVIDING.match(line) is not None


def is_drawn(comment: str) -> bool:
    """Whether a comment contains a drawn line, with or without words."""
    return _DRAWN.search(comment) is not None


def get_words(comment: str) -> str:
    """Return the words of a comment, without ``#`` and without dashes at either end."""
    return _ENDS.sub("", comment)


class Grammar:
    """Recognises marker comments of one label (for ``Omni-new`` also ``Omni-specific``, ``[Omni]``, ``OMNI:``)."""

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
        """Return kind and note of a comment, or ``None`` if it is not a marker."""
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
def get_grammar(label: str) -> Grammar:
    """Return the cached grammar of one label."""
    return Grammar(label)


def get_note(comment: str, label: str) -> str:
    """Return the words of a comment, without the label if it is a marker."""
    plain, grammar = get_words(comment), get_grammar(label)
    read = grammar.read(comment, behind_code=False) or grammar.read(f"# {plain}", behind_code=False)
    return (plain if read is None else read[1]).strip()
