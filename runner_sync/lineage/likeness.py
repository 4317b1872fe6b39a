"""Measure how similar two texts are.

Comes in: texts of units, or multisets of whatever is compared. Goes out: numbers from 0 to 1. May touch: nothing.

Similarity is the Dice coefficient of the multisets of canonical statements (Dice, "Measures of the amount of ecologic
association between species", 1945). Real copies reach 0.6 … 0.98 although a third of their lines is omni code;
overrides that only share a name stay below 0.35 (measured on vllm-omni 0.12.0rc1 … 0.32.0rc1).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from runner_sync.statements import Node, UnparsableText, canons, flatten
from runner_sync.statements.likeness import dice

MODELLED = 0.1
"""A method that shares at least this part of its statements with the method it overrides is modelled on that method,
copy or not. Measured on 0.14.0 … 0.32.0rc1: such methods share 0.18 or more, other namesakes at most 0.04. The
threshold lies between the two, because such methods drift apart: ``sample_tokens`` of the generation runner shared 0.34
with vllm-ascend's at first, and 0.23 lately."""

FEWEST = 3
"""Least number of shared telling statements for a part of a method to come from another one: one or two may be
chance."""

Fingerprint = Counter[str]


@lru_cache(maxsize=4096)
def fingerprint(text: str) -> Fingerprint:
    """Return the multiset of a unit's canonical statements, without comments and docstrings; empty if it does not
    parse.

    The result is cached and shared: do not change it.
    """
    try:
        return Counter(canons(text))
    except UnparsableText:
        return Counter()


def share(text: str, other: str) -> float:
    """Return the share of the statements of ``text`` that ``other`` has, too; 0 for a text without statements."""
    own = fingerprint(text)
    return (own & fingerprint(other)).total() / own.total() if own else 0.0


def follows(text: str, old: str, new: str) -> bool:
    """Whether ``text`` has every statement added from ``old`` to ``new``, and none of the removed ones."""
    return has_change(*(fingerprint(one) for one in (text, old, new)))


def has_change(own: Fingerprint, before: Fingerprint, after: Fingerprint) -> bool:
    """Apply ``follows`` to fingerprints."""
    return not (after - before) - own and not (before - after) & own


def comments(text: str) -> frozenset[str]:
    """Return the comment lines of a text, stripped. Comments do not count for similarity."""
    return frozenset(line.strip() for line in text.split("\n") if line.lstrip().startswith("#"))


def similarity(a: str, b: str) -> float:
    """Return the Dice coefficient of the statements of two units."""
    return dice(fingerprint(a), fingerprint(b))


def list_nodes(text: str) -> tuple[Node, ...]:
    """Return the statement nodes of a unit; empty if the unit does not parse on its own."""
    try:
        return flatten(text)
    except UnparsableText:
        return ()
