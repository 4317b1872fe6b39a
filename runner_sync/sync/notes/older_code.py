"""Note GPU and upstream code from before an upgrade that the upgraded runners lack and no review item is about.

Comes in: the results of the modules, the inputs and the options. Goes out: notes, or none. May touch: what ``sources``
touches, for the vLLM that the GPU runners are made from.

An upgrade ports what the GPU twin of a unit gained since the unit was last aligned with it. If people took a later part
and left an earlier one, the earlier part is old code. ``check`` reports it (RS202, RS207), but the lock of the upgrade
would silently settle it.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.errors import InputError
from runner_sync.listing import at_most
from runner_sync.model import TITLES, Finding, Project, ReviewItem
from runner_sync.statements import tree_of
from runner_sync.sync import check_modules
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.trees.runners import find_modules
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.texts.member_text import canonical, has_code_word
from runner_sync.units import texts
from runner_sync.upgrade import ModuleResult, is_selected
from runner_sync.verify import check as engine
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.codes import Codes

NAMED = 20
"""How many names the note about GPU code gives at most."""

NAMED_UPSTREAM = 12
"""How many names the note about upstream code gives at most."""

_RULES = Codes(select=("RS202", "RS207"))


def note_gpu_code(results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> tuple[str, ...]:
    """Note GPU code that the upgraded modules lack, as they are to be written."""
    if not options.gpu or not options.upstream or not given.profile.has_twins or given.followed is None:
        return ()
    asked = [item for result in results for item in result.reviews if item.from_gpu]
    try:
        found = _find_missing(results, given, options)
    except InputError:
        return ()
    twins = _read_twins(results, given)
    open_ones = [one for one in found if is_selected(one.unit, options.only) and not _is_asked_about(one, asked, twins)]
    names = list(dict.fromkeys(_format_symbol(one.symbol) for one in open_ones))
    if not names:
        return ()
    text = (
        "the NPU runners lack GPU code from before this upgrade that no review item is about: "
        f"{at_most(NAMED, names)} (`runner-sync check --select RS202,RS207{_tree_options(given, options)}` says where)."
    )
    return (text,)


def note_upstream_code(results: Sequence[ModuleResult], followed: Project, options: UpgradeOptions) -> tuple[str, ...]:
    """Note upstream code that omni's copies lack, with the methods whose upstream text uses it."""
    after = "\n".join(result.after for result in results)
    asked = "\n".join(f"{i.reason}\n{i.base}\n{i.upstream}" for result in results for i in result.reviews)
    methods: dict[str, list[str]] = {}
    for result in results:
        for unit, names in result.never_had.items():
            for name in names if is_selected(unit, options.only) else ():
                methods.setdefault(name, []).append(unit.rpartition(".")[2])
    lacking = {
        name: list(dict.fromkeys(found))
        for name, found in methods.items()
        if not any(re.search(rf"\bself\.{re.escape(name)}\b", text) for text in (after, asked))
    }
    if not lacking:
        return ()
    listed = at_most(NAMED_UPSTREAM, [f"self.{name} ({', '.join(found)})" for name, found in lacking.items()])
    sentence = (
        f"omni's copies lack {TITLES[followed]} code from before this upgrade that no review item is about: "
        f"{listed}; omni removed it or never had it"
    )
    return (sentence,)


def _tree_options(given: inputs.Inputs, options: UpgradeOptions) -> str:
    """Return the command-line options that name the trees, with the version of the followed one or ``V`` if unknown."""
    project, words = given.profile.followed, options.tree_words()
    if not options.tree(project).is_given:
        version = given.followed.source.version if given.followed is not None else None
        words += [f"--{project.removeprefix('vllm-')}-version", version or "V"]
    return f" {shlex.join(words)}"


def _format_symbol(symbol: str) -> str:
    """Return a name as it is, and the beginning of a passage as code."""
    return symbol if symbol.isidentifier() else f"`{symbol}`"


def _find_missing(results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> list[Finding]:
    """Run the rules about missing GPU code on the results and on the modules before.

    An old finding is kept if its unit still lacks the name, because a port to another unit of the class silences the
    rule.
    """
    after = {result.path: result.after for result in results}
    before = {result.path: result.before for result in results}
    found = _found(after, given, options)
    known = {(one.path, one.unit, one.symbol) for one in found}
    units = {path: texts.unit_texts(text, path) for path, text in after.items()}
    return [
        *found,
        *(
            one
            for one in _found(before, given, options)
            if (one.path, one.unit, one.symbol) not in known
            and one.symbol.isidentifier()
            and (text := units.get(one.path, {}).get(one.unit)) is not None
            and not has_code_word(text, one.symbol)
        ),
    ]


def _found(modules_now: Mapping[str, str], given: inputs.Inputs, options: UpgradeOptions) -> tuple[Finding, ...]:
    """Run the rules on modules with these texts."""
    tree = replace(given, omni=PatchedTree(given.omni, dict(modules_now)))
    modules = [replace(derived, text=modules_now.get(derived.path, derived.text)) for derived in find_modules(given)]
    check_options = CheckOptions(
        omni=options.omni, ascend=options.ascend, vllm=options.vllm, select=_RULES.select, progress=options.progress
    )
    described = check_modules.describe_modules(check_options, tree, modules, _RULES)
    around = check_modules.search_trees(given, described, _RULES)
    return engine.run(CheckJob(given.profile, described, read=tree.omni.read, around=around), _RULES).findings


@dataclass(frozen=True, slots=True, kw_only=True)
class _TwinUnits:
    """The GPU runners' units by NPU name.

    ``helpers`` has the words of each GPU method or function that no NPU runner has, by plain name.
    """

    units: Mapping[str, str]
    helpers: Mapping[str, frozenset[str]]

    def find_users(self, symbol: str) -> list[str]:
        """Return a name and the helpers that use it, directly or through other helpers."""
        names = [symbol]
        for name in names:
            names += [one for one, words in self.helpers.items() if name in words and one not in names]
        return names


def _read_twins(results: Sequence[ModuleResult], given: inputs.Inputs) -> _TwinUnits:
    have = {name.rpartition(".")[2] for result in results for name in texts.unit_texts(result.after, result.path)}
    paths = [path for module in given.profile.modules for path in module.twin_paths]
    tables = [texts.unit_texts(given.omni.read(path) or "", path) for path in paths]
    units = {given.profile.npu_name(name): text for table in tables for name, text in table.items()}
    members = [(name.rpartition(".")[2], text) for name, text in units.items()]
    helpers = {name: "\n".join(canonical(text)) for name, text in members if name not in have}
    return _TwinUnits(
        units=units, helpers={name: frozenset(re.findall(r"\w+", text)) for name, text in helpers.items()}
    )


def _is_asked_about(finding: Finding, asked: Iterable[ReviewItem], twins: _TwinUnits) -> bool:
    """Whether a review item of the finding's unit or class shows the finding's symbol in the GPU text.

    The text may show the name or the beginning of the passage, or a local or helper that stands for the name.
    """
    near = [item for item in asked if f"{item.unit}.".startswith(f"{finding.unit}.")]
    is_name = finding.symbol.isidentifier()
    stand_ins = twins.find_users(finding.symbol) if near and is_name else [finding.symbol]
    for unit in dict.fromkeys(item.unit for item in near):
        held = _find_locals(finding.symbol, twins.units.get(unit, "")) if is_name else []
        wanted = _mention_pattern([*stand_ins, *held])
        shown = [item.upstream for item in near if item.unit == unit]
        if any(wanted.search(text) for one in shown for text in (one, *canonical(one))):
            return True
    return False


def _mention_pattern(symbols: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches one of the names, or the beginning of a passage."""
    begins = [symbol.removesuffix("…") for symbol in symbols]
    return re.compile("|".join(rf"(?<!\w){re.escape(one)}" + (r"\b" if one.isidentifier() else "") for one in begins))


def _find_locals(symbol: str, text: str) -> list[str]:
    """Return locals of a unit that are assigned the attribute ``symbol``, also by ``getattr``."""
    return [
        target.id
        for node in ast.walk(tree_of(text))
        if isinstance(node, ast.Assign) and _names_attribute(node.value, symbol)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]


def _names_attribute(value: ast.expr, symbol: str) -> bool:
    """Whether a value is the attribute ``symbol`` of something: ``self.model.symbol``, ``getattr(model, "symbol")``."""
    match value:
        case ast.Attribute(attr=attr):
            return attr == symbol
        case ast.Call(func=ast.Name("getattr"), args=[_, ast.Constant(attr), *_]):
            return bool(attr == symbol)
    return False
