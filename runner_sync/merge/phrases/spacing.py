"""Restore the sides' blanks between tokens, and line breaks before comments, in a merged statement.

Comes in: a merged text, printed from its phrases, and the texts of the sides. Goes out: the text with other blanks and
breaks. May touch: nothing.

    sides     out = g(-1, x[a:b], k=1)        out = g(-1, y[a:b])
    printed   out = g(- 1, y[a: b], k = 1)
    result    out = g(-1, y[a:b], k=1)

Whether a blank stands beside ``:`` or ``=`` depends on their meaning. So the blanks are copied from a side with the
same two consecutive tokens. A side with a line break between them is skipped.
"""

from __future__ import annotations

import tokenize
from collections.abc import Sequence
from difflib import SequenceMatcher

from runner_sync.statements import comments_in, tokens

_UNPRINTED = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def with_spacing(text: str, sides: Sequence[str]) -> str:
    """Return ``text`` with the blanks between two tokens as in the first side that has both in a row.

    Leaves blanks in front of a comment alone.
    """
    merged = _list_tokens(text)
    gaps: dict[int, str] = {}
    for side in reversed(sides):
        side_tokens = _list_tokens(side)
        for start, begin, size in _find_runs(merged, side_tokens):
            for k in range(size - 1):
                gap = _measure_gap(side_tokens[begin + k], side_tokens[begin + k + 1])
                if gap is not None and _measure_gap(merged[start + k], merged[start + k + 1]) is not None:
                    gaps[start + k] = gap
    lines = text.split("\n")
    for k in sorted(gaps, reverse=True):
        (row, end), (_, start) = merged[k].end, merged[k + 1].start
        lines[row - 1] = lines[row - 1][:end] + gaps[k] + lines[row - 1][start:]
    return "\n".join(lines)


def with_comments_alone(text: str, sides: Sequence[str]) -> str:
    """Put each comment on its own line if every side that has it does so: it is about the lines below."""
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


def _list_tokens(text: str) -> list[tokenize.TokenInfo]:
    return [token for token in tokens(f"{text}\n") if token.type not in _UNPRINTED]


def _find_runs(merged: Sequence[tokenize.TokenInfo], side: Sequence[tokenize.TokenInfo]) -> list[tuple[int, int, int]]:
    matcher = SequenceMatcher(None, [token.string for token in merged], [token.string for token in side])
    return [(run.a, run.b, run.size) for run in matcher.get_matching_blocks()]


def _measure_gap(token: tokenize.TokenInfo, following: tokenize.TokenInfo) -> str | None:
    """Return the blanks between two tokens; ``None`` if they stand on two lines or the second is a comment."""
    if token.end[0] != following.start[0] or following.type == tokenize.COMMENT:
        return None
    return " " * (following.start[1] - token.end[1])
