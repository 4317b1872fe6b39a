"""Which of many texts may have some words, without keeping them.

Comes in: texts, and words. Goes out: the filter of a text, and of filters by path the paths, of which some may be
wrong. May touch: nothing.

A Bloom filter per text (B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", *CACM* 13(7), 1970)
with one hash function: a text has some hundred distinct words, so one in fifteen others is taken for one of them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

KIND = "words-1"
"""What filters are kept under between runs. Another number for other filters: old ones are not to be asked."""

_BITS = 1 << 13

_WORD = re.compile(r"\w+")

_SPACED = "".join(chr(code) if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
"""A table for `str.translate` that leaves the words of an ASCII text."""


class WordIndex:
    """The words of texts, a KiB each, by path."""

    def __init__(self, filters: Mapping[str, bytes]) -> None:
        self._filters = filters

    def may_have(self, text: str) -> list[str]:
        """The paths of the texts that have every word of ``text``, and of few others, in their order."""
        found = list(self._filters)
        for place in _places(text):
            byte, bit = place >> 3, 1 << (place & 7)
            found = [path for path in found if self._filters[path][byte] & bit]
        return found


def words_of(text: str) -> bytes:
    """The filter of a text; the same in every run, which Python's own ``hash`` of a word is not."""
    bits = bytearray(_BITS >> 3)
    for place in _places(text):
        bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


def _places(text: str) -> set[int]:
    return {zlib.crc32(word.encode()) % _BITS for word in set(_words(text))}


def _words(text: str) -> list[str]:
    """The words of a text; to split an ASCII text takes a third less time than to look for them."""
    return text.translate(_SPACED).split() if text.isascii() else _WORD.findall(text)
