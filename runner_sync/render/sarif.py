"""Render a report as SARIF 2.1.0, for code scanning.

Comes in: a ``Report``. Goes out: JSON (OASIS "Static Analysis Results Interchange Format", 2.1.0). May touch: nothing.

Review items are notes under the rule ``RS000``. Addresses are relative to ``%SRCROOT%``, the root of the repository.
"""

from __future__ import annotations

import json
from typing import Any

from runner_sync import __version__
from runner_sync.model import Finding, Report, ReviewItem, RuleText, Severity
from runner_sync.render.escape import make_relative_uri, one_line, visible
from runner_sync.render.excerpt import has_columns, has_end_column
from runner_sync.render.fingerprint import REVIEW_NAME, identify_findings, identify_reviews
from runner_sync.render.order import order_findings, order_reviews
from runner_sync.render.patch import Replacement, read_patch
from runner_sync.render.summary import describe_choice, end_sentence, get_reason

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_FAMILIES = {
    "RS1": "upstream drift: it changed since the unit was copied",
    "RS2": "GPU drift: the GPU runner has omni code that its twin lacks",
    "RS3": "breakage: the code does not fit the target trees",
    "RS4": "hygiene of the runners",
    "RS5": "duplication: the same code on GPU and NPU",
}
_REVIEW_RULE = RuleText(
    "RS000",
    REVIEW_NAME,
    "A merge decision that a person must look at.",
    "Both sides changed the same code, or code would be lost. Compare base, omni and upstream with what was chosen, "
    "edit the file if needed and delete the `# runner-sync: review` comment above it.",
    "info",
)

Json = dict[str, Any]


def render_sarif(report: Report) -> str:
    """Return one SARIF run with the known or used rules, and a result per finding and review item."""
    rules = _collect_rules(report)
    positions = {rule.code: index for index, rule in enumerate(rules)}
    findings = identify_findings(order_findings(report.findings))
    results = [_make_finding_result(finding, mark, positions[finding.code]) for finding, mark in findings]
    reviews = identify_reviews(order_reviews(report.reviews))
    results += [_make_review_result(item, mark, positions["RS000"]) for item, mark in reviews]
    driver = {"name": "runner-sync", "version": __version__, "rules": [_make_rule(rule) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {
            _ROOT: {"description": {"text": "The root of the repository that holds the vllm-omni tree."}}
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": results,
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2).replace("\x7f", "\\u007f") + "\n"


def _collect_rules(report: Report) -> list[RuleText]:
    """Return the rules of the report, and one for every other code in it, described by its family."""
    known = {rule.code: rule for rule in report.rules}
    if report.reviews:
        known.setdefault("RS000", _REVIEW_RULE)
    for finding in order_findings(report.findings):
        text = _FAMILIES.get(finding.code[:3], "a finding of runner-sync")
        help_text = f"{text}. `runner-sync rule {finding.code}` says more."
        known.setdefault(finding.code, RuleText(finding.code, finding.code, text, help_text, finding.severity))
    return [known[code] for code in sorted(known)]


def _make_rule(rule: RuleText) -> Json:
    text = visible(rule.text).strip() or one_line(rule.summary)
    return {
        "id": rule.code,
        "name": one_line(rule.name),
        "shortDescription": {"text": one_line(rule.summary)},
        "fullDescription": {"text": one_line(rule.summary)},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _make_finding_result(finding: Finding, fingerprint: str, position: int) -> Json:
    region = _make_region(finding.line, finding.end_line)
    if has_columns(finding):
        region["startColumn"] = finding.column
    if has_end_column(finding):
        region["endColumn"] = finding.end_column
    result = {
        "ruleId": finding.code,
        "ruleIndex": position,
        "level": _LEVELS[finding.severity],
        "message": {"text": one_line(finding.message)},
        "locations": [_make_location(finding.path, region, finding.unit)],
        "partialFingerprints": {"runnerSync/v1": fingerprint},
    }
    fixes = _make_fixes(finding)
    return {**result, "fixes": fixes} if fixes else result


def _make_review_result(item: ReviewItem, fingerprint: str, position: int) -> Json:
    message = f"{end_sentence(one_line(get_reason(item)))} Took {describe_choice(item)} ({one_line(item.id)})."
    return {
        "ruleId": "RS000",
        "ruleIndex": position,
        "level": "note",
        "message": {"text": message},
        "locations": [_make_location(item.path, _make_region(item.line, item.end_line), item.unit)],
        "partialFingerprints": {"runnerSync/v1": fingerprint},
    }


def _make_artifact(path: str) -> Json:
    return {"uri": make_relative_uri(path), "uriBaseId": _ROOT}


def _make_region(line: int, end_line: int) -> Json:
    first = max(line, 1)
    return {"startLine": first, "endLine": max(end_line, first)}


def _make_location(path: str, region: Json, unit: str) -> Json:
    location: Json = {"physicalLocation": {"artifactLocation": _make_artifact(path), "region": region}}
    if unit:
        location["logicalLocations"] = [{"fullyQualifiedName": one_line(unit)}]
    return location


def _make_fixes(finding: Finding) -> list[Json]:
    replacements = [_make_replacement(item) for item in read_patch(finding.fix)]
    if not replacements:
        return []
    change = {"artifactLocation": _make_artifact(finding.path), "replacements": replacements}
    return [{"description": {"text": "What `runner-sync upgrade` would write."}, "artifactChanges": [change]}]


def _make_replacement(item: Replacement) -> Json:
    region = {
        "startLine": item.line,
        "startColumn": 1,
        "endLine": item.line + item.removed,
        "endColumn": 1,
    }
    # Source text goes back into the file, so it is not escaped like prose.
    return {"deletedRegion": region, "insertedContent": {"text": item.inserted}}
