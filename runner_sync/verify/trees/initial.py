"""Whether an object has an attribute as soon as its ``__init__`` has run.

Comes in: a `Runtime` and an MRO of it. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

from runner_sync.verify.trees.classes import Mro
from runner_sync.verify.trees.functions import words_of
from runner_sync.verify.trees.runtime import Runtime
from runner_sync.verify.trees.values.giving import can_create


def is_set_at_start(program: Runtime, mro: Mro, name: str) -> bool:
    """Whether a class body, an ``__init__``, or a live method that these may call, defines an attribute."""
    started = _find_started(program, mro)
    assigned = (a for info, a in program.assignments(mro, name) if can_create(info, a, name))
    return mro.has_method(name) or any(a.function is None or a.function.name in started for a in assigned)


def _find_started(program: Runtime, mro: Mro) -> set[str]:
    """Return ``__init__``, and the methods that it, or a method that it may call, mentions."""
    return program.answers.once((_find_started, mro), lambda: _follow(program, mro))


def _follow(program: Runtime, mro: Mro) -> set[str]:
    found, fresh = set[str](), {"__init__"}
    while fresh:
        found |= fresh
        words = frozenset[str]().union(*(words_of(f) for _, f in program.live(mro).values() if f.name in fresh))
        fresh = {f.name for _, f in program.live(mro).values() if f.name in words} - found
    return found
