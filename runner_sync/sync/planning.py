"""The upgrade of a whole tree: every derived module, base classes first.

Comes in: ``UpgradeOptions`` and the ``Inputs`` that they name. Goes out: a ``ModuleResult`` for each module;
nothing is written yet. May touch: what ``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runner_sync import lock as locks
from runner_sync.compose import records
from runner_sync.compose.import_entries import imports
from runner_sync.compose.member_text import self_names
from runner_sync.model import BaseRef, Project
from runner_sync.naming import module_name
from runner_sync.profile import Profile, RunnerModule
from runner_sync.render.templates import find_template_folder
from runner_sync.sync import memo
from runner_sync.sync.classes.device_code import DeviceCode
from runner_sync.sync.classes.hierarchy import hierarchy_of
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.classes.undefined import Attributes
from runner_sync.sync.classes.variants import variants
from runner_sync.sync.options import UpgradeOptions
from runner_sync.sync.synced.bases import Bases
from runner_sync.sync.synced.twin_bases import TwinBases
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.trees.runners import DerivedModule, find_modules, refuse_lost
from runner_sync.sync.unit_names import refuse_misspelt
from runner_sync.units import record_classes, texts
from runner_sync.upgrade import (
    Elsewhere,
    GpuTwin,
    ModuleJob,
    ModuleResult,
    ModuleRevision,
    Settings,
    StartJob,
    Target,
    Upstream,
    instance_names,
    start_module,
    upgrade_module,
)

SKELETON = "module.py.j2"
"""The template of a new module."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What the jobs of all modules have in common; the profile of ``given`` is fitted to the trees."""

    options: UpgradeOptions
    given: inputs.Inputs
    modules: Sequence[DerivedModule]
    bases: Bases
    module_texts: ModuleTexts
    attributes: Attributes
    device_code: DeviceCode


def plan(
    options: UpgradeOptions, given: inputs.Inputs, *, starts: bool = True
) -> tuple[list[ModuleResult], tuple[str, ...], TwinBases]:
    """Upgrade every derived module in memory, and start those that are missing, if it ``starts`` any. Returns the
    results, notes on where the bases came from, and what knows where those of the GPU twins did.

    After a start all is planned once more with what was started: what the others inherit from that, and what they get
    beside it, would otherwise come with the next run only.
    """
    modules = find_modules(given)
    refuse_misspelt(options.only, modules, given)
    _refuse_missing_runner(modules, given)
    started: dict[str, ModuleResult] = {}
    run = _run(options, given, modules)
    results = _upgraded(run)
    while starts and options.gpu and options.upstream and not options.only:
        if not (new := _started(run.modules, run.bases, run.given, results)):
            break
        started |= {result.path: result for _module, result in new}
        added = [DerivedModule(module, result.path, result.after) for module, result in new]
        order = [row.name for row in given.profile.modules]
        run = _run(options, given, sorted([*run.modules, *added], key=lambda one: order.index(one.module.name)))
        results = _upgraded(run)
    options.progress("comparing", len(run.modules), len(run.modules))
    finished = [_as_new(started[r.path], r) if r.path in started else r for r in results]
    return finished, tuple(run.bases.revisions.notes), run.bases.twins


def _run(options: UpgradeOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]) -> _Run:
    """What the jobs of ``modules`` have in common; those that the omni tree lacks are read as if it had them."""
    lacking = {found.path: found.text for found in modules if given.omni.read(found.path) is None}
    trees = given.trees
    if lacking:
        trees = {**trees, "vllm-omni": PatchedTree(given.omni, lacking)}
    module_texts = ModuleTexts(trees, relocated=relocated_names(modules))
    fitted = replace(given, config=replace(given.config, profile=given.profile.fitted(module_texts.lacks)))
    attributes = Attributes(module_texts.trees.values(), fitted.profile.surroundings)
    device_code = DeviceCode(fitted.profile, module_texts)
    return _Run(options, fitted, modules, Bases(options, given, modules), module_texts, attributes, device_code)


def _upgraded(run: _Run) -> list[ModuleResult]:
    """The modules of a run, each upgraded in memory."""
    results: list[ModuleResult] = []
    for found in run.modules:
        run.options.progress(f"comparing {found.path}", len(results), len(run.modules))
        result = upgrade_module(_job(found, run))
        run.module_texts.upgraded[found.path] = result.after
        results.append(result)
    return results


def _as_new(started: ModuleResult, result: ModuleResult) -> ModuleResult:
    """The result of a started module: its question is about the whole of it, and of its units those are told that got
    more with the rest, or questions of their own."""
    rows = len(result.after.split("\n")) - 1
    about = tuple(replace(item, end_line=rows, chosen=result.after) for item in started.reviews)
    asked = {item.unit for item in result.reviews}
    told = [unit for unit in result.units if unit.outcome != "unchanged" or unit.unit in asked]
    return replace(result, before="", units=(*started.units, *told), reviews=(*about, *result.reviews))


def _refuse_missing_runner(modules: Sequence[DerivedModule], given: inputs.Inputs) -> None:
    """Raises ``InputError`` for a runner that the lock records, that the tree lacks, and that another runner imports.

    It got lost, as ``check`` also reports; ``_started`` would otherwise make a new one without what was in it. A runner
    that none imports was removed on purpose, and its lock entries are dropped.
    """
    imported = {module for found in modules for module in _imported_modules(found.text, found.path)}
    recorded = {entry.path for entry in given.lock.entries} - {found.path for found in modules}
    refuse_lost(given, {path for path in recorded if module_name(path) in imported})


def _imported_modules(text: str, path: str) -> set[str]:
    return {entry.module for entry in imports(text, path).values()}


def _started(
    modules: Sequence[DerivedModule], bases: Bases, given: inputs.Inputs, upgraded: Sequence[ModuleResult]
) -> list[tuple[RunnerModule, ModuleResult]]:
    """New modules for GPU runners and workers without an NPU twin, if the upgraded modules import that twin.

    Only in the folder of the first module: one that the profile puts into another folder is not made.
    """
    present = {found.module.name for found in modules}
    imported = {module for result in upgraded for module in _imported_modules(result.after, result.path)}
    folder = modules[0].path.rpartition("/")[0]
    results = []
    for module in given.profile.modules:
        if module.name in present or module.gpu is None:
            continue
        path = next((p for p in module.paths if p.rpartition("/")[0] == folder), None)
        if path is None or module_name(path) not in imported:
            continue
        found = DerivedModule(module, path, "")
        gpu = bases.twins.now(found)
        if gpu is None or not texts.members(gpu.text, module.gpu.name, gpu.path):
            continue
        upstream = bases.upstream(found)
        if upstream is None:
            continue
        skeleton = (find_template_folder() / SKELETON).read_text("utf-8")
        vllm = _vllm_of_twin(module, given)
        results.append((module, start_module(StartJob(given.profile, module, path, gpu, upstream, skeleton, vllm))))
    return results


def _vllm_of_twin(module: RunnerModule, given: inputs.Inputs) -> ModuleRevision | None:
    """vLLM's module that the GPU twin goes back to; ``None`` if it is not at hand."""
    path = given.profile.vllm_of(module).path
    text = given.vllm.read(path) if given.vllm is not None else None
    return ModuleRevision(given.vllm.source.ref, text, path) if given.vllm is not None and text is not None else None


def relocated_names(modules: Sequence[DerivedModule]) -> dict[str, str]:
    """The other dotted names that the profile has for the derived modules, with their present ones."""
    return {
        module_name(path): module_name(found.path)
        for found in modules
        for path in found.module.paths
        if path != found.path
    }


def _job(found: DerivedModule, run: _Run) -> ModuleJob:
    """What ``upgrade_module`` is given for one derived module."""
    options, given, bases, module_texts = run.options, run.given, run.bases, run.module_texts
    twin = _twin(found, bases, options, given)
    return ModuleJob(
        given.profile,
        found.module,
        found.path,
        found.text,
        Upstream(
            new=bases.upstream(found),
            is_followed=options.upstream,
            bases=bases.upstream_bases(found),
            locked=_locked(given.lock, found.path),
            apart=apart_of(given.lock, found.path, given.profile.followed),
            infer=memo.closest,
            causes=bases.causes(found),
            variants=variants(found, module_texts, bases),
        ),
        twin,
        hierarchy_of(found, twin, modules=run.modules, module_texts=module_texts, options=options, given=given),
        Target(
            elsewhere=_uses_by_others(found, run) if found is run.modules[0] else Elsewhere(),
            records=_records(run),
            constructors=module_texts.constructors(found.text, module_name(found.path)),
            relocated=module_texts.relocated,
            lacks=module_texts.lacks,
            moved_to=module_texts.moved_to,
            device_code=run.device_code,
            gives_up=run.device_code.gives_up,
            omni_module=module_texts.module,
            imported=frozenset(name for one in run.modules for name in imports(one.text, one.path)),
            missing_members=_missing_members(given.profile, module_texts)
            | _undefined(found, twin, run.attributes, given),
        ),
        Settings(only=options.only, policies=given.config.units),
    )


def _uses_by_others(found: DerivedModule, run: _Run) -> Elsewhere:
    """What the other modules and their twins use on ``self``, as it counts in this run.

    If vllm-ascend is followed, all of it. If only the GPU runners are ported, the members that a module lacks itself,
    and what its twin uses now and did not use at its oldest base: a port brings only what is new.
    """
    used = uses_by_others(found, run.modules, run.given)
    if run.options.upstream or not run.options.gpu:
        return used
    others = [other for other in run.modules if other is not found]
    lacking = [self_names(o.text) - texts.members(o.text, o.module.name, o.path).keys() for o in others]
    bases = [base for other in others if other.module.gpu is not None for base in run.bases.twins.bases(other)[:1]]
    before = frozenset(name for base in bases for name in self_names(base.side.text))
    return replace(used, called=frozenset().union(*lacking), by_twins_now=used.by_twins - before)


def _twin(found: DerivedModule, bases: Bases, options: UpgradeOptions, given: inputs.Inputs) -> GpuTwin:
    new = bases.twins.now(found) if options.gpu else None
    return GpuTwin(
        new=new,
        bases=bases.twins.bases(found) if new is not None else (),
        load_earlier=lambda: bases.twins.earlier(found),
        settled=bases.twins.settled(found) if new is not None else None,
        locked={e.qualname: e.gpu for e in given.lock.entries if e.path == found.path and e.gpu is not None},
        load_vllm=lambda: bases.twins.vllm_now(found),
        news_only=bases.twins.is_port,
        translation=memo.TRANSLATION,
    )


def _missing_members(profile: Profile, module_texts: ModuleTexts) -> dict[str, str]:
    """Members of GPU classes that the profile renames and the NPU class lacks, under the name that they would have
    there, each with the name of that class. Only for NPU classes without bases, whose members are all in sight."""
    found: dict[str, str] = {}
    for row in profile.names:
        classes = ((row.module, row.name), (row.new_module, row.new_name))
        known = [(*module, name) for dotted, name in classes if (module := module_texts.module(dotted)) is not None]
        if row.name == row.new_name or len(known) < 2:
            continue
        path, text, name = known[1]
        if texts.bases_of(text, name, path):
            continue
        old, new = (instance_names(text, name) for _path, text, name in known)
        if old and new:
            renamed = {was.rpartition(".")[2]: now.rpartition(".")[2] for was, now in profile.members}
            names = {renamed.get(name, name) for name in old if not name.startswith("__")}
            found |= dict.fromkeys(names - new, row.new_name)
    return found


def _undefined(found: DerivedModule, twin: GpuTwin, attributes: Attributes, given: inputs.Inputs) -> dict[str, str]:
    """Attributes that the GPU twin newly reads and that neither omni nor the upstreams define, each with the vLLM at
    hand. Empty if one of the upstreams is not at hand."""
    if twin.new is None or given.followed is None or given.vllm is None:
        return {}
    anchors = (given.profile.vllm_of(found.module), *found.module.upstreams)
    known = [given.trees[anchor.project].read(anchor.path) or "" for anchor in anchors if anchor.project in given.trees]
    known += [found.text, *(base.side.text for base in twin.bases[:1])]
    return dict.fromkeys(attributes.undefined(twin.new.text, known), f"vLLM {given.vllm.source.ref}")


def _records(run: _Run) -> dict[str, records.Record]:
    """The records of the modules upgraded so far, with their fields before and now, and those of the GPU runner's."""
    omni, upgraded = run.given.omni, run.module_texts.upgraded
    twins = {found.path: found.module.gpu.path for found in run.modules if found.module.gpu is not None}
    return {
        name: records.record(
            omni.read(path) or "", text, name, twin=(omni.read(twins[path]) or "") if path in twins else ""
        )
        for path, text in upgraded.items()
        for name in record_classes(texts.parsed(text, path))
        if records.fields(text, name)
    }


def _locked(lock: locks.Lock, path: str) -> dict[str, BaseRef]:
    """What each unit of a module follows according to the lock."""
    return {entry.qualname: entry.upstream for entry in lock.entries if entry.path == path and entry.upstream}


def apart_of(lock: locks.Lock, path: str, followed: Project) -> frozenset[str]:
    """Units that the lock records without an upstream, if it was made with a tree of ``followed``: no copies."""
    if followed not in lock.inputs:
        return frozenset()
    return frozenset(entry.qualname for entry in lock.entries if entry.path == path and entry.upstream is None)


def uses_by_others(found: DerivedModule, modules: Sequence[DerivedModule], given: inputs.Inputs) -> Elsewhere:
    """What the modules other than ``found``, and their GPU twins, use on ``self``."""
    others = [other for other in modules if other is not found]
    twins = [given.omni.read(other.module.gpu.path) for other in others if other.module.gpu is not None]
    by_twins = frozenset(name for text in twins if text for name in self_names(text))
    called = frozenset(name for other in others for name in self_names(other.text))

    def callers(name: str) -> frozenset[str]:
        tables = [texts.members(other.text, other.module.name, other.path) for other in others]
        return frozenset(member for table in tables for member, body in table.items() if name in self_names(body))

    return Elsewhere(called=called, by_twins=by_twins, by_twins_now=by_twins, callers=callers)
