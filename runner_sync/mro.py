"""The order in which Python looks a method up: C3, "The Python 2.3 Method Resolution Order".

Comes in: classes of any type, and a function for their bases. Goes out: the classes in order. May touch: nothing.

Three parts of the program use it, for different classes: `verify.runners.ancestry` for those of omni's own files, all
that `check` reads in a pull request; `verify.trees.classes` for those of whole trees, with alternatives for conditional
bases; ``upgrade`` for those of the texts that it is about to merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Class = TypeVar("Class")


def linearise(head: Class, bases: Callable[[Class], Iterable[Class]], *, above: tuple[Class, ...] = ()) -> list[Class]:
    """``head`` and the classes that it inherits from, nearest first.

    Where C3 has no answer, the order of the first base that still has classes left wins. ``above`` are the classes
    whose bases are being followed: a class that is among its own ancestors is left out there, which ends the recursion.
    """
    path = (*above, head)
    parts = [linearise(base, bases, above=path) for base in bases(head) if base not in path]
    return [head, *merge([*parts, [part[0] for part in parts]])[0]]


def merge(sequences: Iterable[Sequence[Class]]) -> tuple[list[Class], bool]:
    """The merge of C3, and whether the sequences agree on one order. Where they do not, the first one wins."""
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
