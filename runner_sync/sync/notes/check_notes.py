"""Note what ``check`` and ``verify`` did not check and where problems may remain without findings.

Comes in: options, trees, chosen codes, a result. Goes out: notes, each a sentence; ``InputError`` for a run that could
not find what it was asked for. May touch: the trees, by reading.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import PurePath

from runner_sync.errors import InputError
from runner_sync.model import TITLES, Finding
from runner_sync.sync import check_modules
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.trees import branches, inputs
from runner_sync.verify.baseline import NEVER_ACCEPTED
from runner_sync.verify.catalog import OF_WHOLE_CLASSES, can_run, known_codes
from runner_sync.verify.check import CheckResult
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.codes import BREAKAGE, Codes


def refuse_blind(options: CheckOptions, given: inputs.Inputs, codes: Codes) -> None:
    """Raise ``InputError`` if none of the chosen rules can run, or some need a lock that does not exist.

    The run would look green although it could not find what it was asked for.
    """
    if not codes.wants_any(known_codes()):
        raise InputError("no rule is left to check: --select, --ignore and the configuration leave out every one.")
    project = given.profile.followed
    title, named = TITLES[project], inputs.options_of(project)
    origin = "--select " if options.select else f"{given.config.source or 'the configuration'}: select "
    idle = check_modules.idle_codes(given)
    if codes.select and not codes.wants_any(code for code in known_codes() if code not in idle):
        raise InputError(
            f"{origin}{', '.join(codes.select)} compares with GPU twins, and the {given.profile.platform} runners have "
            "none: select other rules, or another profile with --profile."
        )
    if given.followed is not None:
        return
    missing = {*idle, *_find_codes_needing_upstream(given), *(c for c in known_codes() if c.startswith(BREAKAGE))}
    if codes.select and not codes.wants_any(code for code in known_codes() if code not in missing):
        raise InputError(f"{origin}{', '.join(codes.select)} compares with {title}: name one with {named}.")
    # RS111 (units missing from the lock) finds nothing without a lock, but requires one only if it is selected.
    asked = [code for code in check_modules.LOCKED if code not in idle and (code != "RS111" or codes.select)]
    if not given.lock.entries and codes.wants_any(asked):
        where = given.omni.source.location
        command = f"runner-sync lock --{inputs.option_word(project)}-version V"
        write = f"write it with `{command}`, or " if given.root is not None else ""
        raise InputError(
            f"{where} has no {given.lock_file}: {write}compare with a {title} by {named}, or "
            f"leave out what needs the lock with --ignore {','.join(code for code in asked if code != 'RS111')}."
        )


def refuse_removed_lock(options: CheckOptions, given: inputs.Inputs, codes: Codes) -> None:
    """Raise ``InputError`` if a branch takes the lock away that chosen rules compare with.

    A lock written anew would record the GPU twins as they are, and hide what NPU lacks of them.
    """
    asked = [code for code in check_modules.LOCKED if code not in check_modules.idle_codes(given)]
    revision = options.changed_since
    if revision is None or given.lock.entries or not codes.wants_any(asked):
        return
    if branches.had_lock(given, revision, options.progress):
        raise InputError(
            f"{given.lock_file} is gone since {revision}: restore it with `git checkout {shlex.quote(revision)} -- "
            f"{given.lock_file}`, or leave out what needs it with --ignore {','.join(asked)}."
        )


def refuse_mute(options: CheckOptions, codes: Codes) -> None:
    """Raise ``InputError`` if a ``verify`` can report nothing: no rule is left, or just the type checker, which is off.

    The run would look green although nothing was looked at.
    """
    left = [code for code in known_codes() if codes.wants(code)]
    if not left:
        raise InputError("no rule is left to verify: --select, --ignore and the configuration leave out every one.")
    if left == ["RS390"] and options.typecheck == "none":
        raise InputError("RS390 alone asks a type checker, and none is to run: name one by --typecheck ty or mypy.")


def refuse_unseen(options: CheckOptions, given: inputs.Inputs, codes: Codes, job: CheckJob) -> None:
    """Raise ``InputError`` if all selected rules compare with earlier GPU twins and cannot run.

    They cannot run if no earlier revision is at hand, or if the lock records the twins. The run would look green.
    """
    known = [code for code in known_codes() if codes.wants(code)]
    if not codes.select or set(known) - set(check_modules.EARLIER_TWINS) or any(can_run(code, job) for code in known):
        return
    why = "no earlier revision of the GPU runners is at hand"
    if options.omni_base is None and given.lock.gpu_paths:
        why = f"{given.lock_file} records the GPU runners, and RS201 reports their changes"
    raise InputError(f"select {', '.join(known)}: {why}; name a revision to compare with by --omni-base.")


def note_unread(job: CheckJob, result: CheckResult) -> list[str]:
    """Note what was not checked because a file or the fork point could not be read.

    That covers uses of a file that does not parse and that no runner needs, and breakage by a branch on untouched
    lines.
    """
    worlds = [world for world in (job.world, job.old_world) if world is not None]
    errors = dict.fromkeys(str(error) for world in worlds for _, error in sorted(world.unread.items()))
    notes = [f"uses of what this file defines were not checked: {error}" for error in errors]
    if result.branch_error is not None:
        notes.append(
            "breakage by the branch on lines that it did not touch was not checked, because the tree at which it began "
            f"cannot be read: {result.branch_error}"
        )
    return notes


def note_known(options: CheckOptions, job: CheckJob, result: CheckResult) -> list[str]:
    """Note how many problems fit neither the new nor the old trees, and how to see them."""
    if not result.known or job.world is None or options.changed_since is not None:
        return []
    number, listed = ("1 problem fits", "is") if result.known == 1 else (f"{result.known} problems fit", "are")
    upstreams = [tree.source for project, tree in job.world.trees.items() if project != "vllm-omni"]
    bases = [word for one in upstreams for word in (f"--{inputs.option_word(one.project)}-base", one.ref)]
    command = shlex.join(["runner-sync", "check", "--select", "RS3", *bases])
    return [f"{number} neither the new nor the old trees and {listed} not listed: `{command}` lists all"]


def note_unfollowed(result: CheckResult, codes: Codes) -> list[str]:
    """Note the classes whose bases cannot be followed, with the wanted rules that need them."""
    if not result.unfollowed:
        return []
    silent = ", ".join(code for code in OF_WHOLE_CLASSES if codes.wants(code))
    text = f"{', '.join(result.unfollowed)}: an omni base class cannot be found, so inherited members were not checked"
    return [f"{text} ({silent}): import the base by its name"]


def note_ported(result: CheckResult) -> list[str]:
    """Note units that the branch edited together with their GPU twins, and units equal to their twins.

    Only a new lock can record that such an edit was a port.
    """
    notes = []
    if result.ported:
        units = ", ".join(result.ported)
        notes.append(
            f"{units}: the unit and its GPU twin both changed since the lock; if this change is the port, record it "
            "with `runner-sync lock`"
        )
    if result.equal:
        units = ", ".join(result.equal)
        notes.append(
            f"{units}: equals its GPU twin, but the lock has another text of the twin; record the present one with "
            "`runner-sync lock`"
        )
    return notes


def note_idle_ignores(given: inputs.Inputs) -> list[str]:
    """Note the patterns of ``per-path-ignores`` that match no file: misspelt, or left over from a deleted file."""
    globs = given.config.per_path_ignores
    paths = [*given.omni.paths(), given.lock_file] if globs else []
    place = f"{given.config.source}: per-path-ignores"
    return [f"{place}: no file matches {glob!r}" for glob in globs if not any(fnmatchcase(p, glob) for p in paths)]


def note_skipped_rules(options: CheckOptions, given: inputs.Inputs, codes: Codes) -> list[str]:
    """Note the chosen rules that did not run because no tree of the followed project is named."""
    project = given.profile.followed
    if given.followed is not None:
        return []
    idle = check_modules.idle_codes(given)
    if options.omni_base is None and given.lock.gpu_paths:
        idle += check_modules.EARLIER_TWINS  # the lock records the twins, so these rules are not needed
    left = [code for code in _find_codes_needing_upstream(given) if codes.wants(code) and code not in idle]
    left += [BREAKAGE + "xx"] * codes.wants_group(BREAKAGE)
    if not left:
        return []
    verb, subject = ("needs", "it") if len(left) == 1 else ("need", "they")
    known = given.lock.inputs.get(project, "")
    option = f"--{inputs.option_word(project)}-version {known}"
    hint = f" (the lock was written with {known}: {option})" if inputs.is_version(known) else ""
    return [f"{', '.join(left)} {verb} a {TITLES[project]}, and none is named: {subject} did not run{hint}"]


def advise_baseline(options: CheckOptions, given: inputs.Inputs, findings: Iterable[Finding]) -> str:
    """Return how to accept the findings of a ``check`` of all rules and lines; empty if a baseline is used.

    It is also empty for a release, to which nothing can be committed, and if no baseline accepts any of ``findings``.
    """
    file = options.baseline or given.config.baseline
    if file is not None or options.changed_since is not None or options.select or given.root is None:
        return ""
    if all(finding.code in NEVER_ACCEPTED for finding in findings):
        return ""
    name = f"{PurePath(given.lock_file).stem}-baseline.json"
    source = given.config.source
    value = name if source is None else PurePath(os.path.relpath(given.root / name, source.parent)).as_posix()
    where = "[tool.runner-sync] of pyproject.toml" if source is None else str(source)
    named = shlex.quote(str(given.root / name))
    return (
        f"the first time, accept findings that are older than your work: `runner-sync check --baseline {named} "
        f'--update-baseline`, commit that file, and set `baseline = "{value}"` in {where}'
    )


def _find_codes_needing_upstream(given: inputs.Inputs) -> tuple[str, ...]:
    """Return the rules that need a followed tree and, without a vLLM, also those that need vLLM's modules."""
    return check_modules.DRIFT if given.vllm is not None else (*check_modules.DRIFT, *check_modules.AGAINST_VLLM)
