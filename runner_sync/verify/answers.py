"""What was worked out once, for whoever asks the same question again.

Comes in: questions, and how to answer them. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")


class Answers:
    """Answers by question, kept as long as the thing that they are about."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, question: Hashable, find: Callable[[], _Answer]) -> _Answer:
        """What ``find`` gave when ``question`` was asked first."""
        if question not in self._known:
            self._known[question] = find()
        known: _Answer = self._known[question]
        return known
