"""Render findings as GitHub workflow commands, which become annotations of a pull request.

Comes in: a ``Report``. Goes out: one command per line. May touch: nothing.

GitHub keeps 10 error, 10 warning and 10 notice annotations per step (docs.github.com, "Workflow commands") and silently
drops further ones. So the worst come first, and the rest is left to ``github_summary``.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.model import Finding, Report, ReviewItem
from runner_sync.render.escape import escape_workflow_message, escape_workflow_property, one_line
from runner_sync.render.excerpt import has_columns, has_end_column
from runner_sync.render.order import order_reviews, order_worst_first
from runner_sync.render.summary import count, describe_choice, get_reason, summarize

LIMIT_PER_LEVEL = 10
_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render_github(report: Report) -> str:
    """Return the commands, worst first, and the summary sentence as a plain line of the log."""
    shown: dict[str, int] = {"error": 0, "warning": 0, "notice": 0}
    lines: list[str] = []
    dropped = 0
    for level, line in _iter_commands(report):
        shown[level] += 1
        if shown[level] > LIMIT_PER_LEVEL:
            dropped += 1
        else:
            lines.append(line)
    if dropped:
        lines.append(f"{count(dropped, 'more annotation')} above GitHub's limit: see the step summary.")
    sentence = one_line(summarize(report))
    return "\n".join([*lines, *([sentence] if sentence else [])]) + "\n"


def _iter_commands(report: Report) -> Iterator[tuple[str, str]]:
    for finding in order_worst_first(report.findings):
        level = _LEVELS[finding.severity]
        yield level, _format_command(level, _make_properties(finding), _format_finding(finding))
    for item in order_reviews(report.reviews):
        title = f"{item.id} {item.unit}"
        properties = {"file": item.path, **_make_lines(item.line, item.end_line), "title": title}
        yield "notice", _format_command("notice", properties, _format_review(item))


def _make_properties(finding: Finding) -> dict[str, str]:
    properties = {"file": finding.path, **_make_lines(finding.line, finding.end_line)}
    # GitHub uses columns only if the annotation is on one line.
    if has_columns(finding) and finding.end_line <= finding.line:
        properties["col"] = str(finding.column)
        if has_end_column(finding):
            properties["endColumn"] = str(finding.end_column - 1)
    return {**properties, "title": " ".join(part for part in (finding.code, finding.unit) if part)}


def _make_lines(line: int, end_line: int) -> dict[str, str]:
    first = max(line, 1)
    return {"line": str(first), "endLine": str(max(end_line, first))}


def _format_finding(finding: Finding) -> str:
    return f"{finding.message}\nFix: {finding.fix}" if finding.fix.strip() else finding.message


def _format_review(item: ReviewItem) -> str:
    return f"{get_reason(item)}\nTook {describe_choice(item)}."


def _format_command(level: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{name}={escape_workflow_property(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{escape_workflow_message(message)}"
