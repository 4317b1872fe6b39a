"""Do the upgraded runners fit the trees they were made for?

Comes in: the trees and the results. Goes out: findings. May touch: the trees, by reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from runner_sync.model import Finding, Source, Tree
from runner_sync.sources.layout import is_below
from runner_sync.sync import inputs
from runner_sync.sync.options import UpgradeOptions
from runner_sync.upgrade import ModuleResult, is_selected
from runner_sync.verify import breakage
from runner_sync.verify.idle import Idle
from runner_sync.verify.world import World


@dataclass(frozen=True)
class Overlay:
    """A tree with some files exchanged."""

    tree: Tree
    texts: dict[str, str]

    @property
    def source(self) -> Source:
        return self.tree.source

    def read(self, path: str) -> str | None:
        return self.texts[path] if path in self.texts else self.tree.read(path)

    def paths(self, prefix: str = "") -> Iterable[str]:
        return [path for path in self._paths if is_below(path, prefix)]

    @cached_property
    def _paths(self) -> list[str]:
        return sorted({*self.tree.paths(), *self.texts})


def new_breakage(
    given: inputs.Inputs, results: Sequence[ModuleResult], options: UpgradeOptions
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Breakage that the upgraded modules have in the target trees, and notes on what they inherit."""
    if given.ascend is None or given.vllm is None or options.conflict == "inline":
        return (), ()
    options.progress("verifying", 0, 1)
    omni = Overlay(given.omni, {result.path: result.after for result in results})
    world = World({**given.trees, "vllm-omni": omni}, surroundings=given.profile.surroundings)
    paths = [result.path for result in results]
    found = breakage.find(world, None, paths, since=world.with_omni(given.omni))
    inherited, idle = breakage.find_inherited(world, paths)
    options.progress("verifying", 1, 1)
    return tuple(found), (
        *_note(inherited),
        *_never_set([one for one in idle if is_selected(one.unit, options.only)]),
    )


def _never_set(idle: Sequence[Idle]) -> Iterator[str]:
    """One sentence per attribute that would fail where it is read, though the MRO has a method that sets it."""
    reads: dict[tuple[str, str, str], list[str]] = {}
    for one in idle:
        reads.setdefault((one.attribute, one.setter, one.place), []).append(f"{one.unit} ({one.where})")
    for (attribute, setter, place), units in reads.items():
        said = f"nothing on NPU calls {setter} ({place}), and nothing else sets self.{attribute}"
        yield f"{said}, read in {', '.join(units)}; a run that gets there fails."


def _note(inherited: Sequence[Finding]) -> Iterator[str]:
    """One sentence on GPU code that an upgrade of the NPU runners leaves as it is, and that runs on NPU."""
    units: dict[str, list[str]] = {}
    for finding in inherited:
        symbols = units.setdefault(f"{finding.path} {finding.unit}", [])
        symbols += [finding.symbol] if finding.symbol not in symbols else []
    if units:
        told = "; ".join(f"{unit} ({', '.join(symbols)})" for unit, symbols in units.items())
        said = "the NPU runners inherit GPU code that does not fit the target trees"
        yield f"{said}: {told}. Bring the GPU runners to this vLLM first."
