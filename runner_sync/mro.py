"""The order in which Python looks a method up: C3, "The Python 2.3 Method Resolution Order".

Comes in: classes of any type, and a function for their bases. Goes out: the classes in order. May touch: nothing.

Three parts of the program use it, for different classes: `verify.runners.ancestry` for those of omni's own files, all
that `check` reads in a pull request; `verify.trees.classes` for those of whole trees, with alternatives for conditional
bases; ``upgrade`` for those of the texts that it is about to merge.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

Class = TypeVar("Class", bound=Hashable)


def linearise(head: Class, bases: Callable[[Class], Iterable[Class]]) -> list[Class]:
    """``head`` and the classes that it inherits from, nearest first.

    Where C3 has no answer, the order of the first base that still has classes left wins. A class that is among its own
    ancestors is left out there.
    """
    return _linearised(head, bases, (), {})[0]


def _linearised(
    head: Class,
    bases: Callable[[Class], Iterable[Class]],
    above: tuple[Class, ...],
    known: dict[Class, list[Class]],
) -> tuple[list[Class], bool]:
    """The order of one class, and whether it is the same wherever the class stands: no class of it was left out.

    ``above`` are the classes whose bases are being followed, ``known`` the orders of that kind found so far: of classes
    that many inherit from, the bases are followed once.
    """
    if head in known:
        return known[head], True
    path = (*above, head)
    of_head = [*bases(head)]
    found = [_linearised(base, bases, path, known) for base in of_head if base not in path]
    parts = [part for part, _is_whole in found]
    order = [head, *merge([*parts, [part[0] for part in parts]])[0]]
    is_whole = len(found) == len(of_head) and all(is_whole for _part, is_whole in found)
    if is_whole:
        known[head] = order
    return order, is_whole


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
