"""Trace the statements of NPU runners and GPU twins to the texts that they may come from.

Comes in: options and trees. Goes out: ``Traced`` values, each a unit with its spans. May touch: what ``sources``
touches.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync import lineage
from runner_sync.digests import digest
from runner_sync.lineage.provenance import Known, Span, trace
from runner_sync.markers import read_markers
from runner_sync.model import TITLES, BaseRef, Lineage, Source, Unit
from runner_sync.sync.classes.whole_classes import read_whole, read_whole_twin
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.synced.inference import (
    find_candidates,
    find_copied_base,
    find_declared_base,
    to_upgrade_options,
)
from runner_sync.sync.trees import inputs, pairs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.syntax import walk
from runner_sync.transforms import translate_unit
from runner_sync.trees import Tree
from runner_sync.units.splitting import parse
from runner_sync.units.texts import unit_table
from runner_sync.upgrade import Base, ModuleRevision, name_in_upstream


@dataclass(frozen=True, slots=True)
class Traced:
    """One unit: its base if it is a copy, its GPU twin, and the origin of each statement."""

    unit: Unit
    kind: Lineage
    base: BaseRef | None
    gpu: BaseRef | None
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Trees:
    """The texts that statements are traced to.

    ``sides`` maps each NPU path to the upstream revisions that the module may have been copied from. ``vllm`` is the
    vLLM that the omni tree is made for.
    """

    given: inputs.Inputs
    modules: tuple[DerivedModule, ...]
    sides: Mapping[str, tuple[ModuleRevision, ...]]
    vllm: Tree | None
    declared_base: str | None = None
    """The vLLM that an upgrade takes as the base of all copies."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources that were read; of two vLLMs, the last is the one that omni is made for."""
        extra = () if self.vllm is None or self.vllm is self.given.vllm else (self.vllm.source,)
        return (*self.given.sources, *extra)

    @property
    def knows_upstream(self) -> bool:
        """Whether an upstream revision of any module is at hand."""
        return any(self.sides.values())


def gather_trees(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], *, with_vllm: bool = True
) -> Trees:
    """Collect the upstream revisions that options or the lock name, and the vLLM that omni is made for.

    A run that names only a folder fetches no vLLM, and only the locked revisions of the followed project.
    """
    known = {derived.path: candidates for derived, candidates in find_candidates(options, given, modules)}
    near = [tree for tree in (given.vllm,) if tree is not None]
    is_online = bool(near) or given.followed is not None or options.omni.version is not None
    vllm = pairs.open_vllm_of_omni(options, given, near) if is_online and with_vllm else None
    return Trees(given, tuple(modules), known, vllm, find_declared_base(to_upgrade_options(options), given))


def find_marked_lines(text: str, path: str, given: inputs.Inputs) -> frozenset[int]:
    """Return the lines that markers claim for omni.

    A loose comment such as ``# [Omni]`` claims the statement below it. Raises ``InputError`` for a text that does not
    parse.
    """
    markers = read_markers(text, path=path, label=given.profile.marker)
    loose = [marker.line for marker in markers.lines if marker.kind == "loose"]
    return markers.marked | (_extend_to_statements(parse(text, path=path), loose) if loose else frozenset())


def _extend_to_statements(tree: ast.Module, lines: Collection[int]) -> frozenset[int]:
    """Extend each of ``lines`` to the end of the next statement below it."""
    starts: dict[int, int] = {}
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            starts[node.lineno] = max(starts.get(node.lineno, 0), node.end_lineno or node.lineno)
    claimed: set[int] = set()
    for line in lines:
        below = min((start for start in starts if start > line), default=None)
        if below is not None:
            claimed |= set(range(line, starts[below] + 1))
    return frozenset(claimed)


def trace_npu(trees: Trees, derived: DerivedModule) -> Iterator[Traced]:
    """Trace the units of an NPU module to the followed project and to the GPU twin."""
    given = trees.given
    marked = find_marked_lines(derived.text, derived.path, given)
    twins = find_twins(given, derived)
    locked = {entry.qualname: entry.upstream for entry in given.lock.of(derived.path)}
    for name, unit in unit_table(derived.text, derived.path).items():
        base = find_copied_base(name, unit.text, derived, trees.sides[derived.path], locked=locked.get(name))
        known = _find_upstream_versions(derived, name, trees, base)
        twin = twins.get(name)
        gpu = Known(twin.path, translate_unit(twin.text, given.profile).text, twin.start) if twin is not None else None
        kind: Lineage = "copy" if base is not None else "override" if known else "own"
        spans = trace(unit, known if base is not None else (), gpu, marked=marked)
        ref = _make_twin_ref(unit, twin, given) if twin is not None else None
        yield Traced(unit, kind, base.ref if base is not None else None, ref, tuple(spans))


def find_twins(given: inputs.Inputs, derived: DerivedModule) -> dict[str, Unit]:
    """Return the units of the module's GPU twin by their NPU names."""
    text = read_whole_twin(derived.module, given)
    if text is None or derived.module.gpu is None:
        return {}
    table = unit_table(text, derived.module.gpu.path)
    return {given.profile.npu_name(name): unit for name, unit in table.items()}


def _find_upstream_versions(derived: DerivedModule, name: str, trees: Trees, base: Base | None) -> list[Known]:
    """Return the upstream unit in every revision that has it: what an upgrade takes as base, then newest to oldest."""
    upstream, candidates = name_in_upstream(name, derived.module), trees.sides[derived.path]
    chosen = [side for side in candidates if side.ref == trees.declared_base]
    chosen += [base.side] if base is not None and base.side not in chosen else []
    ordered = [*chosen, *(side for side in reversed(candidates) if side not in chosen)]
    tables = [(side, unit_table(side.text, side.path)) for side in ordered]
    return [
        Known(f"{TITLES[derived.module.anchor.project]} {side.ref}", table[upstream].text, table[upstream].start)
        for side, table in tables
        if upstream in table
    ]


def _make_twin_ref(unit: Unit, twin: Unit, given: inputs.Inputs) -> BaseRef:
    """Make a reference to the GPU twin, with the similarity between its translation and ``unit``."""
    other = translate_unit(twin.text, given.profile).text
    score = round(lineage.similarity(unit.text, other), 3)
    return BaseRef("vllm-omni", given.omni.source.ref, twin.path, twin.qualname, "twin", score, digest(twin.text))


def trace_gpu(trees: Trees, derived: DerivedModule) -> Iterator[Traced]:
    """Trace the units of a module's GPU twin to vLLM's own module; without a vLLM all statements count as omni's."""
    given, anchor = trees.given, derived.module.gpu
    text = given.read_twin(derived.module)
    if text is None or anchor is None:
        return
    marked = find_marked_lines(text, anchor.path, given)
    namesakes = _read_vllm_units(trees, derived)
    for name, unit in unit_table(text, anchor.path).items():
        member = name.rpartition(".")[2]
        original = namesakes.get(member)
        if trees.vllm is None:
            yield Traced(unit, "own", None, None, tuple(trace(unit, (), marked=marked)))
            continue
        ref = trees.vllm.source.ref
        known = [Known(f"vLLM {ref}", original.text, original.start)] if original is not None else []
        base = None
        if original is not None:
            score = round(lineage.similarity(unit.text, original.text), 3)
            base = BaseRef("vllm", ref, original.path, original.qualname, "namesake", score)
        kind: Lineage = "own" if base is None else "copy" if base.similarity >= lineage.COPY else "override"
        yield Traced(unit, kind, base, None, tuple(trace(unit, known if kind == "copy" else (), marked=marked)))


def _read_vllm_units(trees: Trees, derived: DerivedModule) -> dict[str, Unit]:
    """Return vLLM's own units by unqualified name, because GPU and vLLM classes have different names."""
    path = trees.given.profile.vllm_of(derived.module).path
    text = read_whole(trees.vllm, path, trees.given) if trees.vllm is not None else None
    if text is None:
        return {}
    return {name.rpartition(".")[2]: unit for name, unit in unit_table(text, path).items()}
