"""Restores the old layout of lines where nothing but the layout has changed.

Comes in: the lines of a module before and after. Goes out: the lines after. May touch: nothing. Lines are split into
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
    """``after``, with lines of ``before`` where these have the same tokens at the same indentation."""
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "replace":
            yield from _kept(before[i1:i2], after[j1:j2])
        else:
            yield from after[j1:j2]


def _kept(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """``new``, with lines of ``old`` where these have the same tokens; both are gone through in order, once."""
    first = 0
    at = 0
    while at < len(new):
        starts = (k for k in range(first, len(old)) if _begin_alike(old[k], new[at]))
        found = ((k, same) for k in starts if (same := _common_lines(old[k:], new[at:])))
        start, (taken, covered) = next(found, (first, (0, 1)))
        yield from old[start : start + taken] if taken else new[at : at + 1]
        first, at = start + taken, at + covered


def _begin_alike(old: str, new: str) -> bool:
    return bool(old.strip()) and len(margin(old)) == len(margin(new)) and _words(old)[:1] == _words(new)[:1]


def _common_lines(old: Sequence[str], new: Sequence[str]) -> tuple[int, int] | None:
    """How many leading lines of ``old`` and of ``new`` have the same tokens, as few as possible; ``None`` if they
    differ.

    Lines that are wrapped differently match only up to the end of a bracket that they open, because the layout of the
    lines inside it depends on that of the line that opens it.
    """
    sides, counts = (list(_words(old[0])), list(_words(new[0]))), [1, 1]
    while _differ(*sides) or (counts != [1, 1] and _is_open(sides[0])):
        short = 0 if _length(sides[0]) <= _length(sides[1]) else 1
        lines = (old, new)[short]
        if not _begins(sides[1 - short], sides[short]) or counts[short] == len(lines):
            return None
        sides[short].extend(_words(lines[counts[short]]))
        counts[short] += 1
    return counts[0], counts[1]


def _differ(old: Sequence[str], new: Sequence[str]) -> bool:
    return _without_final_commas(old) != _without_final_commas(new)


def _is_open(words: Sequence[str]) -> bool:
    return sum((word in OPENERS) - (word in CLOSERS) for word in words) > 0


@lru_cache(maxsize=4096)
def _words(line: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(line))


def _length(words: Sequence[str]) -> int:
    return sum(word != "," for word in words)


def _begins(long: Sequence[str], short: Sequence[str]) -> bool:
    """Whether ``long`` begins with ``short``, commas aside: a comma before a closing bracket is layout, and that
    bracket may be on a later line."""
    wanted = [word for word in short if word != ","]
    return [word for word in long if word != ","][: len(wanted)] == wanted


def _without_final_commas(words: Sequence[str]) -> list[str]:
    following = [*words[1:], ""]
    return [word for word, after in zip(words, following, strict=True) if word != "," or after not in CLOSERS]
