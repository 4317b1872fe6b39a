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
from runner_sync.render.summary import reason_of

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render_gitlab(report: Report) -> str:
    """Return the report for ``artifacts:reports:codequality``."""
    issues = [_issue(finding, mark) for finding, mark in identify_findings(order_findings(report.findings))]
    issues += [_review(item, mark) for item, mark in identify_reviews(order_reviews(report.reviews))]
    return json.dumps(issues, indent=2).replace("\x7f", "\\u007f") + "\n"


def _issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "description": one_line(f"{finding.code} {finding.unit}: {finding.message}"),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": _location(finding.path, finding.line, finding.end_line),
    }


def _review(item: ReviewItem, fingerprint: str) -> dict[str, Any]:
    return {
        "description": one_line(f"{item.id} {item.unit}: {reason_of(item)}"),
        "check_name": REVIEW_NAME,
        "fingerprint": fingerprint,
        "severity": "info",
        "location": _location(item.path, item.line, item.end_line),
    }


def _location(path: str, line: int, end_line: int) -> dict[str, Any]:
    first = max(line, 1)
    return {"path": path, "lines": {"begin": first, "end": max(end_line, first)}}
