"""What files have and texts in this program do not: CRLF, a byte order mark, a missing final newline.

Comes in: the text of a file as it is on disk, and a text with LF. Goes out: that text as the file has it. May touch:
nothing.
"""

from __future__ import annotations

import difflib
import re

_BOM = "\ufeff"
_ENDING = re.compile(r"\r\n|\n")


def is_same(disk: str, before: str) -> bool:
    """Whether ``before`` is what was read from a file that is ``disk`` now."""
    plain = disk.removeprefix(_BOM)
    known = before.removeprefix(_BOM)
    return known in (plain, plain.replace("\r\n", "\n"))


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
    old, new = _ENDING.split(disk), after.split("\n")
    kept = dict.fromkeys(range(len(new)), usual)
    # A lone carriage return is content: the split leaves it inside its line, where it was read from.
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for start, at, size in matcher.get_matching_blocks():
        for offset in range(size):
            if start + offset < len(endings):
                kept[at + offset] = endings[start + offset]
    last = len(new) - 1
    return "".join(line + (kept[index] if index < last else "") for index, line in enumerate(new))
