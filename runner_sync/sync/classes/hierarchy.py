"""What the classes of a derived module inherit, and which bases an upgrade adds to them.

Comes in: a module with its GPU twin, the texts of all modules, options. Goes out: a ``Hierarchy``. May touch: the
trees, by reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync.compose.imports import add
from runner_sync.compose.member_text import self_names
from runner_sync.naming import Import, module_name
from runner_sync.profile import Profile
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.options import UpgradeOptions
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.units import join, set_bases, texts
from runner_sync.upgrade import GpuTwin, Hierarchy, Inherited, ModuleRevision, instance_names, is_selected


def hierarchy_of(
    found: DerivedModule,
    twin: GpuTwin,
    *,
    modules: Sequence[DerivedModule],
    module_texts: ModuleTexts,
    options: UpgradeOptions,
    given: inputs.Inputs,
) -> Hierarchy:
    """What the classes of ``found`` inherit, the mixins that this upgrade adds, and those they continue without."""
    classes = sorted({name.split(".")[0] for name in texts.unit_texts(found.text, found.path) if "." in name})
    missing = _missing_mixins(found, module_texts, twin.new, given.profile)
    return replace(
        _decide_mixins(missing, found, twin, options, _used_by_gpu(modules, given)),
        inherited={name: inherited_by(module_texts, found, name, given) for name in classes},
        with_twin=_with_twin(found, module_texts, given) if twin.new is not None else {},
    )


def inherited_by(module_texts: ModuleTexts, found: DerivedModule, name: str, given: inputs.Inputs) -> Inherited:
    """What class ``name`` inherits now and inherited before this run, and what its GPU twin inherits from vLLM."""
    dotted = module_name(found.path)
    original = module_texts.as_before()
    twin = given.profile.gpu_name(name)
    path = found.module.gpu.path if found.module.gpu is not None else ""
    text = given.omni.read(path) if path else None
    return replace(
        module_texts.inherited(found.text, name, dotted),
        before=original.inherited(found.text, name, dotted).members,
        vllm=original.inherited(text, twin, module_name(path)).vllm if text else {},
    )


def _with_twin(found: DerivedModule, module_texts: ModuleTexts, given: inputs.Inputs) -> dict[str, Inherited]:
    """What the module's class would inherit with its GPU twin as first base; empty unless the profile wants that
    (``inherits``) and it is not so yet."""
    module = found.module
    if (
        not module.inherits
        or module.gpu is None
        or not texts.whole_definitions(found.text, found.path).get(module.name)
    ):
        return {}
    if module.gpu.name in module_texts.inherited(found.text, module.name, module_name(found.path)).classes:
        return {}
    entry = Import(module_name(module.gpu.path), module.gpu.name, module.gpu.name)
    bases = module_texts.bases(found.text, module.name, module_name(found.path))
    derived = set_bases(texts.parsed(found.text, found.path), module.name, [module.gpu.name, *bases])
    return {module.name: inherited_by(module_texts, replace(found, text=add(join(derived), entry)), module.name, given)}


def _missing_mixins(
    found: DerivedModule, module_texts: ModuleTexts, gpu_new: ModuleRevision | None, profile: Profile
) -> dict[str, frozenset[str]]:
    """Omni mixins among the bases of the GPU twin that the NPU class does not inherit, with the names that each adds to
    ``self``.

    A base that the class names but imports from where it no longer is does not count as missing: that import is mended.
    """
    if gpu_new is None or found.module.gpu is None:
        return {}
    have = module_texts.inherited(found.text, found.module.name, module_name(found.path)).classes
    have |= {base.expression for base in texts.bases_of(found.text, found.module.name, found.path)}
    twins = {gpu for gpu, _ in profile.classes}
    missing = {}
    for base in texts.bases_of(gpu_new.text, found.module.gpu.name, gpu_new.path):
        origin = next((o for o in base.origins if o.module.startswith(f"{profile.package}.")), None)
        if origin is not None and base.expression not in have and base.expression not in twins:
            source = module_texts.module(origin.module)
            missing[base.expression] = instance_names(source[1], origin.name) if source is not None else frozenset()
    return missing


def _is_asked_for(found: DerivedModule, gpu_new: ModuleRevision | None, only: Sequence[str]) -> bool:
    """Whether ``--only`` selects the module's class or a unit of it or of its twin; only then may its bases change."""
    names = {found.module.name, *texts.unit_texts(found.text, found.path)}
    if gpu_new is not None and found.module.gpu is not None:
        twin = f"{found.module.gpu.name}."
        there = texts.unit_texts(gpu_new.text, found.module.gpu.path)
        names |= {f"{found.module.name}.{name.removeprefix(twin)}" for name in there if name.startswith(twin)}
    return any(is_selected(name, only) for name in names)


def _used_by_selected(found: DerivedModule, gpu_new: ModuleRevision | None, only: Sequence[str]) -> frozenset[str]:
    """Names that the twin's methods selected by ``--only`` use on ``self``, also by way of methods that only the twin
    has, which would be ported with them."""
    assert found.module.gpu is not None
    there = texts.members(gpu_new.text, found.module.gpu.name, found.module.gpu.path) if gpu_new is not None else {}
    here = texts.members(found.text, found.module.name, found.path)
    todo = [name for name in there if is_selected(f"{found.module.name}.{name}", only)]
    read = set[str]()
    while todo:
        news = self_names(there[todo.pop()]) - read
        todo += [name for name in sorted(news) if name in there and name not in here]
        read |= news
    return frozenset(read)


def _decide_mixins(
    missing: Mapping[str, frozenset[str]],
    found: DerivedModule,
    gpu: GpuTwin,
    options: UpgradeOptions,
    used: frozenset[str],
) -> Hierarchy:
    """Which of the ``missing`` mixins this upgrade adds, which it adds only with a change of vllm-ascend's (late), and
    which stay missing. ``used`` are the names that GPU twins use on ``self``.

    - If ``--only`` selects the class, all are added; if it selects no unit of the class, none.
    - A mixin is old if the twin had it in all revisions that NPU may be aligned with, settled if it had it at the last
      upgrade in the lock, unused if it adds names to ``self`` and none is used (with ``--only``: by selected methods).
    - One that is none of these is added. An old one is late unless it is settled or unused or ``--only`` is given.
    - All others stay missing; an unused one has no effect yet.
    """
    if not missing:
        return Hierarchy()
    assert found.module.gpu is not None
    name, twin = found.module.name, found.module.gpu.name
    if not _is_asked_for(found, gpu.new, options.only):
        return Hierarchy(missing_mixins={name: missing})
    if options.only and is_selected(name, options.only):
        return Hierarchy(added_mixins={name: missing})
    used = _used_by_selected(found, gpu.new, options.only) if options.only else used
    unused = {mixin for mixin, names in missing.items() if names and not names & used}
    settled = _bases_at(gpu.settled, twin) if gpu.settled is not None else set()
    tables = [_bases_at(base.side, twin) for base in gpu.bases]
    old = set.intersection(*tables) if tables else set()
    late = frozenset() if options.only else frozenset(old & missing.keys() - unused - settled)
    brought = {mixin: names for mixin, names in missing.items() if mixin not in unused | settled | old}
    left = {mixin: names for mixin, names in missing.items() if mixin not in brought}
    return Hierarchy(
        added_mixins={name: brought} if brought else {},
        missing_mixins={name: left} if left else {},
        late_mixins={name: late} if late else {},
    )


def _bases_at(side: ModuleRevision, class_name: str) -> set[str]:
    """The base expressions of a class at one revision of its module."""
    return {base.expression for base in texts.bases_of(side.text, class_name, side.path)}


def _used_by_gpu(modules: Sequence[DerivedModule], given: inputs.Inputs) -> frozenset[str]:
    """Names that any GPU twin uses on ``self``."""
    twins = {other.module.gpu.path for other in modules if other.module.gpu is not None}
    readings = [given.omni.read(path) for path in sorted(twins)]
    return frozenset(name for text in readings if text for name in self_names(text))
