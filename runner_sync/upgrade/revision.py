"""One module of an upstream, or of the GPU twin, at one revision.

Comes in: texts. Goes out: frozen dataclasses, which cut a text into units on demand. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runner_sync.units import texts


@dataclass(frozen=True, slots=True)
class ModuleRevision:
    """One module of an upstream at one revision; ``ref`` is a version or a short commit.

    If not ``is_base``, the revision is read only to learn what the next release introduced, and is never a merge base.
    One that ``is_named`` is the base that an option names.
    """

    ref: str
    text: str
    path: str = ""
    is_base: bool = True
    is_named: bool = False

    @property
    def units(self) -> Mapping[str, str]:
        """The texts of its units, by qualified name."""
        return texts.unit_texts(self.text, self.path)

    def members(self, class_name: str) -> dict[str, str]:
        """Return the texts of a class's members, by their plain names."""
        return texts.members(self.text, class_name, self.path)

    def bases_of(self, class_name: str) -> set[str]:
        """Return the base expressions of a class; empty without the class."""
        return {base.expression for base in texts.bases_of(self.text, class_name, self.path)}


@dataclass(frozen=True, slots=True)
class GpuBase:
    """The GPU twin at one omni revision; ``load_vllm`` loads, on demand, vLLM's module that the twin was made for."""

    side: ModuleRevision
    load_vllm: Callable[[], ModuleRevision | None]

    @property
    def vllm(self) -> ModuleRevision | None:
        return self.load_vllm()
