"""Members that got another name: what the lines that had the old one say now.

Comes in: the lines of a function as it was and as it is. Goes out: names. May touch: nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

_TOKEN = re.compile(r"\w+|[^\w\s]")

_MOST = 3
"""Words by which two lines may differ and still be one statement: other members may have got new names as well."""


def new_names(old: Sequence[str], new: Sequence[str], name: str) -> Iterator[str]:
    """For each line that went and had ``.name``: what the line in its place has there, empty where none is alike."""
    for tag, i, j, k, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for line in old[i:j] if tag in ("replace", "delete") else ():
            if re.search(rf"\.{name}\b", line):
                found = (_in_place(line, other, name) for other in new[k:end])
                yield next((one for one in found if one), "")


def prevailing(told: Iterable[str]) -> tuple[str, int]:
    """The name that more than half of the lines have, of those that ``new_names`` looked at, and in how many; empty
    where there is none."""
    counts = Counter(told)
    name, lines = next(iter(counts.most_common(1)), ("", 0))
    return (name, lines) if name and 2 * lines > counts.total() else ("", 0)


def _in_place(line: str, other: str, name: str) -> str:
    """What ``other`` has wherever ``line`` has ``name``, if the two are alike but for a few words."""
    mine, theirs = _TOKEN.findall(line), _TOKEN.findall(other)
    differing = {(a, b) for a, b in zip(mine, theirs, strict=False) if a != b}
    found = {b for a, b in zip(mine, theirs, strict=False) if a == name}
    is_alike = len(mine) == len(theirs) and len(differing) <= _MOST
    return found.pop() if is_alike and len(found) == 1 and found.isdisjoint({name}) else ""
