"""GPU texts in NPU words, each translated once.

Comes in: texts and a ``Profile``. Goes out: the texts translated. May touch: nothing; what is handed to a job in the
place of ``TRANSLATION`` may know the answer of an earlier run, and then libcst is not even imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from runner_sync.model import Finding
from runner_sync.profile import Profile
from runner_sync.units import texts


@dataclass(frozen=True, slots=True)
class InNpuWords:
    """A GPU module, translated: its text, its units by name, and which names were left as they are.

    In ``units`` names that the module binds to something of its own (a subclass of the graph wrapper) are GPU names,
    too.
    """

    text: str
    units: Mapping[str, str]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Translation:
    """How a module is translated (its text, the profile, its path), and a unit. Both raise ``InputError`` for what is
    no Python."""

    module: Callable[[str, Profile, str], InNpuWords]
    unit: Callable[[str, Profile], str]


@lru_cache(maxsize=64)
def _module(text: str, profile: Profile, path: str) -> InNpuWords:
    from runner_sync.transforms import translate

    found = translate(text, profile, path=path)
    units = {name: _unit(unit, profile) for name, unit in texts.unit_texts(found.text).items()}
    return InNpuWords(found.text, units, found.findings)


def _unit(text: str, profile: Profile) -> str:
    from runner_sync.transforms import translate_unit

    return translate_unit(text, profile).text


TRANSLATION = Translation(_module, _unit)
"""By ``transforms``, which remember what they have translated as long as the process runs."""
