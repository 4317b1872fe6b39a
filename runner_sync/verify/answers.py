"""Caches answers.

Comes in: keys, and functions that compute the values. Goes out: values. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")


class Answers:
    """Answers by question. The object that they are about holds them, so they live as long as it does."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, question: Hashable, find: Callable[[], _Answer]) -> _Answer:
        """Return the value for ``question``; ``find`` computes it the first time."""
        if question not in self._known:
            self._known[question] = find()
        known: _Answer = self._known[question]
        return known
