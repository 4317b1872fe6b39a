"""How alike two statements, or two texts, are by the words that they consist of.

Comes in: nodes, or multisets of whatever two texts are compared by. Goes out: numbers from 0 to 1. May touch: nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from runner_sync.statements.nodes import Node

COPY = 0.35
"""Dice coefficient of statements from which on a method is a copy of its namesake (measured, see ``lineage``)."""

VERSION = 0.8
"""Likeness from which on two statements that have no base in common to compare with are versions of one: two additions,
or one that serves as the place of the other. A judgement: well above what two of one base must have."""

NEAREST = 0.9
"""The least likeness of two statements that define or declare the same name, or assign the same function's value to the
same names."""


def dice(a: Counter[str], b: Counter[str]) -> float:
    """Dice coefficient of two multisets; 0 for two empty ones."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0


@lru_cache(maxsize=8192)
def words(canon: str) -> Counter[str]:
    """The names and numbers of a statement without its operators. It is shared: never change it."""
    return Counter(re.findall(r"\w+", canon))


def similarity(a: Node, b: Node) -> float:
    """Dice coefficient of the word multisets of two canonical texts, 0…1.

    0 for nodes of different kinds, and for two without a name in common, because brackets, dots and ``self`` are alike
    everywhere. At least ``NEAREST`` for two that define or declare the same name, or bind the same names to the value
    of the same function, whatever they pass to it. Half for two heads with different keywords.
    """
    if a.kind != b.kind or a.compound != b.compound or (a.names and b.names and not a.names & b.names):
        return 0.0
    share = dice(a.words, b.words)
    if any(said and said == other for said, other in zip(_identity(a), _identity(b), strict=True)):
        return max(share, NEAREST)
    if a.compound and a.keyword != b.keyword:
        return share / 2
    return share


def _identity(node: Node) -> tuple[str, str, str]:
    """What identifies a statement, whatever else it says: each empty if it does not apply."""
    return node.defines, node.made_by, node.facts.declares
