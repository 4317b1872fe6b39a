"""Find the new name of a renamed member from the lines that mentioned the old one.

Comes in: the lines of a function before and after. Goes out: names. May touch: nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

_TOKEN = re.compile(r"\w+|[^\w\s]")

_MOST_DIFFERING = 3
"""The most words by which two lines may differ and still be one statement, because other members may be renamed as
well."""


def new_names(old: Sequence[str], new: Sequence[str], name: str) -> Iterator[str]:
    """Yield, for each removed line with ``.name``, the name that a similar line in its place has instead, else
    ``""``."""
    for tag, i, j, k, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for line in old[i:j] if tag in ("replace", "delete") else ():
            if re.search(rf"\.{name}\b", line):
                found = (_find_replacement(line, other, name) for other in new[k:end])
                yield next((one for one in found if one), "")


def prevailing(answers: Iterable[str]) -> tuple[str, int]:
    """Return the name that more than half of the ``answers`` from ``new_names`` agree on, and how many do; else ``("",
    0)``."""
    counts = Counter(answers)
    name, lines = next(iter(counts.most_common(1)), ("", 0))
    return (name, lines) if name and 2 * lines > counts.total() else ("", 0)


def _find_replacement(line: str, other: str, name: str) -> str:
    """Return the word of ``other`` in place of ``name`` in ``line``; ``""`` if the lines differ in more than a few
    words."""
    tokens, other_tokens = _TOKEN.findall(line), _TOKEN.findall(other)
    differing = {(a, b) for a, b in zip(tokens, other_tokens, strict=False) if a != b}
    found = {b for a, b in zip(tokens, other_tokens, strict=False) if a == name}
    is_alike = len(tokens) == len(other_tokens) and len(differing) <= _MOST_DIFFERING
    return found.pop() if is_alike and len(found) == 1 and found.isdisjoint({name}) else ""
