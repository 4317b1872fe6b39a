"""Which of many texts may have a word, without keeping them.

Comes in: texts by path, and words. Goes out: paths, of which some may be wrong. May touch: nothing.

A Bloom filter per text (B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", *CACM* 13(7), 1970)
with one hash function: a text has some hundred distinct words, so one in fifteen others is taken for one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_BITS = 1 << 13

_SPACED = "".join(chr(code) if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
"""A table for `str.translate` that leaves words; with `str.split` a third faster than a pattern for them."""


class WordIndex:
    """The words of texts, a KiB each."""

    _made: dict[tuple[int, int], bytes] = {}  # noqa: RUF012
    """The filters made so far, by length and hash of their texts: most are the same in the old and in the new tree."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._filters = {path: self._filter(text) for path, text in texts}

    def may_have(self, word: str) -> Iterator[str]:
        """The paths of the texts that have an ASCII ``word``, no letter in front of it or behind, and few others."""
        place = hash(word) % _BITS
        at, bit = place >> 3, 1 << (place & 7)
        yield from (path for path, bits in self._filters.items() if bits[at] & bit)

    def _filter(self, text: str) -> bytes:
        key = (len(text), hash(text))
        if key not in self._made:
            self._made[key] = _filter(text)
        return self._made[key]


def _filter(text: str) -> bytes:
    bits = bytearray(_BITS >> 3)
    for place in {hash(word) % _BITS for word in text.translate(_SPACED).split()}:
        bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)
