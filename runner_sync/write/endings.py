"""What files have and texts in this program do not: CRLF, a byte order mark, a missing final newline.

Comes in: the text of a file as it is on disk, and a text with LF. Goes out: that text as the file has it. May touch:
nothing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

_BOM = "\ufeff"
_LONE = re.compile(r"\r(?!\n)")
_ENDING = re.compile(r"\r\n|\n")


def is_same(disk: str, before: str) -> bool:
    """Whether ``before`` is what was read from a file that is ``disk`` now."""
    plain = disk.removeprefix(_BOM)
    known = before.removeprefix(_BOM)
    return known in (plain, plain.replace("\r\n", "\n"))


def lone_return(disk: str) -> int:
    """The line of the first carriage return that ends no line, 0 for none.

    Python takes it for the end of a line, git and editors do not, and in a text with LF it could not be told from one.
    """
    found = _LONE.search(disk)
    return disk.count("\n", 0, found.start()) + 1 if found else 0


def restore(disk: str, after: str) -> str:
    """``after`` (LF) with the byte order mark, line endings and missing final newline that ``disk`` has.

    Unchanged lines keep their own ending, new ones get the one that most lines of ``disk`` have.
    """
    text = after.removeprefix(_BOM)
    plain = disk.removeprefix(_BOM)
    if plain and text:
        text = text if not plain.endswith("\n") else text.removesuffix("\n") + "\n"
        text = text if plain.endswith("\n") else text.removesuffix("\n")
    if "\r" in plain:
        text = _with_endings(plain, text)
    return (_BOM if disk.startswith(_BOM) else "") + text


def _with_endings(disk: str, after: str) -> str:
    endings = _ENDING.findall(disk)
    usual = max(("\n", "\r\n"), key=endings.count)
    # A lone carriage return is content: the split leaves it inside its line, where it was read from.
    old, new = _ENDING.split(disk), after.split("\n")
    kept = dict.fromkeys(range(len(new)), usual)
    if len(set(endings)) > 1:
        kept |= {at: endings[line] for at, line in _unchanged(old, new) if line < len(endings)}
    last = len(new) - 1
    return "".join(line + (kept[index] if index < last else "") for index, line in enumerate(new))


def _unchanged(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Each line of ``new`` that ``old`` has, with where it has it; what both begin and end with is not searched."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    yield from ((n, n) for n in range(head))
    yield from ((len(new) - 1 - n, len(old) - 1 - n) for n in range(tail))
    # Lines that stand there a hundred times, such as blank ones, are found with their neighbours.
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    for start, at, size in matcher.get_matching_blocks():
        yield from ((head + at + n, head + start + n) for n in range(size))
