"""Find the upstream text that each unit of the runners was copied from, for commands that only read.

Runners that follow vLLM were made for the one that their omni tree declares.

Comes in: options, trees, modules. Goes out: ``Base`` values by unit, and a version. May touch: what
``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from packaging.version import Version

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.model import BaseRef
from runner_sync.sync import memo
from runner_sync.sync.classes.whole_classes import read_whole
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.synced.bases import Bases
from runner_sync.sync.trees import inputs, pairs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import Tree
from runner_sync.units.texts import unit_texts
from runner_sync.upgrade import Base, ModuleRevision, find_base


def find_candidates(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]
) -> Iterator[tuple[DerivedModule, tuple[ModuleRevision, ...]]]:
    """Yield each module with the upstream revisions that it may have been copied from, oldest first.

    Without a followed tree these are the revisions that the lock names; without a lock there are none.
    """
    if given.followed is None:
        yield from _find_locked_candidates(options, given, modules)
        return
    bases = Bases(to_upgrade_options(options), given, modules)
    for derived in modules:
        yield derived, bases.find_upstream_bases(derived)


def _find_locked_candidates(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]
) -> Iterator[tuple[DerivedModule, tuple[ModuleRevision, ...]]]:
    """Yield each module with the revisions that the lock names for its units."""
    trees: dict[str, Tree] = {}
    for derived in modules:
        path = derived.module.anchor.path
        upstreams = [entry.upstream for entry in given.lock.of(derived.path)]
        refs = sorted({upstream.ref for upstream in upstreams if upstream is not None})
        for ref in refs:
            trees[ref] = trees.get(ref) or pairs.open_followed_at(ref, given, options)
        yield (
            derived,
            tuple(
                ModuleRevision(ref, text, path)
                for ref in refs
                if (text := read_whole(trees[ref], path, given)) is not None
            ),
        )


def to_upgrade_options(options: CheckOptions) -> UpgradeOptions:
    """Return options of an upgrade that name the same trees and bases."""
    return UpgradeOptions(
        omni=options.omni,
        ascend=options.ascend,
        vllm=options.vllm,
        ascend_base=options.ascend_base,
        omni_base=options.omni_base,
        vllm_base=options.vllm_base,
        config=options.config,
        profile=options.profile,
        progress=options.progress,
    )


def infer_bases(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]
) -> Iterator[tuple[DerivedModule, Mapping[str, Base]]]:
    """Yield each module with the bases of its copies, by unit."""
    for derived, candidates in find_candidates(options, given, modules):
        units = unit_texts(derived.text, derived.path).items()
        yield (
            derived,
            {unit: base for unit, text in units if (base := find_copied_base(unit, text, derived, candidates))},
        )


def find_copied_base(
    unit: str, text: str, derived: DerivedModule, candidates: Sequence[ModuleRevision], *, locked: BaseRef | None = None
) -> Base | None:
    """Return the base of a unit that is a copy by its text or the lock; ``None`` for any other unit."""
    base = find_base(unit, text, derived.module, candidates, locked=locked, infer=memo.closest)
    return base if base is not None and (base.kind == "copy" or base.ref.how == "lock") else None


def find_declared_base(options: UpgradeOptions, given: inputs.Inputs) -> str | None:
    """Return the vLLM that the omni tree declares, if its runners follow vLLM and no option or lock gives their base.

    Earlier upgrades left out what the copies lack of that vLLM. On the rebases of seven vllm-omni pull requests (0.18.0
    to 0.27.0) an inferred base leaves 718 lines to do, this one 432. Returns ``None`` if that vLLM cannot be read, or
    is not older than the one to follow.
    """
    followed = given.followed
    is_told = options.vllm_base is not None or any(entry.upstream for entry in given.lock.entries)
    if followed is None or followed.source.project != "vllm" or not options.upstream or is_told:
        return None
    base, now = sources.declared_vllm(given.omni), followed.source.version
    if base is None or (now is not None and Version(base) >= Version(now)):
        return None
    try:
        inputs.open_at("vllm", base, followed, options.progress)
    except InputError:
        return None
    return base
