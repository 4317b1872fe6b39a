"""Compute the method resolution order by C3 ("The Python 2.3 Method Resolution Order").

Comes in: classes of any type, and a function for their bases. Goes out: the classes in order. May touch: nothing.

Three parts of the program use it: `verify.runners.ancestry` for classes in omni's own files, which are all that `check`
reads in a pull request; `verify.trees.classes` for classes in whole trees, with alternatives for conditional bases;
``upgrade`` for classes in the texts to merge.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

Class = TypeVar("Class", bound=Hashable)


def linearise(head: Class, bases: Callable[[Class], Iterable[Class]]) -> list[Class]:
    """Return ``head`` and its ancestors, nearest first.

    If C3 has no answer, the order of the first base that still has classes left wins. A class that is its own ancestor
    is skipped there.
    """
    return _linearise(head, bases, (), {})[0]


def _linearise(
    head: Class,
    bases: Callable[[Class], Iterable[Class]],
    above: tuple[Class, ...],
    known: dict[Class, list[Class]],
) -> tuple[list[Class], bool]:
    """Return the order of one class, and whether it is complete: no class was left out because of a cycle.

    ``above`` are the classes whose bases are being followed. ``known`` caches complete orders, so that the bases of a
    common ancestor are followed once.
    """
    if head in known:
        return known[head], True
    path = (*above, head)
    of_head = [*bases(head)]
    found = [_linearise(base, bases, path, known) for base in of_head if base not in path]
    parts = [part for part, _is_whole in found]
    order = [head, *merge([*parts, [part[0] for part in parts]])[0]]
    is_whole = len(found) == len(of_head) and all(is_whole for _part, is_whole in found)
    if is_whole:
        known[head] = order
    return order, is_whole


def merge(sequences: Iterable[Sequence[Class]]) -> tuple[list[Class], bool]:
    """Return the C3 merge, and whether the sequences agree on one order. If they do not, the first sequence wins."""
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
