"""Render findings and review items as a GitLab code quality report.

Comes in: a ``Report``. Goes out: a JSON array (docs.gitlab.com, "Code Quality report format"). May touch: nothing.
"""

from __future__ import annotations

import json
from typing import Any

from runner_sync.model import Finding, Report, ReviewItem
from runner_sync.render.escape import one_line
from runner_sync.render.fingerprint import REVIEW_NAME, identify_findings, identify_reviews
from runner_sync.render.order import order_findings, order_reviews
from runner_sync.render.summary import get_reason

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render_gitlab(report: Report) -> str:
    """Return the report for ``artifacts:reports:codequality``."""
    issues = [_make_issue(finding, mark) for finding, mark in identify_findings(order_findings(report.findings))]
    issues += [_make_review_issue(item, mark) for item, mark in identify_reviews(order_reviews(report.reviews))]
    return json.dumps(issues, indent=2).replace("\x7f", "\\u007f") + "\n"


def _make_issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "description": one_line(f"{finding.code} {finding.unit}: {finding.message}"),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": _make_location(finding.path, finding.line, finding.end_line),
    }


def _make_review_issue(item: ReviewItem, fingerprint: str) -> dict[str, Any]:
    return {
        "description": one_line(f"{item.id} {item.unit}: {get_reason(item)}"),
        "check_name": REVIEW_NAME,
        "fingerprint": fingerprint,
        "severity": "info",
        "location": _make_location(item.path, item.line, item.end_line),
    }


def _make_location(path: str, line: int, end_line: int) -> dict[str, Any]:
    first = max(line, 1)
    return {"path": path, "lines": {"begin": first, "end": max(end_line, first)}}
