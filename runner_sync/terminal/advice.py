"""List the steps after an upgrade was written: settle the review items, check, commit.

Comes in: the report of an upgrade and the written paths. Goes out: text for a person. May touch: nothing.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner_sync.model import TITLES, Provenance, Report, ReviewItem, Source, UnitReport
from runner_sync.render.summary import count_reviews

if TYPE_CHECKING:
    from runner_sync.terminal.outputs import Output

_READABLE = ("text", "html", "markdown", "json")
"""Formats that list review items, those that people read best first."""

_COMMIT_WIDTH = 72
"""Columns of a commit message (git-commit(1), Discussion)."""


def advise(
    report: Report, paths: Sequence[str], *, root: Path, is_tree: bool, options: str, listed: str = "above"
) -> str:
    """Return the steps that are left to a person, as a numbered list.

    ``is_tree``: ``root`` is a whole vllm-omni tree and not a folder with the changed files only. ``options``: the
    options that name the other trees and the configuration, to repeat in the next command. ``listed``: where the review
    items are listed, as `find_list` says.
    """
    asked = _list_review_steps(report, paths, root, listed)
    steps = [
        *asked,
        *_list_check_steps(report, root, is_tree=is_tree, is_settled=not asked, options=options),
        _describe_commit(report),
    ]
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    numbered = "\n".join(f"  {number}. {step}" for number, step in enumerate(steps, start=1))
    where = f"below {root}" if root != Path() else "here"
    return f"\nWrote {files} {where}; what is left:\n{numbered}"


def find_list(outputs: Sequence[Output]) -> str:
    """Return where a person reads the review items best, ``above`` or ``in FILE``; empty if no output lists them."""
    rank = {name: number for number, name in enumerate(_READABLE)}
    lists = [output for output in outputs if output.format != "diff"]
    best = min(lists, key=lambda output: (rank.get(output.format, len(rank)), output.file is not None), default=None)
    if best is None:
        return ""
    return "above" if best.file is None else f"in {best.file}"


def _list_review_steps(report: Report, paths: Sequence[str], root: Path, listed: str) -> list[str]:
    if not report.reviews:
        return []
    written = {change.path: change.after or "" for change in report.changes if change.path in paths}
    files = [path for path, text in sorted(written.items()) if any(item.id in text for item in report.reviews)]
    items = count_reviews(report)
    if not files:
        return [f"settle {items}, listed {listed}: no file that was written holds one"]
    found = "".join(f"\n       {root / path}" for path in files)
    in_conflict = _has_conflicts(report)
    marks = "`runner-sync: review`" + (" and `<<<<<<<`" if in_conflict else "")
    number = len(find_only_listed(report))
    rest = f"\n     ({number} of them only listed {listed}: they changed nothing in the files)" if number else ""
    first = next(item.id for item in report.reviews for path in files if item.id in written[path])
    show = f"\n     (`runner-sync explain {first}{_name_place(root)}` shows one in full)"
    walk = (
        f"`runner-sync settle{_name_place(root)}` asks about each{' that is no merge conflict' if in_conflict else ''};"
    )
    return [f"settle {items}: {walk}\n     or search for {marks}, decide, delete it, in{found}{rest}{show}"]


def find_only_listed(report: Report) -> list[ReviewItem]:
    """Return the review items without a comment in any changed file, which only a report shows."""
    written = "".join(change.after or "" for change in report.changes)
    return [item for item in report.reviews if item.id not in written]


def _has_conflicts(report: Report) -> bool:
    return any("\n<<<<<<< " in (change.after or "") for change in report.changes)


def _list_check_steps(report: Report, root: Path, *, is_tree: bool, is_settled: bool, options: str) -> list[str]:
    """Return the steps after the review.

    After review items, one step is `lock`: later edits are then recognised by comparison with the settled runners
    instead of the written ones. `verify` names the trees that the runners fitted before, because the lock names the new
    ones by then. A folder of changed files comes into a checkout first.
    """
    place = _name_place(root) if is_tree else ""
    if _find_target(report, report.followed) is None:
        word = report.followed.removeprefix("vllm-")
        options += f" --{word}-version V, where V is the {TITLES[report.followed]} that the runners are on"
    record = [] if is_settled else [f"record what you settled: runner-sync lock{place}{options}"]
    fitted = f" {report.fitted}" if report.fitted else ""
    check = f"look again: runner-sync verify{place}{options}{fitted}"
    if is_tree:
        return [*record, check]
    omni = _find_target(report, "vllm-omni")
    copy = f"copy what is in {root} over a checkout of vllm-omni {omni.ref if omni else ''}".rstrip()
    return [copy, *record, check]


def _name_place(root: Path) -> str:
    """Return the option that names ``root`` in the next command, after a space; empty for the current folder."""
    return f" --omni-path {shlex.quote(str(root))}" if root != Path() else ""


def _describe_commit(report: Report) -> str:
    return f"commit with sign-off (git commit -s), for example as\n\n{textwrap.indent(suggest_commit(report), ' ' * 7)}"


def suggest_commit(report: Report) -> str:
    """Return a commit message: ``[NPU] Upgrade to vX.Y.Z``, what came from upstream and what was synced from GPU."""
    omni = _find_target(report, "vllm-omni")
    followed = _find_target(report, report.followed) if not report.summary.get("gpu_only") else None
    taken = [unit for unit in report.units if unit.taken or _is_changed(unit, "upstream")]
    ported = [unit for unit in report.units if unit.ported or _is_changed(unit, "gpu")]
    did = f"Upgrade to {_format_version(followed)}" if followed and taken else "Sync with the GPU runners"
    parts = [f"[{report.platform}] {did}"]
    if followed and taken:
        parts.append(f"From {TITLES[followed.project]} {followed.ref}:\n{_list_units(taken)}")
    if ported:
        version = f" of vllm-omni {omni.ref}" if omni and (omni.version or omni.revision) else ""
        parts.append(f"Synced from the GPU runners{version}:\n{_list_units(ported)}")
    return "\n\n".join(parts)


def _is_changed(unit: UnitReport, source: Provenance) -> bool:
    """Whether ``source`` changed any line of a unit, or removed the unit.

    Removed lines count, although no statement was taken or ported.
    """
    return (unit.outcome == "removed" and unit.removed_for == source) or any(
        hunk.provenance == source for hunk in unit.hunks
    )


def _find_target(report: Report, project: str) -> Source | None:
    found = [source for source in report.inputs if source.project == project]
    return found[-1] if found else None


def _format_version(source: Source) -> str:
    return f"v{source.version.removeprefix('v')}" if source.version else source.ref


def _list_units(units: Sequence[UnitReport]) -> str:
    """Return one entry per class, folded to the width of a commit message."""
    members: dict[str, list[str]] = {}
    for unit in units:
        owner, _, name = unit.unit.rpartition(".")
        members.setdefault(owner, []).append(name + (" (removed)" if unit.outcome == "removed" else ""))
    entries = [
        f"- {owner}: {', '.join(names)}" if owner else f"- {', '.join(names)}" for owner, names in members.items()
    ]
    return "\n".join(_fold(entry) for entry in entries)


def _fold(entry: str) -> str:
    return textwrap.fill(entry, _COMMIT_WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
