"""Check the upgraded runners at the end of ``upgrade``: whether they fit their target trees, and what the merge broke.

Comes in: the trees and the results. Goes out: findings, notes, and questions that name findings. May touch: the trees,
by reading.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.model import Finding, ReviewItem
from runner_sync.profile import Profile
from runner_sync.sync.forgetting import forget_answers
from runner_sync.sync.notes import inherited_code
from runner_sync.sync.synced.revisions import find_commit_like
from runner_sync.sync.trees import inputs, pairs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import InGit, Tree
from runner_sync.unmerged import conflicts
from runner_sync.upgrade import ModuleResult, is_selected
from runner_sync.verify import breakage
from runner_sync.verify import check as engine
from runner_sync.verify.causes import fold_causes
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import Codes
from runner_sync.verify.hits import Hit
from runner_sync.verify.ignores import silence
from runner_sync.verify.runners.reading import Reading
from runner_sync.verify.trees.world import World

_OF_TEXTS = Codes(select=("RS401", "RS405", "RS408", "RS411", "RS412"))
"""The rules about a single text: unbalanced markers, repeated statements, a value that is set again, unreachable code,
a method that no longer returns its value at the end."""


class Verified(NamedTuple):
    """The breakage of a result, and notes on the code that it inherits.

    ``fitted`` are the options that name the trees which the runners fitted before, with which findings are compared;
    empty if these are the target trees.
    """

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    fitted: str = ""


def find_new_breakage(given: inputs.Inputs, results: Sequence[ModuleResult], options: UpgradeOptions) -> Verified:
    """Find breakage of the upgraded modules in the target trees.

    If only the GPU runners are ported, finds only the breakage that this run caused. If a needed tree is missing, a
    note says why nothing was verified.
    """
    pair, unread = _open_pair_before(given, results, options)
    fitted = shlex.join(pair.words) if pair is not None else ""
    if why := why_unverified(given, results, options):
        return Verified(notes=(f"not verified: {why}",) if options.verify else (), fitted=fitted)
    options.progress("verifying", 0, None)
    forget_answers()
    omni = PatchedTree(given.omni, {result.path: result.after for result in results})
    world = World({**given.trees, "vllm-omni": omni}, surroundings=given.profile.surroundings)
    own = [result.path for result in results]
    paths = [*own, *world.beside(own)]
    before = world.with_omni(given.omni)
    if not options.upstream:
        # A port did not cause breakage that the runners had before on this vllm-ascend.
        found, ignored = drop_ignored(breakage.find(world, before, paths), omni)
        return Verified(tuple(fold_causes(found)), _note_ignored(ignored))
    since = pair.world(given) if pair is not None else None
    found = breakage.find(world, None, paths, since=since or before, imports=False)
    found += breakage.find_imports_elsewhere(world, since or before, own, given.profile.followed)
    found, ignored = drop_ignored(found, omni)
    found, others = split_by_request(found, options, lambda: breakage.find(world, before, paths, imports=False))
    inherited, idle = breakage.find_inherited(world, own)
    notes = (
        *unread,
        *_note_others(others, options),
        *_note_ignored(ignored),
        *inherited_code.note_unfit(inherited, world, given.profile, reported=found),
        *inherited_code.note_never_set([i for i in idle if is_selected(i.unit, options.only)], given.profile),
    )
    return Verified(tuple(fold_causes(found)), notes, fitted)


def drop_ignored(found: Sequence[Finding], omni: Tree) -> tuple[list[Finding], int]:
    """Return the findings that no ``ignore`` comment silences, as ``verify`` does, and the number of the others."""
    texts = {path: omni.read(path) for path in dict.fromkeys(finding.path for finding in found)}
    readings = {path: Reading(path, text) for path, text in texts.items() if text is not None}
    left, _comments = silence([Hit(finding) for finding in found], readings)
    return [hit.finding for hit in left], len(found) - len(left)


def _note_ignored(number: int) -> tuple[str, ...]:
    if not number:
        return ()
    what = "1 finding is" if number == 1 else f"{number} findings are"
    return (f"{what} silenced by `# runner-sync: ignore` comments, and not listed",)


def mention_findings(items: Iterable[ReviewItem], findings: Sequence[Finding]) -> tuple[ReviewItem, ...]:
    """Return the items with the messages of the findings inside the lines that they ask about.

    Skips items that stand only in the report: their lines are not what they ask about.
    """

    def mention(item: ReviewItem) -> ReviewItem:
        inside = [
            finding
            for finding in findings
            if finding.path == item.path and item.line <= finding.line and finding.end_line <= item.end_line
        ]
        said = dict.fromkeys(f"; {finding.code}: {finding.message.rstrip('.')}" for finding in inside)
        return replace(item, reason=item.reason + "".join(said)) if item.in_file and said else item

    return tuple(mention(item) for item in items)


def split_by_request(
    found: list[Finding], options: UpgradeOptions, load_new: Callable[[], list[Finding]]
) -> tuple[list[Finding], list[Finding]]:
    """Split findings into those that a run with ``--only`` reports and those that it leaves aside.

    It leaves aside old findings in units that nobody asked for. ``load_new`` finds the new ones, because a new
    signature breaks calls elsewhere.
    """
    others = [finding for finding in found if not is_selected(finding.unit, options.only)]
    if not others:
        return found, []
    new = {_finding_key(finding) for finding in load_new()}
    aside = [finding for finding in others if _finding_key(finding) not in new]
    return [finding for finding in found if finding not in aside], aside


def _finding_key(finding: Finding) -> tuple[str, str, int, str]:
    return finding.code, finding.path, finding.line, finding.symbol


def _note_others(others: Sequence[Finding], options: UpgradeOptions) -> tuple[str, ...]:
    if not others:
        return ()
    number = "1 finding is" if len(others) == 1 else f"{len(others)} findings are"
    command = " ".join(["runner-sync verify", shlex.join(options.tree_words())]).strip()
    return (f"{number} in units that --only left unchanged, and not listed (`{command}` shows what is there)",)


def _open_pair_before(
    given: inputs.Inputs, results: Sequence[ModuleResult], options: UpgradeOptions
) -> tuple[pairs.Pair | None, tuple[str, ...]]:
    """Open the trees that the runners fitted before; return ``None`` if these are the target trees.

    Returns ``None`` also if there is nothing to verify on target trees. If the trees cannot be read, a note says so,
    because rules that compare versions then have nothing to compare with.
    """
    if not (options.verify and options.upstream) or given.followed is None or given.vllm is None:
        return None, ()
    project = given.profile.followed
    bases = [unit.base for result in results for unit in result.units]
    refs = _replace_gone([base.ref for base in bases if base is not None and base.project == project], given)
    try:
        return pairs.open_pair_before_upgrade(options, given, refs), ()
    except InputError as error:
        return None, (f"verified without the older trees to compare with, because they cannot be read: {error}",)


def _replace_gone(refs: list[str], given: inputs.Inputs) -> list[str]:
    """Put the commit with the locked texts, which was merged, in place of each that the checkout no longer has."""
    tree, project = given.followed, given.profile.followed
    commits = sorted({ref for ref in refs if inputs.is_commit(ref)})
    gone = tree.list_missing(commits) if commits and isinstance(tree, InGit) else ()
    found = {ref: commit[:10] for ref in gone if (commit := find_commit_like(ref, given, project)) is not None}
    return [found.get(ref, ref) for ref in refs]


def why_unverified(given: inputs.Inputs, results: Iterable[ModuleResult], options: UpgradeOptions) -> str:
    """Return why the result is not checked against the target trees; empty if it is."""
    if not options.verify:
        return "it was not asked for"
    if given.followed is None:
        return f"no {given.profile.followed} is at hand"
    if given.vllm is None:
        return f"no vLLM is at hand: {sources.vllm_remedy(given.followed)}"
    if _have_markers(results, options):
        return "diff3 markers are no Python; run `runner-sync verify` once they are settled"
    return ""


def _have_markers(results: Iterable[ModuleResult], options: UpgradeOptions) -> bool:
    return options.conflict == "inline" and any(conflicts(result.after) for result in results)


def find_new_faults(results: Sequence[ModuleResult], profile: Profile, options: UpgradeOptions) -> list[Finding]:
    """Return what the rules about a single text find in the modules beyond the number before.

    Counts per rule, unit and symbol. ``check`` would report these in the pull request. A merge asks about doubtful
    changes; these rules look at the result alone. Returns nothing if conflict markers stand in it.
    """
    if not options.verify or _have_markers(results, options):
        return []
    before, after = (
        CheckJob(profile, tuple(CheckModule(path, text) for path, text in texts if text))
        for texts in ([(one.path, one.before) for one in results], [(one.path, one.after) for one in results])
    )
    known = Counter(finding.identity for finding in engine.run(before, _OF_TEXTS).findings)
    fresh = []
    for finding in engine.run(replace(after, before=lambda: before), _OF_TEXTS).findings:
        if known[finding.identity]:
            known[finding.identity] -= 1
        else:
            fresh.append(finding)
    return fresh
