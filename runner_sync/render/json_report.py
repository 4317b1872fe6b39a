"""Render a report for programs.

Comes in: a ``Report``. Goes out: JSON as described by ``tests/schemas/report.schema.json``. May touch: nothing.

Keys may be added, never changed: ``FORMAT_VERSION`` rises if that promise has to be broken. Non-ASCII text is escaped,
so that it cannot steer a terminal that shows the file.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from runner_sync.model import RATIOS, BaseRef, Block, Finding, Report, ReviewItem, Source, UnitReport, mean_ratios
from runner_sync.render.order import (
    order_blocks,
    order_cases,
    order_changes,
    order_findings,
    order_hunks,
    order_reviews,
    order_units,
)
from runner_sync.render.summary import count_findings, count_units, get_file_status, summarize

FORMAT_VERSION = "1.0"

Json = dict[str, Any]


def render_json(report: Report) -> str:
    """Return the report as indented JSON."""
    body = _BODIES.get(report.command, _make_findings_body)(report)
    whole = {
        "format_version": FORMAT_VERSION,
        "command": report.command,
        "inputs": [_dump_source(source) for source in report.inputs],
        **body,
        "notes": list(report.notes),
    }
    # DEL is the one control character that JSON does not escape.
    return json.dumps(whole, indent=2, ensure_ascii=True).replace("\x7f", "\\u007f") + "\n"


def _make_findings_body(report: Report) -> Json:
    return {"findings": _dump_findings(report), "summary": _make_summary(report, count_findings(report))}


def _make_upgrade_body(report: Report) -> Json:
    return {
        "units": _dump_units(report),
        "reviews": [_dump_review(item) for item in order_reviews(report.reviews)],
        "findings": _dump_findings(report),
        "files": [{"path": item.path, "status": get_file_status(item)} for item in order_changes(report.changes)],
        "summary": _make_summary(report, count_units(report)),
    }


def _make_units_body(report: Report) -> Json:
    return {"units": _dump_units(report), "summary": _make_summary(report, {"units": len(report.units)})}


def _make_explain_body(report: Report) -> Json:
    return {**_make_units_body(report), "reviews": [_dump_review(item) for item in order_reviews(report.reviews)]}


def _make_blocks_body(report: Report) -> Json:
    marked = sum(block.marked for block in report.blocks)
    tally = {"blocks": len(report.blocks), "marked": marked, "unmarked": len(report.blocks) - marked}
    return {
        "blocks": [_dump_block(block) for block in order_blocks(report.blocks)],
        "summary": _make_summary(report, tally),
    }


def _make_replay_body(report: Report) -> Json:
    rows = order_cases(report.replay)
    return {
        "cases": [asdict(row) for row in rows],
        "hunks": [asdict(hunk) for hunk in order_hunks(report.replay_hunks)],
        "summary": {**report.summary, **_compute_means(report), "sentence": summarize(report)},
    }


def _compute_means(report: Report) -> dict[str, float | int | None]:
    rows = report.replay
    means = dict.fromkeys(RATIOS) | {name: round(mean, 4) for name, mean in mean_ratios(rows).items()}
    return {"cases": len(rows), **means, "silent": sum(row.silent for row in rows)}


def _make_rules_body(report: Report) -> Json:
    rules = [asdict(rule) for rule in sorted(report.rules, key=lambda rule: rule.code)]
    return {"rules": rules, "summary": _make_summary(report, {"rules": len(rules)})}


def _make_summary(report: Report, tally: dict[str, int]) -> Json:
    # Counts of the listed items win: a summary must not contradict its own list.
    return {**report.summary, **tally, "sentence": summarize(report)}


def _dump_source(source: Source) -> Json:
    return {"project": source.project, "ref": source.ref, **asdict(source)}


def _dump_units(report: Report) -> list[Json]:
    return [_dump_unit(unit) for unit in order_units(report.units)]


def _dump_unit(unit: UnitReport) -> Json:
    hunks = sorted(unit.hunks, key=lambda hunk: (hunk.line, hunk.end_line, hunk.provenance, hunk.cause))
    return {
        "unit": unit.unit,
        "path": unit.path,
        "kind": unit.kind,
        "outcome": unit.outcome,
        "base": _dump_base(unit.base),
        "gpu": _dump_base(unit.gpu),
        "taken": unit.taken,
        "ported": unit.ported,
        "kept": unit.kept,
        "removed": unit.removed,
        "blocks": unit.blocks,
        "hunks": [asdict(hunk) for hunk in hunks],
    }


def _dump_base(ref: BaseRef | None) -> Json | None:
    if ref is None:
        return None
    head = {"project": ref.project, "ref": ref.ref, "how": ref.how, "similarity": round(ref.similarity, 4)}
    return {**head, "path": ref.path, "qualname": ref.qualname, "digest": ref.digest}


def _dump_review(item: ReviewItem) -> Json:
    body = {**asdict(item), "confidence": round(item.confidence, 4)}
    # Needed only until the comments are written: the report has the lines, and the reason names the side.
    del body["in_file"], body["from_gpu"]
    return body


def _dump_findings(report: Report) -> list[Json]:
    return [_dump_finding(finding) for finding in order_findings(report.findings)]


def _dump_finding(finding: Finding) -> Json:
    return {key: value for key, value in asdict(finding).items() if key not in ("state", "old_state", "cause")}


def _dump_block(block: Block) -> Json:
    return asdict(block)


_BODIES = {
    "upgrade": _make_upgrade_body,
    "hoist": _make_upgrade_body,
    "lock": _make_units_body,
    "explain": _make_explain_body,
    "blocks": _make_blocks_body,
    "replay": _make_replay_body,
    "rule": _make_rules_body,
}
