"""Find what the classes of a derived module inherit, which bases may stand for another, and which an upgrade adds.

Comes in: a module with its GPU twin, the texts of all modules, options. Goes out: a ``Hierarchy``,
``Variant`` values. May touch: what ``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from runner_sync.compose.imports import add_import
from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.naming import Import, module_name, project_of
from runner_sync.profile import Profile
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.texts.member_text import find_reached, self_names_of
from runner_sync.trees import Tree
from runner_sync.units import join, set_bases, texts
from runner_sync.upgrade import GpuTwin, Hierarchy, Inherited, ModuleRevision, Variant, is_selected


def find_hierarchy(
    derived: DerivedModule,
    twin: GpuTwin,
    *,
    modules: Sequence[DerivedModule],
    module_texts: ModuleTexts,
    options: UpgradeOptions,
    given: inputs.Inputs,
    read_settled: Callable[[DerivedModule], ModuleRevision | None],
    open_omni: Callable[[str], Tree],
) -> Hierarchy:
    """Find what the classes of ``derived`` inherit, the mixins that this upgrade adds, and those that stay missing.

    ``read_settled`` reads the GPU twin of a module at the last upgrade in the lock; ``open_omni`` opens a revision.
    """
    classes = sorted({name.split(".")[0] for name in texts.unit_texts(derived.text, derived.path) if "." in name})
    missing = _find_missing_mixins(derived, module_texts, twin.new, given.profile)
    decided = Hierarchy()
    if missing:
        used = _find_names_used(modules, given, read_settled)
        unused_then = _find_unused_then(derived, module_texts, twin.settled, used.then, given.profile, open_omni)
        decided = _decide_mixins(missing, derived, twin, options, used.now, unused_then)
    return replace(
        decided,
        inherited={name: find_inherited_members(module_texts, derived, name, given) for name in classes},
        with_twin=_inherit_from_twin(derived, module_texts, given) if twin.new is not None else {},
    )


def find_inherited_members(
    module_texts: ModuleTexts, derived: DerivedModule, name: str, given: inputs.Inputs
) -> Inherited:
    """Find what class ``name`` inherits now and before this run, and what its GPU twin inherits from vLLM."""
    dotted = module_name(derived.path)
    original = module_texts.as_before()
    twin = given.profile.gpu_name(name)
    path = derived.module.gpu.path if derived.module.gpu is not None else ""
    text = given.read_twin(derived.module)
    return replace(
        module_texts.find_inherited(derived.text, name, dotted),
        before=original.find_inherited(derived.text, name, dotted).members,
        vllm=original.find_inherited(text, twin, module_name(path)).vllm if text else {},
    )


def _inherit_from_twin(derived: DerivedModule, module_texts: ModuleTexts, given: inputs.Inputs) -> dict[str, Inherited]:
    """Find what the module's class would inherit with its GPU twin as first base.

    Returns nothing unless the profile wants that base (``inherits``) and the class lacks it.
    """
    module = derived.module
    if (
        not module.inherits
        or module.gpu is None
        or not texts.whole_definitions(derived.text, derived.path).get(module.name)
    ):
        return {}
    if module.gpu.name in module_texts.find_inherited(derived.text, module.name, module_name(derived.path)).classes:
        return {}
    entry = Import(module_name(module.gpu.path), module.gpu.name, module.gpu.name)
    bases = module_texts.base_expressions(derived.text, module.name, module_name(derived.path))
    with_twin = set_bases(texts.parsed(derived.text, derived.path), module.name, [module.gpu.name, *bases])
    return {
        module.name: find_inherited_members(
            module_texts, replace(derived, text=add_import(join(with_twin), entry)), module.name, given
        )
    }


def _find_missing_mixins(
    derived: DerivedModule, module_texts: ModuleTexts, gpu_new: ModuleRevision | None, profile: Profile
) -> dict[str, frozenset[str]]:
    """Map the omni mixins of the GPU twin that the NPU class lacks to the names that each adds to ``self``.

    A base that the class imports from a former place does not count as missing, because that import is mended.
    """
    if gpu_new is None or derived.module.gpu is None:
        return {}
    have = module_texts.find_inherited(derived.text, derived.module.name, module_name(derived.path)).classes
    have |= {base.expression for base in texts.bases_of(derived.text, derived.module.name, derived.path)}
    twins = {gpu for gpu, _ in profile.classes}
    missing = {}
    for base in texts.bases_of(gpu_new.text, derived.module.gpu.name, gpu_new.path):
        origin = next((o for o in base.origins if o.module.startswith(f"{profile.package}.")), None)
        if origin is not None and base.expression not in have and base.expression not in twins:
            missing[base.expression] = module_texts.find_given_names(origin.module, origin.name, have=have)
    return missing


def _find_unused_then(
    derived: DerivedModule,
    module_texts: ModuleTexts,
    settled: ModuleRevision | None,
    used: Collection[str],
    profile: Profile,
    open_omni: Callable[[str], Tree],
) -> frozenset[str]:
    """Return the mixins that the twin had when it was ``settled`` and of which no twin ``used`` a name at that time.

    Their names may be others now. Returns nothing if that revision cannot be read.
    """
    if settled is None:
        return frozenset()
    try:
        then = replace(module_texts.as_before(), trees={**module_texts.trees, "vllm-omni": open_omni(settled.ref)})
        missing = _find_missing_mixins(derived, then, settled, profile)
    except InputError:
        return frozenset()
    return frozenset(mixin for mixin, names in missing.items() if names and not names & {*used})


def _has_selected_unit(derived: DerivedModule, gpu_new: ModuleRevision | None, only: Sequence[str]) -> bool:
    """Whether ``--only`` selects the module's class or a unit of it or of its twin; only then may its bases change."""
    names = {derived.module.name, *texts.unit_texts(derived.text, derived.path)}
    if gpu_new is not None and derived.module.gpu is not None:
        twin = f"{derived.module.gpu.name}."
        there = gpu_new.units
        names |= {f"{derived.module.name}.{name.removeprefix(twin)}" for name in there if name.startswith(twin)}
    return any(is_selected(name, only) for name in names)


def _find_names_of_selected(
    derived: DerivedModule, gpu_new: ModuleRevision | None, only: Sequence[str]
) -> frozenset[str]:
    """Return the names that the twin's selected methods use on ``self``.

    Follows methods that only the twin has, because they would be ported together.
    """
    assert derived.module.gpu is not None
    there = gpu_new.members(derived.module.gpu.name) if gpu_new is not None else {}
    here = texts.members(derived.text, derived.module.name, derived.path)
    selected = [text for name, text in there.items() if is_selected(f"{derived.module.name}.{name}", only)]
    only_there = {name: text for name, text in there.items() if name not in here}
    reached = {name for text in selected for name in find_reached(text, only_there)}
    return self_names_of([*selected, *(there[name] for name in reached)])


def _decide_mixins(
    missing: Mapping[str, frozenset[str]],
    derived: DerivedModule,
    gpu: GpuTwin,
    options: UpgradeOptions,
    used_now: frozenset[str],
    unused_then: frozenset[str],
) -> Hierarchy:
    """Decide which of the ``missing`` mixins this upgrade adds, adds late, or leaves missing.

    A late mixin is added only with a change of vllm-ascend's.

    - If ``--only`` selects the class, all are added; if it selects no unit of the class, none.
    - A mixin is unused if it adds names to ``self`` and no twin uses one (with ``--only``: no selected method).
    - It is settled if the twin had it at the last upgrade in the lock, and old if it had it in all revisions that NPU
      may be aligned with; neither if the mixin was unused at that upgrade, which left it out only for that.
    - A mixin that is none of these is added. An old one is late unless it is settled or unused or ``--only`` is given.
    - All others stay missing; an unused one has no effect yet.
    """
    assert derived.module.gpu is not None
    name, twin = derived.module.name, derived.module.gpu.name
    if not _has_selected_unit(derived, gpu.new, options.only):
        return Hierarchy(missing_mixins={name: missing})
    if options.only and is_selected(name, options.only):
        return Hierarchy(added_mixins={name: missing})
    used = _find_names_of_selected(derived, gpu.new, options.only) if options.only else used_now
    unused = {mixin for mixin, names in missing.items() if names and not names & used}
    had = gpu.settled.bases_of(twin) if gpu.settled is not None else set()
    settled = had - unused_then
    tables = [base.side.bases_of(twin) for base in gpu.bases]
    old = set.intersection(*tables) - unused_then if tables else set()
    late = frozenset() if options.only else frozenset(old & missing.keys() - unused - settled)
    brought = {mixin: names for mixin, names in missing.items() if mixin not in unused | settled | old}
    left = {mixin: names for mixin, names in missing.items() if mixin not in brought}
    return Hierarchy(
        added_mixins={name: brought} if brought else {},
        missing_mixins={name: left} if left else {},
        late_mixins={name: late} if late else {},
    )


class _NamesUsed(NamedTuple):
    """The names that any GPU twin uses on ``self`` now, and at the last upgrade in the lock."""

    now: frozenset[str]
    then: frozenset[str]


def _find_names_used(
    modules: Sequence[DerivedModule],
    given: inputs.Inputs,
    read_settled: Callable[[DerivedModule], ModuleRevision | None],
) -> _NamesUsed:
    twins = {other.module.gpu.path: other for other in modules if other.module.gpu is not None}
    now = (given.omni.read(path) for path in sorted(twins))
    then = (side.text for other in twins.values() if (side := read_settled(other)) is not None)
    return _NamesUsed(self_names_of(now), self_names_of(then))


def make_variant_finder(
    derived: DerivedModule, module_texts: ModuleTexts, read_locked: Callable[[Project, str, str], ModuleRevision]
) -> Callable[[str], Sequence[Variant]]:
    """Make a function that returns the variants of the module's class, with their methods at a base revision and now.

    A variant is an upstream class, besides the one it copies from, that a conditional base of the class may be::

        if is_310p():
            from vllm_ascend._310p.model_runner_310p import NPUModelRunner310 as NPUModelRunner  # the variant
        else:
            from vllm_ascend.worker.model_runner_v1 import NPUModelRunner  # the one that is copied

    ``read_locked`` reads a project's module at a revision. Skips a variant that did not exist at that revision: whoever
    made it a base later has seen its methods.
    """
    anchor, dotted = derived.module.anchor, module_name(derived.path)

    def find_variants(ref: str) -> list[Variant]:
        known = []
        for base, origin, owner in module_texts.find_branches(derived.text, derived.module.name, dotted):
            source = module_texts.find_module(owner.module)
            if source is None or project_of(owner.module) != anchor.project or owner.name == anchor.name:
                continue
            path, text = source
            old = texts.members(read_locked(anchor.project, ref, path).text, owner.name, path)
            if old:
                new = texts.members(text, owner.name, path)
                known.append(
                    Variant(name=owner.name, alias=base.expression, condition=origin.condition, old=old, new=new)
                )
        return known

    return find_variants
