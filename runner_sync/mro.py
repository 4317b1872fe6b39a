"""The order in which Python looks a method up: C3, "The Python 2.3 Method Resolution Order".

Comes in: classes of whatever kind, and what their bases are. Goes out: the classes in order. May touch: nothing.

Three parts of the program ask for it, each of what it has at hand: `verify.runners.ancestry` of omni's own files, which
is all that `check` in a pull request reads; `verify.trees.classes` of whole trees, with the branches of conditional
bases; the upgrade of the texts that it is about to merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Class = TypeVar("Class")


def linearise(head: Class, bases: Callable[[Class], Iterable[Class]], *, above: tuple[Class, ...] = ()) -> list[Class]:
    """``head`` and what it inherits from, nearest first. What is among its own bases counts once.

    Where C3 has no answer, bases stand in the order in which they are written.
    """
    around = (*above, head)
    parts = [linearise(base, bases, above=around) for base in bases(head) if base not in around]
    return [head, *merge([*parts, [part[0] for part in parts]])[0]]


def merge(sequences: Iterable[Sequence[Class]]) -> tuple[list[Class], bool]:
    """The merge of C3, and whether the sequences agree on one order; where they do not, the first one has its way."""
    pending = [list(sequence) for sequence in sequences if sequence]
    merged: list[Class] = []
    is_agreed = True
    while pending:
        free = (s[0] for s in pending if not any(s[0] in other[1:] for other in pending))
        chosen = next(free, None)
        if chosen is None:
            chosen, is_agreed = pending[0][0], False
        merged.append(chosen)
        pending = [rest for s in pending if (rest := [c for c in s if c != chosen])]
    return merged, is_agreed
