"""Find the status of each omni unit of a GPU runner on the NPU side.

Comes in: the trees of a run, a module, the omni blocks of its GPU twin. Goes out: ``PortStatus`` values. May touch: the
trees, by reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from runner_sync.fitting.members import Member
from runner_sync.lineage import list_nodes
from runner_sync.lineage.provenance import key
from runner_sync.model import Block, Unit
from runner_sync.naming import module_name
from runner_sync.sync import memo, planning
from runner_sync.sync.classes import hierarchy
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.origins import Trees
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.texts.import_entries import read_imports
from runner_sync.texts.member_text import find_called_parents, has_class_call
from runner_sync.transforms import translate_unit
from runner_sync.units import texts
from runner_sync.units.texts import unit_table
from runner_sync.upgrade import Elsewhere, GpuTwin, Hierarchy, ModuleJob, ModuleRevision, Target, decide_without_upgrade
from runner_sync.verify import check
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import Codes

PortKind = Literal["ported", "inherited", "hoistable", "unneeded", "device", "review"]


@dataclass(frozen=True, slots=True)
class PortStatus:
    """The status of the GPU unit ``unit``.

    ``reason`` names its NPU twin or says why there is none. ``parts`` has reasons for single blocks, by their first
    lines.
    """

    unit: str
    kind: PortKind
    reason: str
    parts: Mapping[int, str] = field(default_factory=dict)

    def sentence(self, block: Block) -> str:
        """Describe the status of one block, with its own reason or else that of the unit."""
        return f"{self.kind}: {self.parts.get(block.start, self.reason)}"


def find_port_statuses(trees: Trees, derived: DerivedModule, blocks: Sequence[Block]) -> list[PortStatus]:
    """Return one status for each unit of the GPU twin that holds omni code."""
    finder = _StatusFinder(trees, derived)
    by_unit: dict[str, list[Block]] = {}
    for block in blocks:
        by_unit.setdefault(block.unit, []).append(block)
    return [finder.status_of(unit, inside) for unit, inside in by_unit.items()]


class _StatusFinder:
    """Finds the status of the units of one module's GPU twin."""

    def __init__(self, trees: Trees, derived: DerivedModule) -> None:
        self.trees = trees
        self.derived = derived
        self.profile = trees.given.profile
        self.npu = unit_table(derived.text, derived.path)
        anchor = derived.module.gpu
        self.gpu_path = anchor.path if anchor is not None else ""
        self.gpu_text = trees.given.read_twin(derived.module) or ""
        self.gpu_units = unit_table(self.gpu_text, self.gpu_path)
        relocated = planning.relocated_names(trees.modules, trees.given.trees)
        whole = {**trees.given.trees, "vllm-omni": trees.given.whole_omni}
        self.module_texts = ModuleTexts(whole, relocated=relocated)
        self.hoistable, self.skipped = self._run_rules()
        self.parents: dict[str, frozenset[str]] = {}
        self.members = self._decide_members()
        self.imported = read_imports(derived.text)
        self.keys = {key(node, unit) for unit in self.npu.values() for node in list_nodes(unit.text)}

    def status_of(self, name: str, blocks: Sequence[Block]) -> PortStatus:
        """Return the status of the GPU unit ``name``, whose omni code is in ``blocks``."""
        twin = self.profile.npu_name(name)
        if twin in self.npu:
            return self._status_of_shared(name, twin, blocks)
        owner, _, member = twin.rpartition(".")
        decision = self.members.get(twin)
        if decision is not None:
            return self._status_by_decision(name, decision)
        return self._status_without_class(name, owner or member)

    def _status_of_shared(self, name: str, twin: str, blocks: Sequence[Block]) -> PortStatus:
        """Return the status of a unit that NPU defines as ``twin``, by whether its omni statements are there."""
        if twin in self.hoistable:
            return PortStatus(name, "hoistable", f"equals {twin}; `runner-sync hoist {twin}` moves it")
        if self._calls_gpu_method(name, twin):
            return PortStatus(name, "inherited", f"{twin} calls it")
        keys = self._find_omni_keys(self.gpu_units[name], blocks)
        wanted = [one for inside in keys.values() for one in inside]
        missing = [one for one in wanted if one not in self.keys]
        if not missing:
            return PortStatus(name, "ported", twin)
        words = [next((w for w in self.profile.unported if w in one), "") for one in missing]
        if all(words):
            return PortStatus(name, "device", f"{twin} has all but {words[0]}")
        reason = f"{len(missing)} of {len(wanted)} omni statements are not in {twin}"
        return PortStatus(
            name, "review", reason, {start: self._explain_block(inside, twin) for start, inside in keys.items()}
        )

    def _explain_block(self, wanted: Sequence[str], twin: str) -> str:
        """Return the reason for one block with the statements ``wanted``."""
        missing = sum(one not in self.keys for one in wanted)
        if not missing:
            return f"this block is in {twin}, others are not"
        many = f"{missing} of these {len(wanted)} statements" if len(wanted) > 1 else "this statement"
        return f"{many} {'is' if missing == 1 else 'are'} not in {twin}"

    def _calls_gpu_method(self, name: str, twin: str) -> bool:
        """Whether the NPU class inherits from the GPU class and its method calls the GPU method.

        The call goes by the class or by ``super()``; every version in between must call ``super()`` in turn.
        """
        owner, _, member = name.rpartition(".")
        npu_owner = twin.rpartition(".")[0]
        if not owner or owner not in self.parents.get(npu_owner, frozenset()):
            return False
        text = self.npu[twin].text
        if has_class_call(text, owner, member):
            return True
        reached = self.module_texts.find_reached(
            self.derived.text, npu_owner, module_name(self.derived.path), member=member
        )
        return "super()" in find_called_parents(text, member) and any(one.name == owner for one in reached)

    def _find_omni_keys(self, unit: Unit, blocks: Sequence[Block]) -> dict[int, list[str]]:
        """Return the canonical omni statements of a GPU unit, translated to NPU, by the first line of their block."""
        starts = {line: block.start for block in blocks for line in range(block.start, block.end + 1)}
        found: dict[int, list[str]] = {block.start: [] for block in blocks}
        for node in list_nodes(translate_unit(unit.text, self.profile).text):
            line = unit.start + node.start - 1
            if not node.is_comment and node.kind != "docstring" and line in starts:
                found[starts[line]].append(key(node, unit))
        return found

    def _status_by_decision(self, name: str, decision: Member) -> PortStatus:
        """Return the status of a unit that NPU does not define, by what an upgrade would decide about it."""
        what: Mapping[str, PortKind] = {"inherited": "inherited", "unneeded": "unneeded", "device": "device"}
        if decision.action in what:
            if name in self.skipped:
                return PortStatus(name, "review", f"not on NPU: {self.skipped[name]} (RS203)")
            if decision.action == "unneeded" and self.trees.given.followed is None:
                reason = "not on NPU; whether anything there calls it, only vllm-ascend tells (--ascend-path)"
                return PortStatus(name, "review", reason)
            return PortStatus(name, what[decision.action], decision.reason)
        if decision.action in ("port", "hook"):
            port = f"runner-sync upgrade --only {self.profile.npu_name(name)}"
            return PortStatus(name, "review", f"not on NPU: {decision.reason}; `{port}` ports it")
        return PortStatus(name, "review", decision.reason)

    def _status_without_class(self, name: str, top: str) -> PortStatus:
        """Return the status of a unit without counterpart; ``top`` is its class or, at module level, its own name."""
        entry = self.imported.get(top)
        if entry is not None:
            return PortStatus(name, "inherited", f"{self.derived.path} imports {top} from {entry.module}")
        if re.search(rf"\b{re.escape(top)}\b", self.derived.text):
            return PortStatus(name, "review", f"{self.derived.path} has another {top}")
        return PortStatus(name, "unneeded", f"nothing in {self.derived.path} uses {top}")

    def _run_rules(self) -> tuple[set[str], dict[str, str]]:
        """Return the NPU units that could be hoisted (RS501), and why NPU skips GPU overrides (RS203)."""
        module = CheckModule(self.derived.path, self.derived.text, self.gpu_path, self.gpu_text or None)
        job = CheckJob(self.profile, (module,), read=self.trees.given.read_derived)
        found = check.run(job, Codes(("RS203", "RS501"))).findings
        skipped = {
            f"{self.profile.gpu_name(f.unit)}.{f.symbol}": f"a call of {f.symbol} runs what the class inherits"
            for f in found
            if f.code == "RS203"
        }
        return {finding.unit for finding in found if finding.code == "RS501"}, skipped

    def _decide_members(self) -> dict[str, Member]:
        """Return what an upgrade would decide about the members that only the GPU classes have, by NPU name."""
        job = self._make_job()
        if job is None:
            return {}
        self.parents = {name: inherited.classes for name, inherited in job.hierarchy.inherited.items()}
        owners = [npu for gpu_name, npu in self.profile.classes if self._has_both(gpu_name, npu)]
        return decide_without_upgrade(job, owners)

    def _has_both(self, gpu_name: str, npu: str) -> bool:
        """Whether the GPU class has units in the twin, and the module defines the NPU class."""
        defined = {*self.npu, *texts.whole_definitions(self.derived.text, self.derived.path)}
        return any(name.startswith(f"{gpu_name}.") for name in self.gpu_units) and any(
            name == npu or name.startswith(f"{npu}.") for name in defined
        )

    def _make_job(self) -> ModuleJob | None:
        """Make the job of an upgrade without any new revision; return ``None`` without a GPU twin."""
        if not self.gpu_text:
            return None
        given, derived, modules = self.trees.given, self.derived, self.trees.modules
        vllm = self.trees.vllm
        owners = [npu for _, npu in self.profile.classes if npu in texts.whole_definitions(derived.text, derived.path)]
        return ModuleJob(
            self.profile,
            derived.module,
            derived.path,
            derived.text,
            twin=GpuTwin(
                new=ModuleRevision(given.omni.source.ref, self.gpu_text, self.gpu_path),
                load_vllm=lambda: None if vllm is None else ModuleRevision(vllm.source.ref, "", ""),
                translation=memo.TRANSLATION,
            ),
            hierarchy=Hierarchy(
                inherited={
                    name: hierarchy.find_inherited_members(self.module_texts, derived, name, given) for name in owners
                }
            ),
            target=Target(
                elsewhere=planning.find_uses_by_others(derived, modules, given)
                if derived is modules[0]
                else Elsewhere()
            ),
        )
