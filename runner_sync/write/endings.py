"""Restore what files on disk may have and texts in this program do not: CRLF, a byte order mark, no final newline.

Comes in: the text of a file on disk, and its new text with LF. Goes out: the new text in the file's own form. May
touch: nothing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

_BOM = "\ufeff"
_LONE = re.compile(r"\r(?!\n)")
_ENDING = re.compile(r"\r\n|\n")


def is_same(disk: str, before: str) -> bool:
    """Whether ``before``, a text read from a file earlier, is still the text of the file, now ``disk``."""
    plain = disk.removeprefix(_BOM)
    known = before.removeprefix(_BOM)
    return known in (plain, plain.replace("\r\n", "\n"))


def find_lone_return(disk: str) -> int:
    """Return the line of the first carriage return that is not part of a CRLF; 0 if there is none.

    Python reads a lone carriage return as a line end, git and editors do not. The conversion to LF would hide it.
    """
    found = _LONE.search(disk)
    return disk.count("\n", 0, found.start()) + 1 if found else 0


def restore(disk: str, after: str) -> str:
    """Return ``after`` (LF) with the byte order mark, the line endings and the final newline (or its absence) of
    ``disk``.

    Unchanged lines keep their own ending, new ones get the most frequent one of ``disk``.
    """
    text = after.removeprefix(_BOM)
    plain = disk.removeprefix(_BOM)
    if plain and text:
        text = text.removesuffix("\n") + ("\n" if plain.endswith("\n") else "")
    if "\r" in plain:
        text = _restore_endings(plain, text)
    return (_BOM if disk.startswith(_BOM) else "") + text


def _restore_endings(disk: str, after: str) -> str:
    endings = _ENDING.findall(disk)
    usual = max(("\n", "\r\n"), key=endings.count)
    # A lone carriage return is content: the split leaves it within its line.
    old, new = _ENDING.split(disk), after.split("\n")
    kept = dict.fromkeys(range(len(new)), usual)
    if len(set(endings)) > 1:
        kept |= {at: endings[line] for at, line in _iter_unchanged(old, new) if line < len(endings)}
    last = len(new) - 1
    return "".join(line + (kept[index] if index < last else "") for index, line in enumerate(new))


def _iter_unchanged(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield ``(index in new, index in old)`` of each unchanged line. Common first and last lines need no search."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    yield from ((n, n) for n in range(head))
    yield from ((len(new) - 1 - n, len(old) - 1 - n) for n in range(tail))
    # Frequent lines, such as blank ones, are matched along with their neighbours.
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    for start, at, size in matcher.get_matching_blocks():
        yield from ((head + at + n, head + start + n) for n in range(size))
