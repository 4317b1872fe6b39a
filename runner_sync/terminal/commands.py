"""Run a command: call ``sync``, deliver the report, say what is left to do, return the exit code.

Comes in: frozen options, the words after ``-o``, a ``Screen``. Goes out: exit codes (0 nothing left for a person, 1
review items or findings). May touch: whatever ``sync`` and the outputs touch.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, get_args

from runner_sync.errors import InputError, UnreadableRelease
from runner_sync.terminal import naming_profile
from runner_sync.terminal.delivery import Delivery, deliver
from runner_sync.terminal.groups import Writing
from runner_sync.terminal.outputs import Output, parse_outputs
from runner_sync.terminal.progress import show_progress
from runner_sync.terminal.screen import Screen

if TYPE_CHECKING:
    from runner_sync.model import Report, ReviewItem
    from runner_sync.sync import Upgrade
    from runner_sync.sync.options import CheckOptions, Postponed, Progress
    from runner_sync.sync.upgrade_options import ReplayOptions, UpgradeOptions

DONE = 0
LEFT_TO_A_PERSON = 1

Planner = Callable[["UpgradeOptions"], "Upgrade"]
Reporter = Callable[["CheckOptions"], "Report"]


class _Watched(Protocol):
    """Options with a progress callback."""

    @property
    def progress(self) -> Progress: ...


_Options = TypeVar("_Options", bound=_Watched)


def exit_code(report: Report) -> int:
    """Return 1 if a person has to decide or fix something, including review comments of an earlier run; else 0.

    Findings below ``--fail-on`` do not count. Review comments do not count for ``lock``: a lock is complete with them.
    """
    is_open = report.command != "lock" and report.summary.get("left_open")
    from runner_sync.model import Severity

    ranks = get_args(Severity)
    fails = any(ranks.index(finding.severity) <= ranks.index(report.fail_on) for finding in report.findings)
    return LEFT_TO_A_PERSON if report.reviews or fails or is_open else DONE


def change(command: str, plan: Planner, options: UpgradeOptions, writing: Writing, *, screen: Screen) -> int:
    """Plan a change of the omni tree, and write it unless ``--diff`` is given; returns the exit code."""
    options = _name_latest(options, screen)
    diff = writing.diff
    outputs = _parse_outputs(writing.output, options, command=command, default="diff" if diff else "text")
    if options.omni.version is not None and options.out is None and not diff:
        raise InputError(f"--omni-version {options.omni.version} is no checkout to write to: add --out DIR, or --diff.")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise InputError(f"{options.out} is no folder: name an empty one, or a new one, with --out.")
    with naming_profile.add_to_errors(options):
        planned = _watch(lambda seen: _plan(command, plan, seen, diff=diff), options, screen)
    lock = (planned.lock,) if planned.lock is not None else ()
    report = replace(planned.report, changes=(*planned.report.changes, *lock))
    planned = replace(planned, report=naming_profile.add_to_report(report, options))
    if diff:
        _show_plan(planned, outputs, screen)
    else:
        _write(planned, outputs, options, screen)
    return exit_code(planned.report)


def _show_plan(planned: Upgrade, outputs: Sequence[Output], screen: Screen) -> None:
    """Deliver the report of a run with ``--diff``."""
    with Delivery(outputs, screen) as delivery:
        delivery.prepare(planned.report, patch=planned.patch)
        delivery.finish()
    _say_what_was_found(planned.report, outputs, screen)
    _say_what_was_planned(planned, outputs, screen)


def _write(planned: Upgrade, outputs: Sequence[Output], options: UpgradeOptions, screen: Screen) -> None:
    """Write the files of a plan and deliver its report.

    The report is prepared first, so that no file of the tree is changed if it cannot be written. Only what goes to
    standard output comes later; if that fails, what is left to do is said nevertheless.
    """
    from runner_sync import sync

    def complete(paths: Sequence[str]) -> Report:
        return replace(planned.report, summary={**planned.report.summary, "written": len(paths)})

    with Delivery(outputs, screen) as delivery:
        with naming_profile.add_to_errors(options):
            paths = sync.apply(
                planned,
                options,
                prepare=lambda paths: delivery.prepare(complete(paths), patch=planned.patch),
                tell=screen.count_written,
            )
        report = complete(paths)
        try:
            delivery.finish()
        except (OSError, InputError):
            _say_what_was_written(replace(planned, report=report), paths, (), options, screen)
            raise
    _say_what_was_found(report, outputs, screen)
    _say_what_was_written(replace(planned, report=report), paths, outputs, options, screen)


def _parse_outputs(
    values: Sequence[str] | None, options: CheckOptions | UpgradeOptions, *, command: str, default: str
) -> tuple[Output, ...]:
    """Return the outputs of a command on the omni tree; refuses to replace a file that the command reads."""
    from runner_sync import sync

    with naming_profile.add_to_errors(options):
        return parse_outputs(values, command=command, default=default, kept=lambda: sync.kept_files(options))


def _plan(command: str, plan: Planner, options: UpgradeOptions, *, diff: bool) -> Upgrade:
    """Return the plan; raises ``InputError`` before the work if its result could not be written."""
    from runner_sync import sync

    if not diff and (command in ("upgrade", "lock") or options.out is not None):
        sync.require_place(options, is_lock=command == "lock")
    return plan(options)


def _say_what_was_found(report: Report, outputs: Sequence[Output], screen: Screen) -> None:
    """Say the closing sentence, unless text on standard output already ends with it."""
    from runner_sync.render.summary import summarize

    if Output("text") not in outputs:
        screen.say(summarize(report))


def _say_what_was_planned(planned: Upgrade, outputs: Sequence[Output], screen: Screen) -> None:
    """Say which review items ``--diff`` did not show, and how to write the files.

    Without a patch of a source the items are the result of the run, and are shown instead of counted; so are the notes
    if they say why nothing was ported.
    """
    from runner_sync.render.text import render_notes
    from runner_sync.terminal.advice import find_list, find_only_listed

    unseen = find_only_listed(planned.report)
    if planned.report.summary.get("explained") and not planned.changes and not find_list(outputs):
        screen.say(render_notes(planned.report, width=screen.width()))
    if unseen and not find_list(outputs):
        if planned.changes:
            items = "1 review item is" if len(unseen) == 1 else f"{len(unseen)} review items are"
            them = "it" if len(unseen) == 1 else "them"
            screen.say(f"{items} in no line of the patch: add -o text to read {them}.")
        else:
            _say_items(unseen, screen)
    again = "Nothing was written; run again without --diff to write."
    screen.say(again if planned.report.changes else "There is nothing to write.")


def _say_items(items: Sequence[ReviewItem], screen: Screen) -> None:
    """Show review items that no output of this run shows."""
    from runner_sync.render.text import render_items

    if items:
        screen.say(f"\n{render_items(items, width=screen.width())}\n")


def _say_what_was_written(
    planned: Upgrade, paths: Sequence[str], outputs: Sequence[Output], options: UpgradeOptions, screen: Screen
) -> None:
    """Say which ``paths`` were written or, after an upgrade that changed a runner, what is left to do."""
    from runner_sync.terminal.advice import advise, find_list, find_only_listed

    root = planned.root or Path()
    if planned.report.command == "upgrade" and any(change.path in paths for change in planned.changes):
        is_tree = options.out is None
        listed = find_list(outputs)
        if not listed:
            _say_items(find_only_listed(planned.report), screen)
        words = _format_options(options)
        screen.say(advise(planned.report, paths, root=root, is_tree=is_tree, options=words, listed=listed or "above"))
    elif paths:
        screen.say(f"Wrote {', '.join(str(root / path) for path in paths)}.")


def _format_options(options: UpgradeOptions) -> str:
    """Return the options of this run that the next command needs, quoted for a shell, after a space."""
    words = " ".join(filter(None, (shlex.join(options.tree_words()), naming_profile.format_options(options))))
    return f" {words}" if words else ""


def inspect(
    command: str,
    find: Reporter,
    options: CheckOptions,
    values: Sequence[str] | None,
    *,
    screen: Screen,
    exit_zero: bool = False,
) -> int:
    """Report on the omni tree without changing it; returns the exit code, always 0 with ``exit_zero``.

    A baseline is written when the reports are prepared and not yet in place.
    """
    options = _name_latest(options, screen)
    outputs = _parse_outputs(values, options, command=command, default="text")
    postponed: list[Postponed] = []
    options = replace(options, postpone=postponed.append)
    with naming_profile.add_to_errors(options):
        report = _watch(find, options, screen)
    report = naming_profile.add_to_report(report, options)
    with Delivery(outputs, screen) as delivery:
        delivery.prepare(report)
        with naming_profile.add_to_errors(options):
            for write in postponed:
                write(screen.count_written)
        delivery.finish()
    if all(output.file is not None for output in outputs):
        _say_what_was_found(report, outputs, screen)
    return DONE if exit_zero else exit_code(report)


def replay(
    score: Callable[[ReplayOptions], Report], options: ReplayOptions, values: Sequence[str] | None, *, screen: Screen
) -> int:
    """Replay past upgrades and show the score; the exit code is 1 if a result does not parse."""
    outputs = parse_outputs(values, command="replay", default="text")
    try:
        report = _watch(score, options, screen)
    except UnreadableRelease as error:  # no option of a replay names another tree
        raise InputError(error.without_option) from error
    deliver(report, outputs, screen)
    return DONE if all(row.parses for row in report.replay) else LEFT_TO_A_PERSON


def show_item(find: Reporter, options: CheckOptions, values: Sequence[str] | None, *, screen: Screen) -> int:
    """Print a review item of an earlier run; reads no tree, because the folder may only hold what that run wrote."""
    outputs = parse_outputs(values, command="explain", default="text")
    with naming_profile.add_to_errors(options):
        report = find(options)
    deliver(report, outputs, screen)
    return DONE


def show_rules(
    find: Callable[[str | None], Report], code: str | None, values: Sequence[str] | None, *, screen: Screen
) -> int:
    """Print the rules, or one of them in full."""
    outputs = parse_outputs(values, command="rule", default="text")
    report = find(code.strip() if code is not None else None)
    if not report.rules:
        from difflib import get_close_matches

        close = get_close_matches(str(code).strip().lower(), [rule.name for rule in find(None).rules], n=1, cutoff=0.8)
        meant = f"did you mean {close[0]}? " if close else ""
        raise InputError(f"rule {code}: there is no such rule; {meant}`runner-sync rule` lists them all.")
    deliver(report, outputs, screen)
    return DONE


_Result = TypeVar("_Result")


def _watch(work: Callable[[_Options], _Result], options: _Options, screen: Screen) -> _Result:
    """Call ``work`` with the options and a progress display; returns its result."""
    with show_progress(screen) as progress:
        return work(replace(options, progress=progress))  # type: ignore[type-var]


_Run = TypeVar("_Run", "CheckOptions", "UpgradeOptions")


def _name_latest(options: _Run, screen: Screen) -> _Run:
    """Return the options with a number for each version ``latest``, and say which number it is."""
    from runner_sync.sync.options import LATEST

    asked = [name for name in ("omni", "ascend", "vllm") if getattr(options, name).version == LATEST]
    if not asked:
        return options
    from runner_sync.sync.latest import name_latest

    with show_progress(screen) as progress:
        named = replace(name_latest(replace(options, progress=progress)), progress=options.progress)
    for name in asked:
        screen.say(f"--{name}-version {LATEST} is {getattr(named, name).version}.")
    return named


def default_typechecker() -> Literal["ty", "none"]:
    """Return ``ty`` if it is installed (extra ``runner-sync[verify]``), else ``none``."""
    return "ty" if find_spec("ty") is not None else "none"
