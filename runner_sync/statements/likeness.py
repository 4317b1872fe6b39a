"""How alike two statements, or two texts, are by what they consist of.

Comes in: nodes, or multisets of whatever two texts are compared by. Goes out: numbers from 0 to 1. May touch: nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from runner_sync.statements.nodes import Node

COPY = 0.35
"""Dice coefficient of statements; what has less in common with its namesake is no copy of it (measured, see
``lineage`` for where)."""

NEAREST = 0.9
"""The coefficient that statements get at least which bind the same names, or the value of the same function."""


def dice(a: Counter[str], b: Counter[str]) -> float:
    """Dice coefficient of two multisets; 0 for two empty ones."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0


@lru_cache(maxsize=8192)
def words(canon: str) -> Counter[str]:
    """The names and numbers of a statement without its operators, shared by all who ask: not to be changed."""
    return Counter(re.findall(r"\w+", canon))


def similarity(a: Node, b: Node) -> float:
    """Dice coefficient of the word multisets of two canonical texts, 0…1; 0 for nodes of different kinds, and for two
    that are about different things: brackets, dots and ``self`` are alike everywhere. Two that bind the same names to
    the value of the same function are versions of one, whatever they pass to it, and so are two that declare one name.
    """
    if a.kind != b.kind or a.compound != b.compound or (a.names and b.names and not a.names & b.names):
        return 0.0
    share = dice(a.words, b.words)
    if any(said and said == other for said, other in zip(_told_by(a), _told_by(b), strict=True)):
        return max(share, NEAREST)
    if a.compound and a.keyword != b.keyword:
        return share / 2
    return share


def _told_by(node: Node) -> tuple[str, str, str]:
    """What a statement is told by, whatever else it says."""
    return node.defines, node.made_by, node.facts.declares
