"""How alike two texts are.

Comes in: texts of units, or multisets of whatever they are compared by. Goes out: numbers from 0 to 1. May touch:
nothing.

Similarity is the Dice coefficient of the multisets of canonical statements (Dice, "Measures of the amount of ecologic
association between species", 1945). Real copies reach 0.6 … 0.98 on it although a third of their lines is omni's own;
overrides that only share a name stay below 0.35 (measured on vllm-omni 0.12.0rc1 … 0.32.0rc1).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from runner_sync.statements import Node, UnparsableText, canons, flatten
from runner_sync.statements.likeness import dice

MODELLED = 0.2
"""Share of a method's statements that it must have from its namesake to be written after it, copy or not. Measured on
0.26.0 … 0.32.0rc1: such methods have 0.24 or more, what only has the name 0.04 at most."""

FEWEST = 3
"""Telling statements that a method must have of another one for a part of it to be from there: one or two the same may
be chance."""

Fingerprint = Counter[str]


@lru_cache(maxsize=4096)
def fingerprint(text: str) -> Fingerprint:
    """Multiset of canonical statements of a unit, comments and docstrings left out; empty when it does not parse.

    It is shared by all who ask for that text: not to be changed.
    """
    try:
        return Counter(canons(text))
    except UnparsableText:
        return Counter()


def share(text: str, other: str) -> float:
    """How much of ``text`` stands in ``other``, too: statements, 0 for a text without any."""
    mine = fingerprint(text)
    return (mine & fingerprint(other)).total() / mine.total() if mine else 0.0


def follows(text: str, old: str, new: str) -> bool:
    """Whether ``text`` has every statement that ``new`` has and ``old`` lacks, and none of those that went."""
    return has_change(*(fingerprint(one) for one in (text, old, new)))


def has_change(mine: Fingerprint, before: Fingerprint, after: Fingerprint) -> bool:
    """The same of the statements themselves."""
    return not (after - before) - mine and not (before - after) & mine


def comments(text: str) -> frozenset[str]:
    """The lines of a text that are comments, without indentation; they say nothing about how alike two texts are."""
    return frozenset(line.strip() for line in text.split("\n") if line.lstrip().startswith("#"))


def similarity(a: str, b: str) -> float:
    """How much of two units' statements they have in common."""
    return dice(fingerprint(a), fingerprint(b))


@lru_cache(maxsize=4096)
def nodes_of(text: str) -> tuple[Node, ...]:
    """Statement nodes of a unit; none when it does not parse by itself."""
    try:
        return flatten(text)
    except UnparsableText:
        return ()
