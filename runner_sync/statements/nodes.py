"""The node: one statement head, clause or comment line, and the properties by which nodes are compared.

Comes in and goes out: frozen values. May touch: nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword

from runner_sync.statements.facts import DECORATORS, NOTHING, Facts, read_facts

INDENT = 4
"""Blanks per level: a runner with another indentation is refused."""

ROOT = -1
"""The parent of statements that stand in no other."""

EXITS = frozenset({"return", "raise", "break", "continue"})
JUMPS = EXITS - {"raise"}
"""Keywords of statements behind which their suite does not go on, and of those that raise nothing."""

WITHS = frozenset({"with", "async with"})
WRAPPERS = WITHS | {"try"}
"""Keywords of heads whose suite runs once, as it would without them."""

COMMENT_WEIGHT = 0.3
COMMON_WEIGHT = 0.4
LONGEST = 120
PER_WEIGHT = 60
"""The components of ``Node.weight``: a comment or ``else:`` weighs little, any other statement 1, plus 1 for every
``PER_WEIGHT`` characters up to ``LONGEST``. Only the order of the weights matters."""


class UnparsableText(ValueError):
    """The text of a unit is not Python; ``line`` is the 1-based line of the error in it."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Node:
    """One statement head, clause or comment line.

    ``lines`` are its physical lines without the indentation of the first; ``frozen`` are the offsets of lines that
    begin inside a string and must never be re-indented. ``parent`` and ``owner`` are indices into the sequence
    (``ROOT`` for none): ``parent`` is the head of the suite, ``owner`` the statement that a clause belongs to (the
    ``if`` of an ``else``). ``blanks`` is the number of blank lines above, ``start`` the 1-based line in the text.
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

    def __hash__(self) -> int:
        # The generated method would hash all fields, which takes ten times as long.
        return hash((self.canon, self.start))

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def end(self) -> int:
        """The last of its lines in the text (1-based)."""
        return self.start - 1 + len(self.lines)

    def indented(self, margin: str) -> list[str]:
        """Return its lines behind ``margin``, except for those that begin inside a string."""
        return [line if k in self.frozen or not line else margin + line for k, line in enumerate(self.lines)]

    @property
    def is_comment(self) -> bool:
        return self.kind == "comment"

    @property
    def is_clause(self) -> bool:
        return self.kind == "clause"

    @cached_property
    def words(self) -> Counter[str]:
        """The multiset of the names, numbers and operators of ``canon``."""
        return Counter(_WORD.findall(self.canon))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in ``canon`` without keywords and ``self``."""
        return frozenset(word for word in self.words if word.isidentifier() and not iskeyword(word)) - {"self"}

    @cached_property
    def facts(self) -> Facts:
        """What the statement sets, reads, calls and defines; ``NOTHING`` for a comment."""
        return NOTHING if self.is_comment else read_facts(self.canon, self.compound, self.is_clause)

    @cached_property
    def keyword(self) -> str:
        """The keyword at the start, after any decorators (``if``, ``async for``, ``return``), else empty."""
        match = None if self.is_comment else _FIRST_WORD.match(DECORATORS.sub("", self.canon))
        return match[0] if match is not None and iskeyword(match[0].partition(" ")[0]) else ""

    @property
    def is_loop(self) -> bool:
        """Whether this is the head of a loop."""
        return self.keyword in ("for", "while", "async for")

    @property
    def is_with(self) -> bool:
        """Whether this is the head of a ``with``."""
        return self.keyword in WITHS

    @property
    def is_condition(self) -> bool:
        """Whether this is the head of a suite that may not run, or may run more than once."""
        return self.is_loop or self.keyword in ("if", "elif", "else", "except")

    @property
    def defines(self) -> str:
        """The name of the function or class that this head defines, else empty."""
        return self.facts.defines

    @property
    def called(self) -> str:
        """The function called by a statement that is just a call, else empty."""
        return "" if self.facts.targets else self.facts.called

    @cached_property
    def made_by(self) -> str:
        """The targets and the function of an assigned call (``a, b = self.f``, without the arguments), or the attribute
        that is unpacked into any names (``self.state``); else empty."""
        facts = self.facts
        if facts.targets and facts.called:
            return f"{', '.join(facts.targets)} = {facts.called}"
        return facts.value if len(facts.targets) > 1 and facts.value.startswith("self.") else ""

    @property
    def is_telling(self) -> bool:
        """Whether the text identifies the node, unlike a comment, a docstring, ``else`` or ``return``."""
        return not self.is_comment and self.kind != "docstring" and self.canon not in _COMMON

    @cached_property
    def weight(self) -> float:
        """How strongly an equal node suggests the same place: a long statement does, ``else:`` hardly."""
        if self.is_comment:
            return COMMENT_WEIGHT
        if self.canon in _COMMON:
            return COMMON_WEIGHT
        return 1.0 + min(len(self.canon), LONGEST) / PER_WEIGHT


_FIRST_WORD = re.compile(r"(?:async )?\w+")
_WORD = re.compile(r"\w+|[^\w\s,()'\"]")
_COMMON = frozenset({"return", "pass", "continue", "break", "try", "else", "finally", "return None"})
