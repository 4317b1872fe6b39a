"""The node: one statement head, clause or comment line, and what two nodes are compared by.

Comes in and goes out: frozen values. May touch: nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword

from runner_sync.statements.facts import DECORATORS, NOTHING, Facts, facts_of

INDENT = 4
ROOT = -1

COMMENT_WEIGHT = 0.3
COMMON_WEIGHT = 0.4
LONGEST = 120
PER_WEIGHT = 60
"""What ``Node.weight`` is made of: a comment or ``else:`` weighs little, any other statement 1 and another 1 for every
``PER_WEIGHT`` characters, up to ``LONGEST``. The unit is its own; what counts is the order that it makes."""


class UnparsableText(ValueError):
    """The text of a unit is no Python. ``line`` is 1-based within the text."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Node:
    """One statement head, clause or comment line.

    ``lines`` are its physical lines without the indentation of the first; ``frozen`` are the offsets of those lines
    that begin inside a string and must never be re-indented. ``parent`` and ``owner`` are indices into the sequence
    (``ROOT`` for none); ``owner`` is the ``if`` of an ``else``, the ``try`` of an ``except``. ``start`` is the 1-based
    line of the text.
    """

    kind: str
    canon: str
    lines: tuple[str, ...]
    frozen: frozenset[int]
    parent: int
    owner: int
    blanks: int
    start: int
    compound: bool
    one_line: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_comment(self) -> bool:
        return self.kind == "comment"

    @property
    def is_clause(self) -> bool:
        return self.kind == "clause"

    @cached_property
    def words(self) -> Counter[str]:
        """Multiset of the names, numbers and operators of ``canon``."""
        return Counter(_words(self.canon))

    @cached_property
    def names(self) -> frozenset[str]:
        """The words that say what it is about: no keyword, no operator, not ``self``."""
        return frozenset(word for word in self.words if word.isidentifier() and not iskeyword(word)) - {"self"}

    @cached_property
    def facts(self) -> Facts:
        """What it says."""
        return NOTHING if self.is_comment else facts_of(self.canon, self.compound, self.is_clause)

    @cached_property
    def keyword(self) -> str:
        """The keyword that it begins with, behind any decorators (``if``, ``async for``, ``return``), else empty."""
        match = None if self.is_comment else _FIRST_WORD.match(DECORATORS.sub("", self.canon))
        return match[0] if match is not None and iskeyword(match[0].partition(" ")[0]) else ""

    @property
    def is_loop(self) -> bool:
        """Whether it is the head of a loop."""
        return self.keyword in ("for", "while", "async for")

    @property
    def is_condition(self) -> bool:
        """Whether it is the head of a suite that may run not at all, or more than once."""
        return self.is_loop or self.keyword in ("if", "elif", "else", "except")

    @property
    def defines(self) -> str:
        """Name of the function or class that this head defines, else empty."""
        return self.facts.defines

    @property
    def called(self) -> str:
        """The function that a statement which is a call calls, else empty."""
        return "" if self.facts.targets else self.facts.called

    @cached_property
    def made_by(self) -> str:
        """What it binds and the function whose value it binds there (``a, b = self.f``), or the attribute that it takes
        apart, whatever into (``self.state``); else empty."""
        facts = self.facts
        if facts.targets and facts.called:
            return f"{', '.join(facts.targets)} = {facts.called}"
        return facts.value if len(facts.targets) > 1 and facts.value.startswith("self.") else ""

    @property
    def is_telling(self) -> bool:
        """Whether it says enough to be known by: no comment, no docstring, and nothing like ``else`` and ``return``."""
        return not self.is_comment and self.kind != "docstring" and self.canon not in _COMMON

    @cached_property
    def weight(self) -> float:
        """How much evidence an equal pair is: long statements identify a place, ``else:`` does not."""
        if self.is_comment:
            return COMMENT_WEIGHT
        if self.canon in _COMMON:
            return COMMON_WEIGHT
        return 1.0 + min(len(self.canon), LONGEST) / PER_WEIGHT


_FIRST_WORD = re.compile(r"(?:async )?\w+")
_COMMON = frozenset({"return", "pass", "continue", "break", "try", "else", "finally", "return None"})


def _words(canon: str) -> Iterator[str]:
    word = ""
    for char in canon:
        if char.isalnum() or char == "_":
            word += char
            continue
        if word:
            yield word
            word = ""
        if not char.isspace() and char not in ",()'\"":
            yield char
    if word:
        yield word
