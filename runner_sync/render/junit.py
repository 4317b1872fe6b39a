"""Render a report as JUnit XML, for CI services that show test results.

Comes in: a ``Report``. Goes out: XML. May touch: nothing.

Every error, warning and review item is a failed test case. An info is a passed test case with the message as its
output. A unit without any of these is a passed test case, so that an empty report still shows what was checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from runner_sync.model import Finding, Report, ReviewItem
from runner_sync.render.escape import one_line, visible
from runner_sync.render.order import order_findings, order_reviews, order_units
from runner_sync.render.summary import describe_choice, get_reason


def render_junit(report: Report) -> str:
    """Return one test suite named after the command. It contains no times, so that equal runs give equal files."""
    cases = [*_iter_reported(report), *_iter_passes(report)]
    if not cases:
        cases = [_make_case(report.command, "no findings")]
    failed = sum(case.find("failure") is not None for case in cases)
    numbers = {"tests": str(len(cases)), "failures": str(failed), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "runner-sync", **numbers})
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"runner-sync {report.command}", **numbers})
    suite.extend(cases)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _iter_reported(report: Report) -> Iterator[ElementTree.Element]:
    for finding in order_findings(report.findings):
        yield _make_finding_case(finding)
    for item in order_reviews(report.reviews):
        yield _make_review_case(item)


def _make_finding_case(finding: Finding) -> ElementTree.Element:
    name = " ".join(part for part in (finding.code, finding.unit, finding.symbol) if part)
    text = f"{finding.path}:{finding.line}\n{finding.message}" + (f"\nFix: {finding.fix}" if finding.fix else "")
    return _make_case(finding.path, name, message=finding.message, kind=finding.severity, text=text)


def _make_review_case(item: ReviewItem) -> ElementTree.Element:
    text = f"{item.path}:{item.line}\n{get_reason(item)}\nTook {describe_choice(item)}."
    return _make_case(item.path, f"{item.id} {item.unit}", message=get_reason(item), kind="review", text=text)


def _iter_passes(report: Report) -> Iterator[ElementTree.Element]:
    failing = {(finding.path, finding.unit) for finding in report.findings}
    failing |= {(item.path, item.unit) for item in report.reviews}
    for unit in order_units(report.units):
        if (unit.path, unit.unit) not in failing:
            yield _make_case(unit.path, unit.unit)


def _make_case(classname: str, name: str, *, message: str = "", kind: str = "", text: str = "") -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": one_line(classname), "name": one_line(name)})
    if kind == "info":
        ElementTree.SubElement(case, "system-out").text = visible(text)
    elif kind:
        failure = ElementTree.SubElement(case, "failure", {"message": one_line(message), "type": kind})
        failure.text = visible(text)
    return case
