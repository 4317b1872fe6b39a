"""Collects what the port of one method needs to know of the module, the class, and the twin around it.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: a `Context`, and texts and statements by name. May touch:
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.lineage import list_nodes
from runner_sync.merge import Veto, align
from runner_sync.texts.member_text import join_head
from runner_sync.texts.names import defined_names
from runner_sync.units.texts import select_members
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.merging import mixins_alone
from runner_sync.upgrade.from_gpu.twin import mixins, moved_helpers
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.readings import find_vllm_unit, list_vllm_canons, translate_units
from runner_sync.upgrade.from_gpu.twin.renamed_attributes import Renames
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import GpuBase


@dataclass(frozen=True, slots=True)
class Context:
    """Values shared by the ports of all drafts.

    ``drafts`` are as before their ports, ``veto`` refuses statements, ``methods`` are texts that may use records among
    the drafts, ``known`` are the names that a unit of the module may read, ``moves`` finds helpers that moved out, and
    ``renames`` attributes that have another name now. With ``brings_locals``, a port brings plain locals that it reads.
    """

    job: ModuleJob
    side: GpuSide
    veto: Veto
    drafts: Sequence[Draft]
    methods: Sequence[str]
    known: Collection[str]
    moves: moved_helpers.Moves
    renames: Renames
    brings_locals: bool = False


def find_module_names(job: ModuleJob, side: GpuSide) -> set[str]:
    """Return names that a unit of the module may read: its own, and those importable like in the upstream modules."""
    texts_ = [job.text, side.module_text, *([job.upstream.new.text] if job.upstream.new is not None else [])]
    return {row.new_name for row in job.profile.names}.union(*(defined_names(text) for text in texts_ if text))


def find_old_twin(draft: Draft, job: ModuleJob, side: GpuSide, new: str) -> tuple[str | None, frozenset[str]]:
    """Return the twin's old text, if any, and the canonical statements that are vLLM's own.

    For the second half of a divided method, uses the undivided one.
    """
    old = side.old.get(draft.name)
    if old is None and draft.split_from in side.old:
        old = join_head(new, side.old[draft.split_from]) or None
        return old, _list_vllm_statements(job, draft, side.bases[draft.split_from])
    return old, side.from_vllm.get(draft.name, frozenset())


def find_helpers(draft: Draft, context: Context) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return methods of the twin's class that NPU lacks, as of the last alignment and now.

    Returns none for a draft without an old twin or outside a class.
    """
    job, side = context.job, context.side
    base = side.bases.get(draft.split_from or draft.name)
    if base is None or not draft.owner:
        return {}, {}
    have = {other.name for other in context.drafts if not other.removed}
    old, new = (
        select_members({name: text for name, text in table.items() if name not in have}, draft.owner)
        for table in (translate_units(job, base.side), side.new)
    )
    given = mixins_alone.find_given_names(draft, job)
    return {name: mixins.remove_uses(text, given) if given else text for name, text in old.items()}, new


def find_firm(draft: Draft, pinned: frozenset[str], context: Context) -> frozenset[str]:
    """Return those of the ``pinned`` statements that vLLM itself left alone since the draft's base.

    Where the twin has one of these and omni's own code in another order, it is omni's code that moved.
    """
    name, job = draft.split_from or draft.name, context.job
    base = context.side.bases.get(name) if pinned else None
    sides = (base.vllm, job.twin.load_vllm()) if base is not None else ()
    units = [find_vllm_unit(job, side, name) for side in sides if side is not None]
    if len(units) < 2 or units[0] == units[1]:
        return pinned
    before, after = (list_nodes(job.twin.translation.unit(text, job.profile)) for text in units)
    kept = Counter(before[pair.left].canon for pair in align(before, after) if pair.equal)
    counts = [Counter(node.canon for node in nodes) for nodes in (before, after)]
    return pinned - {canon for count in counts for canon in count if count[canon] != kept[canon]}


def list_methods(owner: str, job: ModuleJob) -> dict[str, str]:
    """Return the methods that a class has, its own and those of omni's and of vllm-ascend's classes, by name."""
    inherited, new = job.hierarchy.of(owner), job.upstream.new
    units = new.units if new is not None else {}
    inherited_members = {name: text for base in inherited.classes for name, text in select_members(units, base).items()}
    return inherited_members | inherited.omnis | select_members(job.units, owner)


def _list_vllm_statements(job: ModuleJob, draft: Draft, base: GpuBase) -> frozenset[str]:
    """Return canonical statements of vLLM's second half of a divided method, and of its undivided one."""
    sides = (
        (base.vllm, draft.split_from),
        (job.twin.load_vllm(), draft.split_from),
        (job.twin.load_vllm(), draft.name),
    )
    units = [find_vllm_unit(job, side, name) for side, name in sides if side is not None]
    return frozenset(canon for text in units if text for canon in list_vllm_canons(job, text))
