"""Note what a run of ``upgrade`` or ``lock`` did not commit, port or lock, and that it goes back.

Comes in: the results of the modules, the inputs and the options. Goes out: notes, each a sentence. May touch: the
trees and their history, by reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from packaging.version import Version

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.lock import ASKED
from runner_sync.model import TITLES
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import find_modules, note_absent_files
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.texts.member_text import self_names
from runner_sync.trees import InGit, InWork, Tree
from runner_sync.units import texts
from runner_sync.upgrade import ModuleResult, is_selected

_LEFT_OUT = ("left", "skipped", "device", "rebuilt")
"""Decisions by which NPU continues without a GPU member and no review item asks about it."""


def make_notes(results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> tuple[str, ...]:
    """Return all notes of a run."""
    return (
        *given.note_moves(),
        *_note_uncommitted(given, options),
        *_note_nested_members(given, options),
        *_note_unnamed_tree(given, options),
        *_note_coarse_bases(given, options),
        *_note_lost_vllm(given, options),
        *(_note_other_vllm(results, given) if options.upstream else ()),
        *_note_unported(results, given, options),
        *_note_left_behind(results, given, options),
        *_note_missing_lock(given, options),
        *note_absent_files(given, [result.path for result in results]),
    )


def _note_left_behind(
    results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions
) -> tuple[str, ...]:
    """Note the units of which a run since a named base left out what the GPU runners had gained before."""
    if options.omni_base is None:
        return ()
    twins = {name: gpu for result in results for name, (_upstream, gpu) in result.synced.items() if gpu is not None}
    names = [name for name, gpu in twins.items() if gpu.how == "lock"]
    if not names:
        return ()
    what = f"left out, because it is older than {options.omni_base}: what the GPU runners gained in {', '.join(names)}"
    return (f"{what}; {given.lock_file} goes on naming the older texts, and an upgrade without --omni-base ports it",)


def note_unformatted(failures: Iterable[str]) -> tuple[str, ...]:
    """Note once why changed code was not formatted, from ruff's message about each module (``""``: none).

    One note is enough because broken settings fail for all modules in the same way.
    """
    reason = next(filter(None, failures), "")
    return (f"the changed lines are not formatted, because `ruff format` failed: {reason}",) if reason else ()


def _note_uncommitted(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Note each tree with uncommitted changes in followed files, because the lock can only name the commit."""
    modules = [derived.module for derived in find_modules(given)]
    twins = [path for module in modules for path in module.twin_paths if options.gpu]
    upstream = [anchor.path for module in modules for anchor in module.upstreams[:1]]
    found = []
    for tree, paths in ((given.omni, twins), (given.followed, upstream)):
        if tree is None or not isinstance(tree, InWork):
            continue
        changed = tree.dirty([path for path in dict.fromkeys(paths) if tree.read(path) is not None])
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            found.append(
                f"{TITLES[tree.source.project]}: {changed[0]}{more} was read with uncommitted changes; "
                f"the lock names {tree.source.ref}, which does not have them"
            )
    return found


def _note_nested_members(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Note each module or twin that defines members inside other statements of its class.

    Such members are not merged, ported or recorded in the lock.
    """
    found = []
    for one in find_modules(given):
        sides = [(one.path, one.module.name, one.text)]
        if one.module.gpu is not None and options.gpu:
            sides.append((one.module.gpu.path, one.module.gpu.name, given.read_twin(one.module) or ""))
        for path, owner, text in sides:
            beside = texts.beside_units(text, path)
            named = [f"{name} (line {line})" for name, line in beside.items() if name.rpartition(".")[0] == owner]
            if named:
                found.append(
                    f"{path}: members inside another statement, or assigned to the class, are not merged, ported or "
                    f"recorded: {', '.join(named)}"
                )
    return found


def _note_unnamed_tree(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Note that the lock can name the followed tree only as a folder of this machine."""
    tree = given.followed
    if tree is None or tree.source.is_known_elsewhere or not options.upstream:
        return []
    where, version = f"{TITLES[tree.source.project]} in {tree.source.location}", tree.source.version
    lacks = f"is not {version} as released" if version is not None else "has neither a version nor a git revision"
    return [f"{where} {lacks}: the lock names that folder, which only this machine has"]


def _note_coarse_bases(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Note that the bases were inferred from releases, and a history with the commits in between is at hand.

    People copy from commits: what upstream had only between two releases then counts as omni's own.
    """
    tree, followed = given.followed, given.profile.followed
    if not isinstance(tree, InGit) or not options.upstream or options.base(followed) is not None:
        return []
    refs = [entry.upstream.ref for entry in given.lock.entries if entry.upstream is not None]
    is_inferred = f"{followed}{ASKED}" not in given.lock.inputs
    if not refs or not is_inferred or not all(map(inputs.is_version, refs)) or tree.is_shallow():
        return []
    where = tree.source.location
    text = f"{given.lock_file} names releases that the copies resemble; the history of {where} may have closer commits"
    return [f"{text}: to look there, delete that file and run `runner-sync lock` first"]


def _note_lost_vllm(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Note that vLLM lacks a module from which GPU twins derive, so that its own changes cannot be told from omni's."""
    vllm = given.vllm
    if vllm is None or not options.gpu:
        return []
    rows = [derived.module for derived in find_modules(given) if derived.module.gpu is not None]
    paths = dict.fromkeys(given.profile.vllm_of(row).path for row in rows)
    lost = [path for path in paths if vllm.read(path) is None]
    what = "what the GPU twins took over from it counts as omni's own"
    return [f"vLLM {vllm.source.ref} has no {path}: {what}" for path in lost]


def _note_other_vllm(results: Sequence[ModuleResult], given: inputs.Inputs) -> list[str]:
    """Note that omni's shared code is written for another vLLM than the changed runners are to run on."""
    declared, tree = sources.declared_vllm(given.omni), given.vllm
    target = tree.source.version if tree is not None else None
    is_changed = any(result.after != result.before for result in results)
    if declared is None or target is None or not is_changed or given.profile.followed == "vllm":
        return []
    if Version(declared).release[:2] == Version(target).release[:2]:
        return []
    text = (
        f"this vllm-omni is for vLLM {declared}, but the upgraded runners run on {target}; the GPU runners and other "
        f"shared code are not upgraded (`runner-sync verify --profile gpu --vllm-version {target}` shows what breaks "
        "in the GPU runners)"
    )
    return [text]


def _note_unported(results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Note the GPU members that were not ported and that no review item asks about.

    The notes say where to read which members need no port, and name those that NPU continues without. With ``--only``,
    they say why the selected members need none.
    """
    if options.only:
        return _explain_unported(results, given, options)
    counts = Counter(action for result in results for action in result.decided.values())
    notes = []
    if counts["inherited"] or counts["unneeded"]:
        whose = "" if given.followed is not None else " in omni"
        notes.append(
            f"some members of the GPU classes need no port: the NPU classes inherit a version of them, or "
            f"nothing{whose} calls them (`runner-sync blocks` says which, of those with omni code)."
        )
    if left := list_left_out(results):
        notes.append(
            "not ported, because NPU did without them before, or because an earlier run asked about them: "
            f"{', '.join(left)} (`--only NAME` ports one, or says what keeps it out)."
        )
    return notes


def list_left_out(results: Sequence[ModuleResult]) -> list[str]:
    """Return the names of the GPU members that NPU continues without and no review item of this run is about."""
    asked = {item.unit for result in results for item in result.reviews}
    fates = {name: fate for result in results for name, fate in result.decided.items()}
    return [name for name, fate in fates.items() if fate in _LEFT_OUT and name not in asked]


def count_unported(results: Sequence[ModuleResult]) -> dict[str, int]:
    """Count the GPU members that NPU continues without, and those of them that review items ask about.

    The next run counts as many and asks about none.
    """
    fates = [fate for result in results for fate in result.decided.values()]
    total = sum(fate == "asked" or fate in _LEFT_OUT for fate in fates)
    return {"unported": total, "unported_asked": total - len(list_left_out(results))}


def _explain_unported(results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Explain for each GPU member that ``--only`` selects why it needs no port."""
    unknown = "no omni code calls it, and a run without vllm-ascend (--gpu-only) cannot tell whether vllm-ascend does"
    reasons = {
        "inherited": "the NPU class inherits a version of it",
        "unneeded": "nothing on NPU calls it" if given.followed is not None else unknown,
    }
    ask = "; to tell, name one with --ascend-path or --ascend-version" if given.followed is None else ""
    explained = _list_explained(results, options)
    ends = {
        name: f"{_explain_port_with_callers(name, given)}{ask}" if fate == "unneeded" else ""
        for name, fate in explained.items()
    }
    return [f"{name} is not ported: {reasons[fate]}{ends[name]}" for name, fate in explained.items()]


def _list_explained(results: Sequence[ModuleResult], options: UpgradeOptions) -> dict[str, str]:
    """Return the GPU members that ``--only`` selects and that were found to need no port, with their fates."""
    fates = {name: fate for result in results for name, fate in result.decided.items()}
    return {
        name: fate
        for name, fate in fates.items()
        if fate in ("inherited", "unneeded") and is_selected(name, options.only)
    }


def count_explained(results: Sequence[ModuleResult], options: UpgradeOptions) -> int:
    """Count the GPU members that ``--only`` selects and of which a note says why they were not ported."""
    return len(_list_explained(results, options)) if options.only else 0


def _explain_port_with_callers(name: str, given: inputs.Inputs) -> str:
    """Return the end of a note: how to port a member with the GPU methods that call it; empty without callers."""
    owner, _, member = name.rpartition(".")
    twin = given.profile.gpu_name(owner)
    paths = [module.gpu.path for module in given.profile.modules if module.gpu is not None and module.gpu.name == twin]
    tables = [texts.members(text, twin, path) for path in paths if (text := given.omni.read(path))]
    callers = [caller for table in tables for caller, body in table.items() if member in self_names(body)]
    if not callers:
        return ""
    wanted = " ".join(f"--only {owner}.{caller}" for caller in callers)
    return (
        f"; the GPU runner does in {', '.join(callers)}: `{wanted} --omni-base V` ports that, where V is a release "
        "before the call was made"
    )


def _note_missing_lock(given: inputs.Inputs, options: UpgradeOptions) -> list[str]:
    """Note that no lock is written, if there is none yet and ``--only`` is given."""
    if not options.only or given.lock.entries:
        return []
    return [f"{given.lock_file} was not written: there is none yet, and it would lack the units that --only leaves out"]


def note_going_back(given: inputs.Inputs) -> tuple[str, ...]:
    """Note that the lock records a later upstream than the followed one, or one that was followed with a later vLLM.

    Returns nothing if the order of the two is unknown.
    """
    project = given.profile.followed
    recorded = given.lock.inputs.get(project, "")
    if given.followed is None or not recorded:
        return ()
    now, loss = given.followed.source.ref, f"what {TITLES[project]} gained in between is removed again"
    then = f"{recorded}, which {given.lock_file} records"
    if _is_before(given.followed, recorded):
        return (f"{TITLES[project]} {now} is older than {then}: this run goes back, and {loss}",)
    later = _find_later_vllm(given)
    if later and given.vllm is not None and now != recorded:
        text = f"{TITLES[project]} {now} is for vLLM {given.vllm.source.version}, and {then}"
        return (f"{text}, was followed with vLLM {later}: where this run goes back, {loss}",)
    return ()


def _find_later_vllm(given: inputs.Inputs) -> str:
    """Return the vLLM version that the lock records, if it is later than this run's; else empty."""
    recorded, vllm = given.lock.inputs.get("vllm", ""), given.vllm
    if vllm is None or vllm.source.version is None or not inputs.is_version(recorded):
        return ""
    return recorded if Version(vllm.source.version) < Version(recorded) else ""


def _is_before(tree: Tree, recorded: str) -> bool:
    """Whether ``tree`` is an earlier release than ``recorded`` or, in git, an ancestor of it; false in doubt."""
    if inputs.is_version(recorded) and tree.source.version is not None:
        return Version(tree.source.version) < Version(recorded)
    if not isinstance(tree, InGit) or tree.source.revision is None or tree.source.revision.startswith(recorded):
        return False
    try:
        return tree.fork_point(recorded) == tree.source.revision
    except InputError:
        return False  # the commit is gone or belongs to another history
