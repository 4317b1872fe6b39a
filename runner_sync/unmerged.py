"""Find the conflict markers that a merge left in a text.

Comes in: a text. Goes out: line spans. May touch: nothing. Uses only the standard library, and is fast for a text
without markers.
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
_BEGINNINGS = ("<" * 7, "|" * 7, ">" * 7, "=" * 7)


def conflicts(text: str) -> list[tuple[int, int]]:
    """Return first and last line of every whole conflict (``<<<<<<<`` … ``>>>>>>>``), else of every single marker.

    Single markers count only if the text does not parse, because seven equals signs in a docstring are a heading.
    """
    # Plain text is found in a tenth of the time of a pattern.
    if not any(mark in text for mark in _BEGINNINGS) or not _ANY.search(text):
        return []
    return _find_whole_conflicts(text) or _find_single_markers(text)


def _find_whole_conflicts(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    position = 0
    while (opening := _OPEN.search(text, position)) and (closing := _CLOSE.search(text, opening.end())):
        found.append((text.count("\n", 0, opening.start()) + 1, text.count("\n", 0, closing.start()) + 1))
        position = closing.end()
    return found


def _find_single_markers(text: str) -> list[tuple[int, int]]:
    error = find_syntax_error(text)
    stop = error.lineno if error is not None else None
    if not stop:
        return []
    lines = enumerate(text.split("\n"), start=1)
    # timid: equals signs may be a heading, unless Python's parser stops at them.
    return [(n, n) for n, line in lines if _SIDE.match(line) or (n == stop and _MIDDLE.match(line))]


def find_syntax_error(text: str) -> SyntaxError | None:
    """Return the error at which Python's parser stops; ``None`` if the text parses or fails for another reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None
