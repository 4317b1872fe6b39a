"""Which derived modules an omni tree has.

Comes in: ``Inputs``. Goes out: ``Found`` values. May touch: the omni tree, by reading. Imports nothing heavy: ``check``
runs in every pull request.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner_sync.errors import InputError
from runner_sync.profile import RunnerModule
from runner_sync.sync import inputs


@dataclass(frozen=True, slots=True)
class Found:
    """A derived module that the omni tree has."""

    module: RunnerModule
    path: str
    text: str


def find_modules(given: inputs.Inputs) -> list[Found]:
    """The derived modules of the omni tree, in the profile's order. Raises ``InputError`` when it has none."""
    found = []
    for module in given.profile.modules:
        place = inputs.read_first(given.omni, module.paths)
        if place is not None:
            found.append(Found(module, *place))
    if not found:
        looked = " or ".join(given.profile.modules[0].paths)
        raise InputError(f"{given.omni.source.location} has no NPU runners ({looked}): is it a vllm-omni tree?")
    return found
