"""Translates GPU texts to NPU names, each text once.

Comes in: texts and a ``Profile``. Goes out: the translated texts. May touch: nothing. A job may be given another
``Translation`` with the results of an earlier run, so that libcst is not even imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from runner_sync.model import Finding
from runner_sync.profile import Profile
from runner_sync.units import texts


@dataclass(frozen=True, slots=True)
class InNpuWords:
    """A translated GPU module: its text, its units by name, and findings about names that were left unchanged.

    ``units`` are translated further than ``text``: a name that the module rebinds to its own definition, such as a
    subclass of the graph wrapper, still counts as a GPU name there.
    """

    text: str
    units: Mapping[str, str]
    findings: tuple[Finding, ...] = ()


class ModuleTranslator(Protocol):
    """Translates the text of a module at ``path``; ``with_findings`` says whether findings are wanted."""

    def __call__(self, text: str, profile: Profile, /, *, path: str, with_findings: bool) -> InNpuWords: ...


@dataclass(frozen=True, slots=True)
class Translation:
    """Functions that translate a module and a single unit. Both raise ``InputError`` for a text that is not Python."""

    module: ModuleTranslator
    unit: Callable[[str, Profile], str]


@lru_cache(maxsize=64)
def _translate_module(text: str, profile: Profile, *, path: str, with_findings: bool) -> InNpuWords:
    from runner_sync.transforms import translate

    translated = translate(text, profile, path=path, with_findings=with_findings)
    units = {name: _translate_unit(unit, profile) for name, unit in texts.unit_texts(translated.text, path).items()}
    return InNpuWords(translated.text, units, translated.findings)


def _translate_unit(text: str, profile: Profile) -> str:
    from runner_sync.transforms import translate_unit

    return translate_unit(text, profile).text


TRANSLATION = Translation(_translate_module, _translate_unit)
"""Translation by ``transforms``, with results cached for the process."""
