"""Plan the upgrade of a whole tree: every derived module, base classes first.

Comes in: ``UpgradeOptions`` and the ``Inputs`` that they name. Goes out: a ``ModuleResult`` for each module. May touch:
what ``sources`` touches; nothing is written yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from runner_sync import lock as locks
from runner_sync.fitting import records
from runner_sync.fitting.record import Record
from runner_sync.model import BaseRef, Project
from runner_sync.naming import module_name
from runner_sync.profile import Profile, RunnerModule
from runner_sync.render.templates import find_template_folder
from runner_sync.sync import memo
from runner_sync.sync.classes.device_code import DeviceCode
from runner_sync.sync.classes.hierarchy import find_hierarchy, make_variant_finder
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.classes.undefined import Attributes
from runner_sync.sync.classes.whole_classes import read_whole, read_whole_twin
from runner_sync.sync.synced.bases import Bases
from runner_sync.sync.synced.left_behind import find_left_behind
from runner_sync.sync.synced.twin_bases import TwinBases
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.trees.runners import DerivedModule, find_modules, refuse_lost
from runner_sync.sync.unit_names import refuse_misspelt
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.texts.import_entries import read_imports
from runner_sync.texts.member_text import self_names, self_names_of
from runner_sync.trees import Tree
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
    find_instance_names,
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
    """Upgrade every derived module in memory and, if ``starts`` is set, start the missing ones.

    Returns the results, notes on the origin of the bases, and the ``TwinBases``. After a start everything is planned
    again with the new modules. Otherwise only the next run would show what the other modules inherit from a new one and
    which members they get beside it.
    """
    modules = find_modules(given)
    refuse_misspelt(options.only, modules, given)
    _refuse_missing_runner(modules, given)
    started: dict[str, ModuleResult] = {}
    run = _prepare_run(options, given, modules)
    results = _upgrade_modules(run)
    while starts and options.gpu and options.upstream and not options.only:
        if not (new := _start_missing(run.modules, run.bases, run.given, results)):
            break
        started |= {result.path: result for _module, result in new}
        added = [DerivedModule(module, result.path, result.after) for module, result in new]
        order = [row.name for row in given.profile.modules]
        run = _prepare_run(options, given, sorted([*run.modules, *added], key=lambda one: order.index(one.module.name)))
        results = _upgrade_modules(run)
    options.progress("comparing", len(run.modules), len(run.modules))
    finished = [_finish_started(started[r.path], r) if r.path in started else r for r in results]
    return finished, tuple(run.bases.revisions.notes), run.bases.twins


def _prepare_run(options: UpgradeOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]) -> _Run:
    """Collect what the jobs of ``modules`` have in common, as if the omni tree had all of these modules."""
    lacking = {derived.path: derived.text for derived in modules if given.omni.read(derived.path) is None}
    trees = given.trees
    if patch := {**given.together, **lacking}:
        trees = {**trees, "vllm-omni": PatchedTree(given.omni, patch)}
    module_texts = ModuleTexts(trees, relocated=relocated_names(modules, trees))
    fitted = replace(given, config=replace(given.config, profile=given.profile.fitted(module_texts.lacks)))
    attributes = Attributes(module_texts.trees.values(), fitted.profile.surroundings)
    device_code = DeviceCode(fitted.profile, module_texts)
    return _Run(options, fitted, modules, Bases(options, given, modules), module_texts, attributes, device_code)


def _upgrade_modules(run: _Run) -> list[ModuleResult]:
    """Upgrade each module of a run in memory."""
    results: list[ModuleResult] = []
    for derived in run.modules:
        run.options.progress(f"comparing {derived.path}", len(results), len(run.modules))
        result = upgrade_module(_make_job(derived, run))
        run.module_texts.upgraded[derived.path] = result.after
        results.append(result)
    return results


def _finish_started(started: ModuleResult, result: ModuleResult) -> ModuleResult:
    """Combine the result of a started module with that of the second pass.

    The review item covers the whole module. From the second pass come the units that changed or have review items.
    """
    rows = len(result.after.split("\n")) - 1
    about = tuple(replace(item, end_line=rows, chosen=result.after) for item in started.reviews)
    asked = {item.unit for item in result.reviews}
    reported = [unit for unit in result.units if unit.outcome != "unchanged" or unit.unit in asked]
    return replace(result, before="", units=(*started.units, *reported), reviews=(*about, *result.reviews))


def _refuse_missing_runner(modules: Sequence[DerivedModule], given: inputs.Inputs) -> None:
    """Raise ``InputError`` for a runner that the lock records, the tree lacks, and another runner imports.

    Such a runner got lost, as ``check`` also reports, and ``_start_missing`` would make a new one without its code. A
    runner that no other imports was removed on purpose; its lock entries are dropped.
    """
    imported = {module for derived in modules for module in _find_imported_modules(derived.text, derived.path)}
    recorded = {entry.path for entry in given.lock.entries} - {derived.path for derived in modules}
    refuse_lost(given, {path for path in recorded if module_name(path) in imported})


def _find_imported_modules(text: str, path: str) -> set[str]:
    return {entry.module for entry in read_imports(text, path).values()}


def _start_missing(
    modules: Sequence[DerivedModule], bases: Bases, given: inputs.Inputs, upgraded: Sequence[ModuleResult]
) -> list[tuple[RunnerModule, ModuleResult]]:
    """Start a module for each GPU runner or worker without an NPU twin, if an upgraded module imports that twin.

    Skips modules that the profile places outside the folder of the first module.
    """
    present = {derived.module.name for derived in modules}
    imported = {module for result in upgraded for module in _find_imported_modules(result.after, result.path)}
    folder = modules[0].path.rpartition("/")[0]
    results = []
    for module in given.profile.modules:
        if module.name in present or module.gpu is None:
            continue
        path = next((p for p in module.paths if p.rpartition("/")[0] == folder), None)
        if path is None or module_name(path) not in imported:
            continue
        derived = DerivedModule(module, path, "")
        gpu = bases.twins.read_twin(derived)
        if gpu is None or not gpu.members(module.gpu.name):
            continue
        if (upstream := bases.read_upstream(derived)) is None:
            continue
        skeleton = (find_template_folder() / SKELETON).read_text("utf-8")
        vllm = _read_vllm_of_twin(module, given)
        results.append((module, start_module(StartJob(given.profile, module, path, gpu, upstream, skeleton, vllm))))
    return results


def _read_vllm_of_twin(module: RunnerModule, given: inputs.Inputs) -> ModuleRevision | None:
    """Return the vLLM module that the GPU twin derives from; ``None`` if it is not at hand."""
    path = given.profile.vllm_of(module).path
    text = read_whole(given.vllm, path, given) if given.vllm is not None else None
    return ModuleRevision(given.vllm.source.ref, text, path) if given.vllm is not None and text is not None else None


def relocated_names(modules: Sequence[DerivedModule], trees: Mapping[Project, Tree]) -> dict[str, str]:
    """Map the other dotted names that the profile has for the derived modules, and for what they follow, to the present
    names.

    What they follow may have left its old file, which other names may still be imported from: then it is no other name.
    """
    places = [(derived.path, derived.module.paths) for derived in modules]
    rows = [derived.module for derived in modules]
    anchors = [anchor for row in rows for anchor in (*row.upstreams, row.gpu) if anchor is not None]
    for anchor in anchors:
        tree = trees.get(anchor.project)
        places.append((anchor.path, tuple(old for old in anchor.former if tree is None or tree.read(old) is None)))
    return {module_name(other): module_name(path) for path, others in places for other in others if other != path}


def _make_job(derived: DerivedModule, run: _Run) -> ModuleJob:
    """Make the input of ``upgrade_module`` for one derived module."""
    options, given, bases, module_texts = run.options, run.given, run.bases, run.module_texts
    twin = _make_twin(derived, bases, options, given)
    return ModuleJob(
        given.profile,
        derived.module,
        derived.path,
        derived.text,
        Upstream(
            new=bases.read_upstream(derived),
            is_followed=options.upstream,
            bases=bases.find_upstream_bases(derived),
            settled=bases.read_settled(derived),
            recorded=given.lock.inputs.get(given.profile.followed),
            locked=_find_locked_upstreams(given.lock, derived.path),
            apart=find_units_apart(given.lock, derived.path, given.profile.followed),
            infer=memo.closest,
            causes=bases.make_causes(derived),
            variants=make_variant_finder(derived, module_texts, bases.revisions.read_locked),
        ),
        twin,
        find_hierarchy(
            derived,
            twin,
            modules=run.modules,
            module_texts=module_texts,
            options=options,
            given=given,
            read_settled=bases.twins.read_settled,
            open_omni=partial(bases.revisions.open_tree, "vllm-omni"),
        ),
        _make_target(derived, twin, run),
        Settings(only=options.only, policies=given.config.units, isolates=options.isolates),
    )


def _make_target(derived: DerivedModule, twin: GpuTwin, run: _Run) -> Target:
    """Collect what is known of the trees that the upgraded module is to run in."""
    given, module_texts = run.given, run.module_texts
    return Target(
        elsewhere=_narrow_uses_by_others(derived, run) if derived is run.modules[0] else Elsewhere(),
        records=_collect_records(run),
        constructors=module_texts.find_constructors(derived.text, module_name(derived.path)),
        relocated=module_texts.relocated,
        lacks=module_texts.lacks,
        moved_to=module_texts.moved_to,
        gives_up=run.device_code.gives_up,
        omni_module=module_texts.find_module,
        imported=frozenset(name for one in run.modules for name in read_imports(one.text, one.path)),
        missing_members=_find_missing_members(given.profile, module_texts)
        | _find_undefined(derived, twin, run.attributes, given),
    )


def _narrow_uses_by_others(derived: DerivedModule, run: _Run) -> Elsewhere:
    """Return what the other modules and their twins use on ``self``, as far as it counts in this run.

    All of it counts if vllm-ascend is followed. If only the GPU runners are ported, two kinds count: names that a
    module uses without defining them, and names that its twin uses now but not at its oldest base, because a port
    brings only new code.
    """
    used = find_uses_by_others(derived, run.modules, run.given)
    if run.options.upstream or not run.options.gpu:
        return used
    others = [other for other in run.modules if other is not derived]
    lacking = [self_names(o.text) - texts.members(o.text, o.module.name, o.path).keys() for o in others]
    bases = [base for other in others if other.module.gpu is not None for base in run.bases.twins.find_bases(other)[:1]]
    before = self_names_of(base.side.text for base in bases)
    return replace(used, called=frozenset().union(*lacking), by_twins_now=used.by_twins - before)


def _make_twin(derived: DerivedModule, bases: Bases, options: UpgradeOptions, given: inputs.Inputs) -> GpuTwin:
    new = bases.twins.read_twin(derived) if options.gpu else None
    return GpuTwin(
        new=new,
        bases=bases.twins.find_bases(derived) if new is not None else (),
        load_earlier=lambda: bases.twins.find_earlier(derived),
        load_between=lambda ref: bases.twins.find_between(ref, derived),
        settled=bases.twins.read_settled(derived) if new is not None else None,
        asked=bases.twins.read_asked(derived) if new is not None else None,
        left_behind=find_left_behind(derived.path, given, options) if new is not None else {},
        locked={entry.qualname: entry.gpu for entry in given.lock.of(derived.path) if entry.gpu is not None},
        alone=frozenset(entry.qualname for entry in given.lock.of(derived.path) if locks.ALONE in entry.extra),
        load_vllm=lambda: bases.twins.read_vllm_now(derived),
        news_only=bases.twins.is_port,
        translation=memo.TRANSLATION,
    )


def _find_missing_members(profile: Profile, module_texts: ModuleTexts) -> dict[str, str]:
    """Map the members of renamed GPU classes that the NPU class lacks, by their NPU name, to that class.

    Covers only NPU classes without bases, because only there all members are visible.
    """
    found: dict[str, str] = {}
    for row in profile.names:
        classes = ((row.module, row.name), (row.new_module, row.new_name))
        known = [
            (*module, name) for dotted, name in classes if (module := module_texts.find_module(dotted)) is not None
        ]
        if row.name == row.new_name or len(known) < 2:
            continue
        path, text, name = known[1]
        if texts.bases_of(text, name, path):
            continue
        old, new = (find_instance_names(text, name) for _path, text, name in known)
        if old and new:
            renamed = {was.rpartition(".")[2]: now.rpartition(".")[2] for was, now in profile.members}
            names = {renamed.get(name, name) for name in old if not name.startswith("__")}
            found |= dict.fromkeys(names - new, row.new_name)
    return found


def _find_undefined(
    derived: DerivedModule, twin: GpuTwin, attributes: Attributes, given: inputs.Inputs
) -> dict[str, str]:
    """Map attributes that the GPU twin newly reads and nothing at hand defines to the vLLM at hand.

    Returns nothing if an upstream is missing.
    """
    if twin.new is None or given.followed is None or given.vllm is None:
        return {}
    anchors = (given.profile.vllm_of(derived.module), *derived.module.upstreams)
    known = [given.trees[anchor.project].read(anchor.path) or "" for anchor in anchors if anchor.project in given.trees]
    known += [derived.text, *(base.side.text for base in twin.bases[:1])]
    return dict.fromkeys(attributes.find_undefined(twin.new.text, known), f"vLLM {given.vllm.source.ref}")


def _collect_records(run: _Run) -> dict[str, Record]:
    """Return the records of the modules upgraded so far, with their old, new and GPU fields."""
    omni, upgraded = run.given.omni, run.module_texts.upgraded
    twins = {derived.path: derived.module.gpu.path for derived in run.modules if derived.module.gpu is not None}
    return {
        name: records.read_record(
            omni.read(path) or "", text, name, twin=(omni.read(twins[path]) or "") if path in twins else ""
        )
        for path, text in upgraded.items()
        for name in record_classes(texts.parsed(text, path))
        if records.read_fields(text, name)
    }


def _find_locked_upstreams(lock: locks.Lock, path: str) -> dict[str, BaseRef]:
    """Return the upstream reference of each unit of a module according to the lock."""
    return {entry.qualname: entry.upstream for entry in lock.of(path) if entry.upstream}


def find_units_apart(lock: locks.Lock, path: str, followed: Project) -> frozenset[str]:
    """Return the units that are no copies: a lock made with a tree of ``followed`` records them without an upstream."""
    if followed not in lock.inputs:
        return frozenset()
    return frozenset(entry.qualname for entry in lock.of(path) if entry.upstream is None)


def find_uses_by_others(derived: DerivedModule, modules: Sequence[DerivedModule], given: inputs.Inputs) -> Elsewhere:
    """Return what the modules other than ``derived``, and their GPU twins, use on ``self``."""
    others = [other for other in modules if other is not derived]
    by_twins = self_names_of(read_whole_twin(other.module, given) for other in others)
    called = self_names_of(other.text for other in others)
    return Elsewhere(called=called, by_twins=by_twins, by_twins_now=by_twins)
