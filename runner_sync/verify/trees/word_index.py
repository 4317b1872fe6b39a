"""Which of many texts may contain some words, without keeping the texts.

Comes in: texts, and words. Goes out: the filter of a text; and, for filters by path, the paths that may have the words,
with some false positives. May touch: nothing.

A Bloom filter per text (B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", *CACM* 13(7), 1970)
with one hash function: a text has some hundred distinct words, so one in fifteen other words is a false positive.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

KIND = "words-1"
"""The key under which filters are kept between runs. A change of the filters must raise the number, so that old ones
are ignored."""

_BITS = 1 << 13

_WORD = re.compile(r"\w+")

_SPACED = "".join(chr(code) if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
"""A table for `str.translate` that leaves only the words of an ASCII text."""


class WordIndex:
    """The filters of texts, by path, one KiB each."""

    def __init__(self, filters: Mapping[str, bytes]) -> None:
        self._filters = filters

    def may_have(self, text: str) -> list[str]:
        """Return the paths of the texts that contain every word of ``text``, in order, with few false positives."""
        found = list(self._filters)
        for place in _find_bits(text):
            byte, bit = place >> 3, 1 << (place & 7)
            found = [path for path in found if self._filters[path][byte] & bit]
        return found


def make_filter(text: str) -> bytes:
    """Return the filter of a text. It is the same in every run, unlike Python's own ``hash`` of a word."""
    bits = bytearray(_BITS >> 3)
    for place in _find_bits(text):
        bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


def _find_bits(text: str) -> set[int]:
    return {zlib.crc32(word.encode()) % _BITS for word in set(_split_words(text))}


def _split_words(text: str) -> list[str]:
    """Return the words of a text. Splitting an ASCII text takes a third less time than matching words."""
    return text.translate(_SPACED).split() if text.isascii() else _WORD.findall(text)
