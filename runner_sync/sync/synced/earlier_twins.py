"""Add the GPU twins' earlier revisions that ``check`` compares with, if no lock records the twins.

Comes in: options, trees, the input of the rules. Goes out: the same with earlier texts of the twins, and notes. May
touch: what ``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync.errors import InputError
from runner_sync.sync.memo import recall
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.synced.inference import to_upgrade_options
from runner_sync.sync.synced.revisions import Revisions
from runner_sync.sync.synced.twin_bases import TwinBases
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.trees import InGit
from runner_sync.upgrade import ModuleRevision
from runner_sync.verify.check_job import CheckModule


def add_earlier_twins(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], described: Sequence[CheckModule]
) -> tuple[tuple[CheckModule, ...], Sequence[str]]:
    """Add the earlier texts of the twins to ``described``, with notes on their revisions.

    Raises ``InputError`` if they cannot be read.
    """
    revisions = Revisions(given, options.progress)
    without = "what NPU has of an earlier GPU runner is not looked for (RS208)"
    twins = TwinBases(to_upgrade_options(options), given, modules, revisions, without=without)
    try:
        found = [
            replace(module, gpu_units={side.ref: _read_units(side) for side in twins.find_sides(one)})
            if module.gpu_text
            else module
            for module, one in zip(described, modules, strict=True)
        ]
    except InputError as error:
        why = str(error).rstrip(".")
        if options.omni_base is not None:
            place = "" if isinstance(given.omni, InGit) else "; a tree without history takes a release"
            raise InputError(f"--omni-base {options.omni_base}: {why}{place}.") from error
        raise InputError(
            f"the GPU runners of earlier releases cannot be read ({why}): name a revision that is at hand with "
            "--omni-base, or leave out what needs them with --ignore RS208."
        ) from error
    compared = list(dict.fromkeys(ref for module in found for ref in module.gpu_units))
    if compared and options.omni_base is None and all(map(inputs.is_version, compared)):
        revisions.add_note(
            f"the GPU runners were compared with those of vllm-omni {compared[0]} to {compared[-1]} (RS208); "
            "--omni-base names an older one"
        )
    return tuple(found), [*twins.make_notes(), *revisions.notes]


def _read_units(side: ModuleRevision) -> Mapping[str, str]:
    """Return the units of one revision, by qualified name."""
    found: dict[str, str] = recall("units", [side.path, side.text], lambda: dict(side.units))
    return found
