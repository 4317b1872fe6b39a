"""Translates GPU texts to upstream's new names for locals, too.

Comes in: a ``Translation`` and new names. Goes out: a ``Translation``. May touch: nothing.

A twin's method calls a local as omni's copy did until that followed vllm-ascend's new name. Otherwise each statement
with the name would seem to differ::

    the copy   hidden = self.model(rows)         the twin   hidden_states = self.model(rows)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from runner_sync import merge
from runner_sync.profile import Profile
from runner_sync.upgrade.npu_words import InNpuWords, Translation

NewNames = Mapping[str, str]


def with_new_names(translation: Translation, new_names: Mapping[str, NewNames]) -> Translation:
    """Return a translation that also renames locals of units; ``new_names`` has the names of each, by its NPU name.

    A local keeps its name in a text that has the new one for something else.
    """
    if not any(new_names.values()):
        return translation
    of_member = dict(_list_unambiguous(new_names))

    @lru_cache(maxsize=64)
    def translate_module(text: str, profile: Profile, path: str, with_findings: bool) -> InNpuWords:
        found = translation.module(text, profile, path, with_findings)
        units = {name: merge.rename_where_free(unit, new_names.get(name, {})) for name, unit in found.units.items()}
        return replace(found, units=units)

    def translate_unit(text: str, profile: Profile) -> str:
        defined = _DEFINED.search(text)
        names = of_member.get(defined[1], {}) if defined is not None else {}
        return merge.rename_where_free(translation.unit(text, profile), names)

    return Translation(translate_module, translate_unit)


def _list_unambiguous(new_names: Mapping[str, NewNames]) -> Iterator[tuple[str, NewNames]]:
    """Yield each method's name and its new names, unless the method of another class has others."""
    for name, names in new_names.items():
        member = name.rpartition(".")[2]
        if all(others == names for other, others in new_names.items() if other.rpartition(".")[2] == member):
            yield member, names


_DEFINED = re.compile(r"^\s*(?:async )?def (\w+)", re.MULTILINE)
