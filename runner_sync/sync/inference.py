"""Which vllm-ascend text each unit of the runners was copied from, without changing anything.

Comes in: options, trees, modules. Goes out: ``Base`` values by unit. May touch: what ``sources`` touches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync import lineage
from runner_sync.lock import digest
from runner_sync.model import BaseRef, Tree
from runner_sync.sync import inputs, pairs
from runner_sync.sync.bases import Bases
from runner_sync.sync.options import CheckOptions, UpgradeOptions
from runner_sync.sync.runners import Found
from runner_sync.units import texts
from runner_sync.upgrade.job import Side


@dataclass(frozen=True, slots=True)
class Base:
    """Where a copy is from: the reference, the module it names, and the unit's text in it."""

    ref: BaseRef
    side: Side
    text: str


def sides(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[Found]
) -> Iterator[tuple[Found, tuple[Side, ...]]]:
    """For each module, the vllm-ascend revisions of its upstream that it may have been copied from, oldest first.

    Without a vllm-ascend they are those that the lock names; without either there are none.
    """
    if given.ascend is None:
        yield from _locked_sides(options, given, modules)
        return
    bases = Bases(as_upgrade(options), given, modules)
    for found in modules:
        yield found, bases.upstream_bases(found)


def _locked_sides(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[Found]
) -> Iterator[tuple[Found, tuple[Side, ...]]]:
    trees: dict[str, Tree] = {}
    for found in modules:
        path = found.module.upstreams[0].path
        upstreams = [entry.upstream for entry in given.lock.entries if entry.path == found.path]
        refs = sorted({upstream.ref for upstream in upstreams if upstream is not None})
        for ref in refs:
            trees[ref] = trees.get(ref) or pairs.at_ascend(ref, given, options)
        yield found, tuple(Side(ref, text, path) for ref in refs if (text := trees[ref].read(path)) is not None)


def as_upgrade(options: CheckOptions) -> UpgradeOptions:
    """The same trees and bases as options of an upgrade."""
    return UpgradeOptions(
        omni=options.omni,
        ascend=options.ascend,
        vllm=options.vllm,
        ascend_base=options.ascend_base,
        vllm_base=options.vllm_base,
        config=options.config,
        progress=options.progress,
    )


def infer_bases(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[Found]
) -> Iterator[tuple[Found, Mapping[str, Base]]]:
    """For each module, the base of every unit that is a copy."""
    for found, candidates in sides(options, given, modules):
        yield (
            found,
            {unit: base for unit, text in _units(found).items() if (base := base_of(unit, text, found, candidates))},
        )


def _units(found: Found) -> Mapping[str, str]:
    return texts.unit_texts(found.text, found.path)


def base_of(
    unit: str, text: str, found: Found, candidates: Sequence[Side], *, locked: BaseRef | None = None
) -> Base | None:
    """What a unit is a copy of: the text that the lock names, where it is at hand, else the closest one.

    ``None`` for a thin override, and for what is omni's own.
    """
    anchor = found.module.upstreams[0]
    name = upstream_name(unit, found)
    namesakes = {side.ref: (side, units[name]) for side in candidates if name in (units := _of(side))}
    if locked is not None and locked.ref in namesakes and digest(namesakes[locked.ref][1]) == locked.digest:
        side, body = namesakes[locked.ref]
        return Base(locked, side, body)
    origin = lineage.infer(text, [lineage.Candidate(ref, body) for ref, (_, body) in namesakes.items()])
    if origin is None or not (lineage.kind_of(text, origin) == "copy" or _is_same_record(text, origin.text)):
        return None
    side, body = namesakes[origin.ref]
    score = round(origin.similarity, 3)
    how = "composite" if origin.composite else "inferred"
    ref = BaseRef(anchor.project, origin.ref, anchor.path, name, how, score, digest(body))
    return Base(ref, side, body)


def _is_same_record(text: str, other: str) -> bool:
    """Whether two record classes have most fields in common; their types are hints that people change freely."""
    mine, theirs = set(_FIELD.findall(text)), set(_FIELD.findall(other))
    return re.search(r"^class ", text, re.MULTILINE) is not None and 2 * len(mine & theirs) > len(mine | theirs)


_FIELD = re.compile(r"^    (\w+) *:", re.MULTILINE)


def upstream_name(unit: str, found: Found) -> str:
    """Qualified name that a unit has in the upstream module."""
    anchor = found.module.upstreams[0]
    return f"{anchor.name}.{unit.rpartition('.')[2]}" if "." in unit else unit


def _of(side: Side) -> Mapping[str, str]:
    return texts.unit_texts(side.text, side.path)
