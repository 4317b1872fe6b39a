"""Measure how similar two statements, or two texts, are by their words.

Comes in: nodes, or multisets of the elements that two texts are compared by. Goes out: numbers from 0 to 1. May touch:
nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from runner_sync.statements.dataflow import sets
from runner_sync.statements.nodes import Node

COPY = 0.35
"""The least Dice coefficient of statements at which a method is a copy of its namesake (measured, see ``lineage``)."""

VERSION = 0.8
"""The least likeness at which two statements without a common base are versions of one: two additions, or a removed
anchor and its successor. A judgement: well above the threshold for statements with a common base."""

NEAREST = 0.9
"""The minimum likeness of two statements that define or declare the same name, or assign the result of the same
function to the same names."""


def dice(a: Counter[str], b: Counter[str]) -> float:
    """Return the Dice coefficient of two multisets; 0 for two empty ones."""
    total = a.total() + b.total()
    # The total of ``a & b``, which would take three times as long to make.
    return 2 * sum([min(count, b[one]) for one, count in a.items() if one in b]) / total if total else 0.0


@lru_cache(maxsize=8192)
def words(canon: str) -> Counter[str]:
    """Return the names and numbers of a statement without its operators. The result is shared: never change it."""
    return Counter(re.findall(r"\w+", canon))


def word_similarity(canon: str, other: str) -> float:
    """Return the Dice coefficient of the words of two statements, 0…1."""
    return dice(words(canon), words(other))


def similarity(a: Node, b: Node) -> float:
    """Return the Dice coefficient of the word multisets of two canonical texts, 0…1.

    Returns 0 for nodes of different kinds, and for two without a common name, because brackets, dots and ``self`` are
    alike everywhere. At least ``NEAREST`` for two that define or declare the same name, or bind the same names to the
    result of the same function, whatever its arguments. Half for two heads with different keywords, and for two
    simple statements of which only one sets locals, unless they call the same function.
    """
    if a.kind != b.kind or a.compound != b.compound or (a.names and b.names and not a.names & b.names):
        return 0.0
    share = dice(a.words, b.words)
    if any(key and key == other for key, other in zip(_get_identity(a), _get_identity(b), strict=True)):
        return max(share, NEAREST)
    if a.compound and a.keyword != b.keyword:
        return share / 2
    if not a.compound and bool(sets(a)) != bool(sets(b)) and a.called != b.called:
        return share / 2
    return share


def _get_identity(node: Node) -> tuple[str, str, str]:
    """Return what identifies a statement regardless of its other text; each part is empty if it does not apply."""
    return node.defines, node.made_by, node.facts.declares
