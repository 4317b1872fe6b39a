"""The pairs of two node sequences, and what the statements paired so far say about the others.

Comes in and goes out: values. May touch: nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from runner_sync.statements import ROOT, Node


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of indices; ``equal`` tells whether the canonical texts are the same."""

    left: int
    right: int
    equal: bool


class Partners:
    """The partner of each paired node by its index, for both sides; the unit itself (``ROOT``) is its own partner."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self.of_left = {ROOT: ROOT} | {pair.left: pair.right for pair in pairs}
        self.of_right = {right: left for left, right in self.of_left.items()}

    def are_free(self, left: int, right: int) -> bool:
        """Whether neither of two nodes has a partner yet."""
        return left not in self.of_left and right not in self.of_right

    def are_in_one_suite(self, left: Node, right: Node) -> bool:
        """Whether two nodes stand in matched suites."""
        return self.of_left.get(left.parent) == right.parent


def add_in_order(pairs: Sequence[Pair], more: Iterable[Pair]) -> list[Pair]:
    """Add to ``pairs``, one by one, those of ``more`` with which they still increase on both sides."""
    out = list(pairs)
    for pair in more:
        at = bisect_left(out, pair.left, key=lambda one: one.left)
        is_behind = at == 0 or out[at - 1].right < pair.right
        if is_behind and (at == len(out) or pair.right < out[at].right):
            out.insert(at, pair)
    return out


def add_free(pairs: Sequence[Pair], partners: Partners, more: Iterable[tuple[int, int]]) -> list[Pair]:
    """Add unequal pairs of nodes that have no partner yet, where they are in order."""
    return add_in_order(pairs, [Pair(*both, equal=False) for both in more if partners.are_free(*both)])


Key = TypeVar("Key")
Value = TypeVar("Value")


def index_unique(rows: Iterable[tuple[Key, Value]]) -> dict[Key, Value]:
    """Return ``{key: value}`` of the keys that occur once."""
    found: dict[Key, list[Value]] = {}
    for key, value in rows:
        found.setdefault(key, []).append(value)
    return {key: values[0] for key, values in found.items() if len(values) == 1}
