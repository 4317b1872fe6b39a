"""A chain of attributes of which upstream changed the way to an object, and omni what it asks of that object.

Comes in: a phrase as base, omni and upstream have it. Goes out: the phrase with both. May touch: nothing.

    base      if self.options.timing.wanted
    omni      if self.options.timing.enabled
    upstream  if self.options.steps.timing.wanted
    result    if self.options.steps.timing.enabled

The other way round it stays a conflict: what upstream now asks of an object says nothing of another one, which omni has
in its place. So does a chain that begins with another name, or that has no link between the two changes.
"""

from __future__ import annotations

import re

_CHAIN = re.compile(r"[A-Za-z_]\w*(\.\w+)+,?")
_Change = tuple[int, int, list[str]]


def with_both_ends(base: str, omni: str, upstream: str) -> str | None:
    """The phrase with upstream's way and omni's end of the one chain that both changed; ``None`` where they changed
    more of it, or other ones."""
    sides = [phrase.split(" ") for phrase in (base, omni, upstream)]
    if len({len(words) for words in sides}) > 1:
        return None
    changed = [k for k, row in enumerate(zip(*sides, strict=True)) if len(set(row)) > 1]
    if len(changed) != 1 or not all(_CHAIN.fullmatch(words[changed[0]]) for words in sides):
        return None
    at = changed[0]
    old, mine, new = (words[at].removesuffix(",").split(".") for words in sides)
    start, end, way = _change(old, new)
    first, last, asked = _change(old, mine)
    if not 0 < start <= end < first:
        return None
    made = [*old[:start], *way, *old[end:first], *asked, *old[last:]]
    comma = "," if sides[1][at].endswith(",") else ""
    return " ".join([*sides[1][:at], ".".join(made) + comma, *sides[1][at + 1 :]])


def _change(old: list[str], now: list[str]) -> _Change:
    """Which links of the old chain a side has others for, from the first to the last, and those."""
    shorter = min(len(old), len(now))
    start = next((k for k in range(shorter) if old[k] != now[k]), shorter)
    behind = next((k for k in range(shorter - start) if old[-1 - k] != now[-1 - k]), shorter - start)
    return start, len(old) - behind, now[start : len(now) - behind]
