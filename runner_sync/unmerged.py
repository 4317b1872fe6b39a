"""What a merge left in a text for a person: conflict markers.

Comes in: a text. Goes out: line spans. May touch: nothing. It is stdlib only, and quick where there is nothing to find.
"""

from __future__ import annotations

import ast
import re
import warnings

_OPEN = re.compile(r"^<{7}(?: .*)?\r?$", re.MULTILINE)
_CLOSE = re.compile(r"^>{7}(?: .*)?\r?$", re.MULTILINE)
_SIDE = re.compile(r"(?:<{7}|\|{7}|>{7})(?: .*)?\r?\Z")
_MIDDLE = re.compile(r"={7}\r?\Z")
_ANY = re.compile(r"^(?:<{7}|\|{7}|>{7}|={7})(?: .*)?\r?$", re.MULTILINE)


def conflicts(text: str) -> list[tuple[int, int]]:
    """First and last line of every conflict, or of every single marker that stayed behind in what is no Python now.

    A text that parses holds none but whole ones: a row of equals signs in a docstring is a heading.
    """
    if not _ANY.search(text):
        return []
    return _whole(text) or _single(text)


def _whole(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    position = 0
    while (opening := _OPEN.search(text, position)) and (closing := _CLOSE.search(text, opening.end())):
        found.append((text.count("\n", 0, opening.start()) + 1, text.count("\n", 0, closing.start()) + 1))
        position = closing.end()
    return found


def _single(text: str) -> list[tuple[int, int]]:
    stop = _stops_at(text)
    if not stop:
        return []
    lines = enumerate(text.split("\n"), start=1)
    # timid: equals signs are a heading somewhere, unless they are where Python gives up.
    return [(n, n) for n, line in lines if _SIDE.match(line) or (n == stop and _MIDDLE.match(line))]


def _stops_at(text: str) -> int:
    """The line at which Python gives up; 0 for a text that parses, or that fails for another reason than its syntax."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        return 0
    return 0
