"""Count the contents of a report and sum them up in one sentence.

Comes in: a ``Report``. Goes out: plain numbers and sentences. May touch: nothing.

The last source of a project in ``Report.inputs`` is the target of the run. Only a run that wrote files has
``Report.summary["written"]`` (their number); a run that only planned lacks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from runner_sync.model import TITLES, Project

if TYPE_CHECKING:
    from runner_sync.model import FileChange, Report, ReviewItem, UnitReport


def count(number: int, noun: str) -> str:
    """Return ``1 unit``, ``2 units``, ``0 units``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def is_changed(unit: UnitReport) -> bool:
    """Whether the unit's text differs from before."""
    if unit.outcome in ("updated", "added", "removed"):
        return True
    return unit.outcome == "review" and bool(unit.hunks or unit.taken or unit.ported or unit.removed)


def has_twins(report: Report) -> bool:
    """Whether any unit or block has a GPU twin; otherwise columns and words about ports are left out."""
    return any(unit.gpu or unit.ported for unit in report.units) or any(block.twin for block in report.blocks)


def get_kind(unit: UnitReport, report: Report) -> str:
    """Return the unit's kind; a dash if no upstream was read, without which copies and omni's own units look alike."""
    can_tell = report.command != "upgrade" or bool(name_target(report, report.followed)) or unit.outcome == "added"
    return unit.kind if can_tell else "–"


def count_units(report: Report) -> dict[str, int]:
    """Count units by outcome, statements by origin, review items and findings of an upgrade."""
    units = report.units
    return {
        "units": len(units),
        "updated": sum(unit.outcome in ("updated", "review") and is_changed(unit) for unit in units),
        "added": sum(unit.outcome == "added" for unit in units),
        "removed": sum(unit.outcome == "removed" for unit in units),
        "unchanged": sum(not is_changed(unit) for unit in units),
        "units_ported": sum(unit.ported > 0 for unit in units),
        "taken": sum(unit.taken for unit in units),
        "ported": sum(unit.ported for unit in units),
        "kept": sum(unit.kept for unit in units),
        "reviews": len(report.reviews),
        "questions": sum(not item.part_of for item in report.reviews),
        "findings": len(report.findings),
    }


def count_findings(report: Report) -> dict[str, int]:
    """Count findings by severity."""
    severities = [finding.severity for finding in report.findings]
    return {
        "findings": len(severities),
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "infos": severities.count("info"),
    }


def name_target(report: Report, project: Project) -> str:
    """Return ``vllm-ascend 0.17.0rc1`` for the last source of ``project``, or an empty string."""
    refs = [source.ref for source in report.inputs if source.project == project]
    return f"{TITLES[project]} {refs[-1]}" if refs else ""


def get_file_status(change: FileChange) -> str:
    """Return ``added``, ``removed`` or ``updated`` for a changed file."""
    return "added" if change.before is None else "removed" if change.after is None else "updated"


def find_chosen_side(item: ReviewItem) -> str:
    """Name the chosen side: ``omni``, ``upstream`` (or ``GPU twin``), ``base``, ``both``, ``nothing`` or ``a
    merge``."""
    chosen = item.chosen.strip()
    for side, text in (("omni", item.omni), (item.newer, item.upstream), ("base", item.base)):
        if chosen and chosen == text.strip():
            return side
    if not chosen:
        return "nothing"
    sides = [text.strip() for text in (item.omni, item.upstream) if text.strip()]
    return "both" if len(sides) == 2 and all(side in chosen for side in sides) else "a merge"


def get_sides(item: ReviewItem) -> dict[str, str]:
    """Return the texts of a decision under the names that people see, the chosen text last."""
    return {"base": item.base, "omni": item.omni, item.newer: item.upstream, "chosen": item.chosen}


def describe_choice(item: ReviewItem) -> str:
    """Return the chosen side and the confidence, to follow *took*: ``omni, confidence 0.50``."""
    return f"{find_chosen_side(item)}, confidence {item.confidence:.2f}"


def count_reviews(report: Report) -> str:
    """Return the number of review items, and of questions if some items belong to one question."""
    tally = count_units(report)
    is_one_each = tally["questions"] == tally["reviews"]
    asked = "" if is_one_each else f" ({count(tally['questions'], 'question')})"
    return f"{count(tally['reviews'], 'review item')}{asked}"


def get_reason(item: ReviewItem) -> str:
    """Return the reason of a review item, and the question it is part of."""
    return f"{item.reason}; part of {item.part_of}" if item.part_of else item.reason


def end_sentence(sentence: str) -> str:
    """Return ``sentence`` with a full stop, unless it ends with one or a question mark, so that another can follow."""
    stripped = sentence.strip()
    return stripped if stripped.endswith((".", "?")) else f"{stripped}."


def describe_in_step(report: Report) -> str:
    """Return the sentence of a run that found nothing to do, with the trees it compared."""
    targets = [name for name in (name_target(report, "vllm-ascend"), name_target(report, "vllm")) if name]
    if report.command == "verify":
        outcome = "Nothing new breaks" if report.summary.get("compared") else "Nothing breaks"
        if report.summary.get("noted") and targets:
            return f"No findings against {' and '.join(targets)}; the notes say what may fail besides."
        return f"{outcome} against {' and '.join(targets)}." if targets else "No findings."
    if report.command == "upgrade":
        total = len(report.units)
        if not total and report.summary.get("explained"):
            return "Nothing was ported; the notes say why."
        if not total:
            return "There is nothing to bring into step."
        units = f"All {total} units looked at are" if total > 1 else "The unit looked at is"
        is_followed = bool(targets) and not report.summary.get("gpu_only")
        return f"{units} in step with {targets[0] if is_followed else 'the GPU runners'}."
    # The sentence claims no more, because rules may be left out and findings accepted.
    return f"No findings against {targets[0]}." if targets else "No findings."


def _summarize_upgrade(report: Report) -> str:
    tally = count_units(report)
    left = f"{_describe_unported(report)}{_describe_left_open(report)}"
    if not report.reviews and not report.findings and tally["unchanged"] == tally["units"]:
        return f"{describe_in_step(report).removesuffix('.')}{left}."
    written = report.summary.get("written")
    lead = "Upgraded" if written else "Plan" if written is None else "Wrote nothing"
    added = f"{tally['added']} added, " if tally["added"] else ""
    ported = f" ({tally['units_ported']} with ports from the GPU twin)" if tally["units_ported"] else ""
    units = f"{count(tally['updated'], 'unit')} updated, {added}{tally['removed']} removed{ported}"
    found = "not verified" if report.summary.get("unverified") else count(tally["findings"], "finding")
    rest = f"{count_reviews(report)}; {found}"
    files = f"; {count(written, 'file')} written" if isinstance(written, int) and written else ""
    return f"{lead}: {units}; {rest}{files}{left}."


def _describe_unported(report: Report) -> str:
    """Return the clause about GPU methods that NPU lacks; empty if there are none.

    All of them are settled or asked about, but NPU is not in step with them.
    """
    number, asked = (report.summary.get(key, 0) for key in ("unported", "unported_asked"))
    if not isinstance(number, int) or not isinstance(asked, int) or not number:
        return ""
    clause = f"{count(number, 'GPU method')} {'stays' if number == 1 else 'stay'} unported"
    split = f"{asked} asked about, {number - asked} named in a note"
    if asked in (0, number):
        split = "asked about" if asked else "named in a note"
    errors = "as errors that `--baseline FILE` can accept"
    return f"; {clause}, {split} ({_format_check(report, 'RS203')} tells which override what runs on GPU, {errors})"


def _describe_left_open(report: Report) -> str:
    """Return the clause about review comments of an earlier upgrade, which make an upgrade exit with 1."""
    number = report.summary.get("left_open")
    if not isinstance(number, int) or not number:
        return ""
    comments = f"{count(number, 'review comment')} of an earlier upgrade {'is' if number == 1 else 'are'}"
    return f"; {comments} still to be settled ({_format_check(report, 'RS406')})"


def format_command(report: Report, words: str) -> str:
    """Return ``words`` as a command line of this tool, with the options for the report's configuration and profile."""
    name, _, rest = words.partition(" ")
    return f"`runner-sync {name}{f' {report.profile}' if report.profile else ''}{f' {rest}' if rest else ''}`"


def _format_check(report: Report, code: str) -> str:
    return format_command(report, " ".join(filter(None, ("check", report.place, f"--select {code}"))))


def _summarize_findings(report: Report) -> str:
    rest = "".join(
        f"; {report.summary[key]} {what}"
        for key, what in (("accepted", "in the baseline"), ("ignored", "ignored by a comment"))
        if report.summary.get(key)
    )
    if not report.findings:
        return f"{describe_in_step(report).removesuffix('.')}{rest}."
    tally = count_findings(report)
    kinds = [count(tally[f"{noun}s"], noun) for noun in ("error", "warning", "info") if tally[f"{noun}s"]]
    files = len({finding.path for finding in report.findings})
    return f"Found {', '.join(kinds)} in {count(files, 'file')}{rest}."


def _summarize_blocks(report: Report) -> str:
    if not report.blocks:
        return "No omni blocks found."
    marked = sum(block.marked for block in report.blocks)
    units = len({(block.path, block.unit) for block in report.blocks})
    files = len({block.path for block in report.blocks})
    where = f"{count(len(report.blocks), 'block')} in {count(units, 'unit')} of {count(files, 'file')}"
    return f"{where}; {marked} marked, {len(report.blocks) - marked} not."


def _summarize_lock(report: Report) -> str:
    if not report.units:
        return "No units to record."
    known = sum(unit.base is not None or unit.gpu is not None for unit in report.units)
    own = sum(unit.kind == "own" and unit.base is None and unit.gpu is None for unit in report.units)
    missing = len(report.units) - known - own
    unknown = f", {missing} without one" if missing else ""
    own_part = f"; {own} of omni's own" if own else ""
    return f"The base of {count(known, 'unit')} is known{unknown}{own_part}{_describe_left_open(report)}."


def _summarize_explain(report: Report) -> str:
    for item in report.reviews:
        comment = f"delete the comment `# runner-sync: review {item.id}`, or resolve the conflict with this id"
        return f"To settle it, decide, then {comment}." if item.in_file else "No comment in the files asks this."
    hunks = [hunk for unit in report.units for hunk in unit.hunks]
    if not hunks:
        return "Nothing to explain here: no unit covers these lines."
    lines = {"upstream": 0, "gpu": 0, "omni": 0}
    for hunk in hunks:
        lines[hunk.provenance] += hunk.end_line - hunk.line + 1
    ported = f"{lines['gpu']} ported from GPU, " if has_twins(report) or lines["gpu"] else ""
    return f"{count(lines['upstream'], 'line')} from upstream, {ported}{lines['omni']} of omni's own."


def _summarize_replay(report: Report) -> str:
    rows = report.replay
    if not rows:
        return "No replay case was run."
    from runner_sync.model import mean_ratios

    means = (f"{name} {mean:.2f}" for name, mean in mean_ratios(rows).items())
    broken = sum(not row.parses for row in rows)
    parses = "every output parses" if not broken else f"{broken} of {count(len(rows), 'output')} cannot be parsed"
    silent = count(sum(row.silent for row in rows), "silent error")
    return f"{count(len(rows), 'case')}: mean {', '.join(means)}; {silent}; {parses}."


def _summarize_hoist(report: Report) -> str:
    removed = [unit for unit in report.units if unit.outcome == "removed"]
    added = [unit for unit in report.units if unit.outcome == "added"]
    if not removed:
        return "Nothing to move."
    verb = "Moved" if report.summary.get("written") else "Plan: move"
    if added:
        return f"{verb} {removed[0].unit} to {added[0].unit} in {added[0].path}."
    verb = "Removed" if report.summary.get("written") else "Plan: remove"
    return f"{verb} {removed[0].unit} from {removed[0].path}: it has the GPU runner's own."


_SENTENCES: dict[str, Callable[[Report], str]] = {
    "upgrade": _summarize_upgrade,
    "blocks": _summarize_blocks,
    "lock": _summarize_lock,
    "explain": _summarize_explain,
    "hoist": _summarize_hoist,
    "replay": _summarize_replay,
    "rule": lambda report: "" if report.rules else "No such rule.",
}


def summarize(report: Report) -> str:
    """Return the closing sentence of a run; empty for ``rule``, which needs none."""
    return _SENTENCES.get(report.command, _summarize_findings)(report)
