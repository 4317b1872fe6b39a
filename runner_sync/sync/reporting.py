"""Make the report, the changed files and the lock of a run of ``upgrade`` or ``lock``.

Comes in: the results of a run, its findings and notes, the trees, the options. Goes out: ``Upgrade``. May touch: the
trees, by reading.
"""

from __future__ import annotations

from collections.abc import Collection

from runner_sync import sources, write
from runner_sync.compose.notes import WORD
from runner_sync.model import Finding, Report
from runner_sync.sync import planned, result_check
from runner_sync.sync.locks.lock_change import make_lock_change
from runner_sync.sync.notes import next_commands, run_notes
from runner_sync.sync.planned import Upgrade
from runner_sync.sync.trees import inputs
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.upgrade import ModuleResult, ask_once, is_selected


def make_plan(
    command: str,
    results: list[ModuleResult],
    *,
    whole: list[ModuleResult] | None = None,
    findings: tuple[Finding, ...] = (),
    notes: tuple[str, ...],
    given: inputs.Inputs,
    options: UpgradeOptions,
    unseen: Collection[str] = (),
) -> Upgrade:
    """Make the plan of a run from its results: the report, the changed files and the lock.

    ``whole`` are the results with each runner that omni has taken apart as one module, as notes and the lock have it.
    The lock records no GPU twin for the ``unseen`` modules.
    """
    whole = results if whole is None else whole
    changes = planned.collect_changes(results)
    units = tuple(unit for result in results for unit in result.units)
    report = Report(
        command=command,
        inputs=given.sources,
        units=tuple(u for u in units if u.outcome != "unchanged" or is_selected(u.unit, options.only)),
        reviews=result_check.mention_findings(
            ask_once(item for result in results for item in result.reviews), findings
        ),
        findings=findings,
        changes=changes,
        notes=(*notes, *run_notes.make_notes(whole, given, options)),
        summary=_summarise(command, results, given, options),
        folder=sources.folder_in_repository(given.omni) if options.out is None else "",
        platform=given.profile.platform,
        followed=given.profile.followed,
    )
    root = options.out if options.out is not None else given.root
    lock = make_lock_change(command, whole, given, options, unseen=unseen)
    patch = write.as_on_disk([*changes, *([lock] if lock is not None else [])], given.root)
    report = next_commands.complete_commands(report, options, given)
    return Upgrade(report, changes, root, lock, patch)


def _summarise(
    command: str, results: list[ModuleResult], given: inputs.Inputs, options: UpgradeOptions
) -> dict[str, int | str]:
    """Return the figures of a run.

    These are included only if not zero: review comments in the old texts, unported GPU members, those of
    ``--only`` that a note explains, and the flags for ``--gpu-only`` and for an unverified result.
    """
    open_before = sum(result.before.count(WORD) for result in results)
    unverified = command == "upgrade" and bool(result_check.why_unverified(given, results, options))
    extras = {
        "left_open": open_before,
        **(run_notes.count_unported(results) if not options.only else {}),
        "explained": run_notes.count_explained(results, options),
        "gpu_only": int(not options.upstream),
        "unverified": int(unverified),
    }
    extra = {name: number for name, number in extras.items() if number}
    return planned.summarise(results) | extra
