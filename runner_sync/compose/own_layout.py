"""Restores the old layout of lines whose layout alone has changed.

Comes in: the lines of a module before and after. Goes out: the lines after. May touch: nothing. Splits lines into
tokens without parsing, because a changed passage is often no whole statement; the caller compares the syntax trees.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from runner_sync.edits import margin
from runner_sync.statements import CLOSERS, OPENERS

_WORD = re.compile(r"""#.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|[^\w\s]""")


def keep_layout(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield ``after``, with lines of ``before`` where these have the same tokens at the same indentation."""
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "replace":
            yield from _restore_lines(before[i1:i2], after[j1:j2])
        else:
            yield from after[j1:j2]


def _restore_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield ``new``, with lines of ``old`` where these have the same tokens; goes through both once, in order."""
    first = 0
    at = 0
    while at < len(new):
        starts = (k for k in range(first, len(old)) if _is_same_start(old[k], new[at]))
        found = ((k, same) for k in starts if (same := _match_lines(old[k:], new[at:])))
        start, (taken, covered) = next(found, (first, (0, 1)))
        yield from old[start : start + taken] if taken else new[at : at + 1]
        first, at = start + taken, at + covered


def _is_same_start(old: str, new: str) -> bool:
    return (
        bool(old.strip()) and len(margin(old)) == len(margin(new)) and _split_tokens(old)[:1] == _split_tokens(new)[:1]
    )


def _match_lines(old: Sequence[str], new: Sequence[str]) -> tuple[int, int] | None:
    """Return the fewest leading lines of ``old`` and ``new`` with the same tokens, as counts; ``None`` if they differ.

    Lines that are wrapped differently match only up to the end of a bracket that they open, because the layout inside
    it depends on the line that opens it.
    """
    sides, counts = (list(_split_tokens(old[0])), list(_split_tokens(new[0]))), [1, 1]
    while _is_different(*sides) or (counts != [1, 1] and _has_open_bracket(sides[0])):
        short = 0 if _count_tokens(sides[0]) <= _count_tokens(sides[1]) else 1
        lines = (old, new)[short]
        if not _has_prefix(sides[1 - short], sides[short]) or counts[short] == len(lines):
            return None
        sides[short].extend(_split_tokens(lines[counts[short]]))
        counts[short] += 1
    return counts[0], counts[1]


def _is_different(old: Sequence[str], new: Sequence[str]) -> bool:
    return _drop_final_commas(old) != _drop_final_commas(new)


def _has_open_bracket(words: Sequence[str]) -> bool:
    return sum((word in OPENERS) - (word in CLOSERS) for word in words) > 0


@lru_cache(maxsize=4096)
def _split_tokens(line: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(line))


def _count_tokens(words: Sequence[str]) -> int:
    return sum(word != "," for word in words)


def _has_prefix(long: Sequence[str], short: Sequence[str]) -> bool:
    """Whether ``long`` begins with ``short``, commas aside.

    A comma before a closing bracket is layout, and that bracket may be on a later line.
    """
    wanted = [word for word in short if word != ","]
    return [word for word in long if word != ","][: len(wanted)] == wanted


def _drop_final_commas(words: Sequence[str]) -> list[str]:
    following = [*words[1:], ""]
    return [word for word, after in zip(words, following, strict=True) if word != "," or after not in CLOSERS]
