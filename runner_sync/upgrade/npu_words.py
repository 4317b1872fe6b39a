"""GPU texts translated to NPU names, each text once.

Comes in: texts and a ``Profile``. Goes out: the translated texts. May touch: nothing; a job may be given another
``Translation`` that has the results of an earlier run, and then libcst is not even imported.
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
    """A translated GPU module: its text, its units by name, and findings about names that were left as they are.

    ``units`` are translated further than ``text``: also names that the module rebinds to something of its own, such as
    a subclass of the graph wrapper, are treated as GPU names there.
    """

    text: str
    units: Mapping[str, str]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Translation:
    """Functions that translate a module (given its text, the profile, its path, and whether findings are wanted) and a
    single unit.

    Both raise ``InputError`` if the text is no Python.
    """

    module: Callable[[str, Profile, str, bool], InNpuWords]
    unit: Callable[[str, Profile], str]


@lru_cache(maxsize=64)
def _module(text: str, profile: Profile, path: str, with_findings: bool) -> InNpuWords:
    from runner_sync.transforms import translate

    found = translate(text, profile, path=path, with_findings=with_findings)
    units = {name: _unit(unit, profile) for name, unit in texts.unit_texts(found.text, path).items()}
    return InNpuWords(found.text, units, found.findings)


def _unit(text: str, profile: Profile) -> str:
    from runner_sync.transforms import translate_unit

    return translate_unit(text, profile).text


TRANSLATION = Translation(_module, _unit)
"""Translation by ``transforms``, with results cached for the process."""
