"""Give a merged statement the blanks between tokens, and the line breaks before comments, that the sides have.

Comes in: a merged text, printed from its phrases, and the texts of the sides. Goes out: the text with other blanks and
breaks. May touch: nothing.

    sides     out = g(-1, x[a:b], k=1)        out = g(-1, y[a:b])
    printed   out = g(- 1, y[a: b], k = 1)
    result    out = g(-1, y[a:b], k=1)

Whether a blank stands beside ``:`` or ``=`` depends on what these mean there; so the blanks are copied from a side that
has the same two tokens in a row. A side with a line break between them is no help, and is passed over.
"""

from __future__ import annotations

import tokenize
from collections.abc import Sequence
from difflib import SequenceMatcher

from runner_sync.statements import comments_in, tokens

_UNPRINTED = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def spaced_as(text: str, sides: Sequence[str]) -> str:
    """``text`` with the blanks between every two tokens as in the first of ``sides`` that has these two in a row.

    The blanks in front of a comment are left alone.
    """
    made = _printed(text)
    gaps: dict[int, str] = {}
    for side in reversed(sides):
        theirs = _printed(side)
        for start, begin, size in _runs(made, theirs):
            for k in range(size - 1):
                gap = _gap(theirs[begin + k], theirs[begin + k + 1])
                if gap is not None and _gap(made[start + k], made[start + k + 1]) is not None:
                    gaps[start + k] = gap
    lines = text.split("\n")
    for k in sorted(gaps, reverse=True):
        (row, end), (_, start) = made[k].end, made[k + 1].start
        lines[row - 1] = lines[row - 1][:end] + gaps[k] + lines[row - 1][start:]
    return "\n".join(lines)


def with_comments_alone(text: str, sides: Sequence[str]) -> str:
    """``text`` with a line of its own for each comment that has one on every side with it: it is about the lines below,
    and not about the code before it."""
    alone, behind = set[str](), set[str]()
    for side in sides:
        lines = side.split("\n")
        for comment in comments_in(side):
            (row, column), words = comment.start, comment.string.rstrip()
            (behind if lines[row - 1][:column].strip() else alone).add(words)
    lines = text.split("\n")
    for comment in reversed(comments_in(text)):
        (row, column), words = comment.start, comment.string.rstrip()
        code = lines[row - 1][:column].rstrip()
        if code and words in alone - behind:
            lines[row - 1 : row] = [code, words]
    return "\n".join(lines)


def _printed(text: str) -> list[tokenize.TokenInfo]:
    return [token for token in tokens(f"{text}\n") if token.type not in _UNPRINTED]


def _runs(made: Sequence[tokenize.TokenInfo], theirs: Sequence[tokenize.TokenInfo]) -> list[tuple[int, int, int]]:
    matcher = SequenceMatcher(None, [token.string for token in made], [token.string for token in theirs])
    return [(run.a, run.b, run.size) for run in matcher.get_matching_blocks()]


def _gap(token: tokenize.TokenInfo, following: tokenize.TokenInfo) -> str | None:
    """The blanks between two tokens; ``None`` if they stand in two lines, or the second is a comment."""
    if token.end[0] != following.start[0] or following.type == tokenize.COMMENT:
        return None
    return " " * (following.start[1] - token.end[1])
