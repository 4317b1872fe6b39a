"""How similar two texts are.

Comes in: texts of units, or multisets of whatever they are compared by. Goes out: numbers from 0 to 1. May touch:
nothing.

Similarity is the Dice coefficient of the multisets of canonical statements (Dice, "Measures of the amount of ecologic
association between species", 1945). Real copies reach 0.6 … 0.98 although a third of their lines is omni's own;
overrides that only share a name stay below 0.35 (measured on vllm-omni 0.12.0rc1 … 0.32.0rc1).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from runner_sync.statements import Node, UnparsableText, canons, flatten
from runner_sync.statements.likeness import dice

MODELLED = 0.2
"""A method with at least this share of its statements from the method it overrides is modelled on that, copy or not.
Measured on 0.26.0 … 0.32.0rc1: such methods have 0.24 or more, others of the same name 0.04 at most."""

FEWEST = 3
"""A part of a method comes from another one only if they share this many telling statements: one or two may be
chance."""

Fingerprint = Counter[str]


@lru_cache(maxsize=4096)
def fingerprint(text: str) -> Fingerprint:
    """Multiset of canonical statements of a unit, without comments and docstrings; empty when it does not parse.

    The result is cached and shared: do not change it.
    """
    try:
        return Counter(canons(text))
    except UnparsableText:
        return Counter()


def share(text: str, other: str) -> float:
    """Share of the statements of ``text`` that ``other`` has, too; 0 for a text without any."""
    mine = fingerprint(text)
    return (mine & fingerprint(other)).total() / mine.total() if mine else 0.0


def follows(text: str, old: str, new: str) -> bool:
    """Whether ``text`` has every statement added from ``old`` to ``new``, and none of the removed ones."""
    return has_change(*(fingerprint(one) for one in (text, old, new)))


def has_change(mine: Fingerprint, before: Fingerprint, after: Fingerprint) -> bool:
    """``follows`` for fingerprints."""
    return not (after - before) - mine and not (before - after) & mine


def comments(text: str) -> frozenset[str]:
    """The comment lines of a text, stripped; they do not count for similarity."""
    return frozenset(line.strip() for line in text.split("\n") if line.lstrip().startswith("#"))


def similarity(a: str, b: str) -> float:
    """Dice coefficient of the statements of two units."""
    return dice(fingerprint(a), fingerprint(b))


def nodes_of(text: str) -> tuple[Node, ...]:
    """Statement nodes of a unit; none if it does not parse on its own."""
    try:
        return flatten(text)
    except UnparsableText:
        return ()
