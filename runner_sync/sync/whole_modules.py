"""Read runners and GPU twins whole for ``check``, and find out fast that they are.

Comes in: a run's inputs. Goes out: the same, with whole texts. May touch: the omni tree, by reading, and the cache
folder.

To see whether a class has methods elsewhere, ``classes`` parses the modules of all its base classes. That takes longer
than all else if nothing changed since the last run. So the lock tells it of runners, and the last run of twins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner_sync.model import Source
from runner_sync.sources import cache
from runner_sync.sync import recalled
from runner_sync.sync.trees.class_heads import find_class_text
from runner_sync.sync.trees.inputs import Inputs
from runner_sync.sync.trees.runners import DerivedModule, find_modules
from runner_sync.trees import Tree

if TYPE_CHECKING:
    from runner_sync.sync.classes.parted_runners import Parted
    from runner_sync.verify.check import Places

_KIND = "twins"


def read_whole_runners(given: Inputs) -> tuple[Inputs, tuple[Parted, ...]]:
    """Read runners whole that omni has taken apart; with a lock, only those that lack what it records (fast)."""
    if given.lock.entries and not any(_lacks_recorded(derived, given) for derived in find_modules(given)):
        return given, ()
    from runner_sync.sync.classes import parted_runners

    return parted_runners.read_whole_runners(given)


def _lacks_recorded(derived: DerivedModule, given: Inputs) -> bool:
    """Whether the class of a module lacks a method that the lock records, told without parsing."""
    prefix = f"{derived.module.name}."
    names = [entry.qualname for entry in given.lock.of(derived.path) if entry.qualname.startswith(prefix)]
    body = find_class_text(derived.module.name, derived.text)
    have = {*re.findall(r"\n +(?:async )?(?:def )?(\w+)", body)}
    return any(name.removeprefix(prefix).partition("#")[0] not in have for name in names)


def add_whole_twins(given: Inputs) -> Inputs:
    """Return ``given`` with the texts of the twins that are whole in the tree, so that nobody looks again."""
    # Values with equal representations are equal: texts, and dataclasses, tuples and mappings of them.
    key = recalled.make_key(repr((given.profile, given.moves, given.together)))
    whole = _recall(key, given)
    if whole is None:
        recorder = recalled.Recorder(given.omni.read)
        whole = _find_whole(replace(given, omni=_Recorded(given.omni, recorder)))
        if not recorder.has_failed:
            recalled.keep(_KIND, key, whole, recorder.digests)
    texts = {path: text for path in whole if (text := given.omni.read(path)) is not None}
    return replace(given, together={**given.together, **texts})


def find_places(given: Inputs, parted: Sequence[Parted]) -> Places | None:
    """Return `find_real_places`; ``None``, without asking, if the rules read every file as it is."""
    if not parted and all(path in given.together for path in _read_twins(given)):
        return None
    from runner_sync.sync.classes.real_places import find_real_places

    return find_real_places(given, parted)


def _recall(key: str, given: Inputs) -> list[str] | None:
    with suppress(*cache.OTHER_FORM):
        answer = recalled.recall(_KIND, key, given.omni.read)
        return [str(path) for path in answer] if answer is not None else None
    return None


def _find_whole(given: Inputs) -> list[str]:
    from runner_sync.sync.classes.whole_twins import complete_twins

    twins = _read_twins(given)
    return [path for path, text in twins.items() if complete_twins(text, path, given.omni, given) == text]


def _read_twins(given: Inputs) -> dict[str, str]:
    """Return the texts of the GPU twins by path."""
    return {path: text for path in given.profile.twin_paths if (text := given.omni.read(path)) is not None}


@dataclass(frozen=True, eq=False)
class _Recorded:
    """``tree``, with a record of what is read. What else it says is not recorded, so that no answer is kept."""

    tree: Tree
    recorder: recalled.Recorder

    @property
    def source(self) -> Source:
        return self.tree.source

    def read(self, path: str) -> str | None:
        return self.recorder(path)

    def paths(self, prefix: str = "") -> Iterable[str]:
        self.recorder.has_failed = True
        return self.tree.paths(prefix)
