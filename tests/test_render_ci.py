"""GitHub, GitLab and JUnit output, read back as the service reads it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from junitparser import JUnitXml
from render_samples import AR, EXECUTE, FINDINGS, HOSTILE, INPUTS, REPORTS, REVIEWS, UNITS, poison

from runner_sync.model import Finding, Report
from runner_sync.render import github_summary, render
from runner_sync.render.escape import visible

COMMAND = re.compile(r"^::(?P<level>error|warning|notice) (?P<properties>[^:]*)::(?P<message>.*)$")


def unescape(text: str, *, is_property: bool = False) -> str:
    """Undo the escaping as the runner does (actions/runner ActionCommand.cs): ``%25`` last."""
    pairs = [("%0D", "\r"), ("%0A", "\n")] + ([("%3A", ":"), ("%2C", ",")] if is_property else [])
    for code, character in pairs:
        text = text.replace(code, character)
    return text.replace("%25", "%")


def read_commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    found = []
    for line in text.split("\n"):
        if match := COMMAND.match(line):
            pairs = (pair.split("=", 1) for pair in match["properties"].split(","))
            properties = {name: unescape(value, is_property=True) for name, value in pairs}
            found.append((match["level"], properties, unescape(match["message"])))
    return found


def test_github_annotations_carry_place_and_title() -> None:
    level, properties, message = read_commands(render(REPORTS["check"], "github"))[0]
    assert level == "error"
    assert properties == {
        "file": AR,
        "line": "3",
        "endLine": "3",
        "col": "16",
        "endColumn": "32",
        "title": f"RS301 {EXECUTE}",
    }
    assert message.startswith("`g` takes no keyword `mode` any more\nFix: ")


def test_github_lists_worst_first_and_reviews_as_notices() -> None:
    levels = [level for level, _, _ in read_commands(render(REPORTS["upgrade"], "github"))]
    assert levels == ["error", "warning", "notice", "notice", "notice"]


def test_github_columns_only_on_one_line() -> None:
    spread = replace(FINDINGS[1], end_line=9)
    _, properties, _ = read_commands(render(Report("check", findings=(spread,)), "github"))[0]
    assert "col" not in properties
    assert properties["endLine"] == "9"


def test_github_hostile_text_starts_no_command() -> None:
    text = render(poison(REPORTS["upgrade"]), "github")
    commands = [line for line in text.split("\n") if line.lstrip().startswith(("::", "##["))]
    read = read_commands(text)
    assert len(commands) == len(read) == 5
    assert "::error::fake" in read[0][2], "the attack arrives as text"
    assert read[0][1]["file"] == visible(HOSTILE)
    assert set(read[0][1]) <= {"file", "line", "endLine", "col", "endColumn", "title"}


@pytest.mark.parametrize("text", ["a%0Ab", "100%", "%25", "a:b,c=d", "x::y", "%3A", "line\nline"])
def test_github_escaping_round_trip(text: str) -> None:
    item = replace(FINDINGS[1], path=text, message=text, fix="")
    _, properties, message = read_commands(render(Report("check", findings=(item,)), "github"))[0]
    assert (properties["file"], message) == (text, text)


@pytest.mark.parametrize(("number", "shown"), [(9, 9), (10, 10), (11, 10), (40, 10)])
def test_github_keeps_within_ten_of_each_level(number: int, shown: int) -> None:
    findings = tuple(replace(item, line=line, end_line=line) for item in FINDINGS for line in range(1, number + 1))
    text = render(Report("check", findings=findings), "github")
    levels = [level for level, _, _ in read_commands(text)]
    assert {level: levels.count(level) for level in set(levels)} == dict.fromkeys(("error", "warning", "notice"), shown)
    assert ("see the step summary" in text) == (number > 10)


@pytest.mark.parametrize("format", ["github", "gitlab", "junit", "sarif"])
def test_services_get_paths_in_the_repository(format: str) -> None:
    """The tree may lie in a folder of it; JSON keeps the paths of the tree."""
    report = Report("check", findings=FINDINGS, reviews=REVIEWS, units=UNITS)
    nested = replace(report, folder="third party/omni/")
    folder = "third%20party/omni/" if format == "sarif" else "third party/omni/"
    text = render(nested, format)
    assert text.count(f"{folder}vllm_omni/platforms") >= render(report, format).count("vllm_omni/platforms") > 0
    assert re.search(r"""(?:file=|"path": "|classname="|"uri": ")vllm_omni/""", text) is None
    assert render(nested, "json") == render(report, "json")


def test_step_summary_has_what_annotations_leave_out() -> None:
    findings = tuple(replace(FINDINGS[0], line=line, end_line=line) for line in range(1, 41))
    report = Report("check", findings=findings)
    assert f"{AR}:40" not in render(report, "github")
    assert f"`{AR}:40`" in github_summary(report)


def test_gitlab_required_fields() -> None:
    issues = json.loads(render(REPORTS["upgrade"], "gitlab"))
    assert len(issues) == 5
    for issue in issues:
        assert issue["description"]
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert isinstance(issue["location"]["lines"]["begin"], int)
        assert not issue["location"]["path"].startswith(("/", "./"))
    assert len({issue["fingerprint"] for issue in issues}) == 5, "GitLab drops issues with equal fingerprints"


def test_gitlab_and_sarif_name_a_review_item_alike() -> None:
    """GitLab shows the name beside the place; ``rule`` knows none of a number that is no rule's."""
    names = {issue["check_name"] for issue in json.loads(render(REPORTS["upgrade"], "gitlab"))}
    assert names == {"RS101", "RS301", "RS401", "review-item"}
    rules = json.loads(render(REPORTS["upgrade"], "sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert "review-item" in {rule["name"] for rule in rules}


def fingerprints(*findings: Finding) -> list[str]:
    issues = json.loads(render(Report("check", findings=findings), "gitlab"))
    return [issue["fingerprint"] for issue in issues]


BASE = replace(FINDINGS[1], message="takes 6 values, see line 12 of a.py:34")
SAME = [
    ("moved", replace(BASE, line=90, end_line=91, column=4, end_column=5)),
    ("a line number in the message", replace(BASE, message="takes 6 values, see line 99 of a.py:100")),
    ("another fix", replace(BASE, fix="other")),
    ("another severity", replace(BASE, severity="warning")),
]
OTHER = [
    ("code", replace(BASE, code="RS302")),
    ("path", replace(BASE, path="b.py")),
    ("unit", replace(BASE, unit="B.f")),
    ("symbol", replace(BASE, symbol="h")),
    ("a number that is no line", replace(BASE, message="takes 8 values, see line 12 of a.py:34")),
]


@pytest.mark.parametrize("changed", [case[1] for case in SAME], ids=[case[0] for case in SAME])
def test_fingerprint_survives(changed: Finding) -> None:
    assert fingerprints(changed) == fingerprints(BASE)


@pytest.mark.parametrize("changed", [case[1] for case in OTHER], ids=[case[0] for case in OTHER])
def test_fingerprint_tells_apart(changed: Finding) -> None:
    assert fingerprints(changed) != fingerprints(BASE)


def test_equal_findings_are_numbered() -> None:
    first, second = fingerprints(BASE, replace(BASE, line=50, end_line=50))
    assert first != second
    assert first == fingerprints(BASE)[0]


def test_gitlab_without_findings_is_an_empty_list() -> None:
    assert json.loads(render(Report("check", INPUTS), "gitlab")) == []


def read_junit(report: Report, folder: Path) -> JUnitXml:
    file = folder / "report.xml"
    file.write_text(render(report, "junit"), encoding="utf-8")
    return JUnitXml.fromfile(str(file))


@pytest.mark.parametrize("command", REPORTS)
def test_junit_parses_even_when_hostile(command: str, tmp_path: Path) -> None:
    for report in (REPORTS[command], poison(REPORTS[command]), Report(command)):
        xml = read_junit(report, tmp_path)
        cases = [case for suite in xml for case in suite]
        assert xml.tests == len(cases) >= 1
        assert xml.failures == sum(bool(case.result) for case in cases)


def test_junit_failures_are_findings_and_reviews_and_passes_are_units(tmp_path: Path) -> None:
    suite = next(iter(read_junit(REPORTS["upgrade"], tmp_path)))
    assert (suite.name, suite.tests, suite.failures) == ("runner-sync upgrade", 7, 4)
    failed = {case.name for case in suite if case.result}
    assert f"RS301 {EXECUTE} g" in failed
    assert f"R10 {EXECUTE}" in failed
    passed = {case.name for case in suite if not case.result}
    info = "RS101 NPUGenerationModelRunner._dummy_run"
    assert passed == {"NPUARModelRunner._sample", "NPUARModelRunner.__init__", info}


def test_junit_an_info_passes_and_is_told(tmp_path: Path) -> None:
    """A red pipeline for a hint is switched off; that one is there still shows in the output of the test."""
    (case,) = next(iter(read_junit(Report("check", findings=FINDINGS[2:]), tmp_path)))
    assert not case.result
    assert "Upstream changed 12 statements" in case.system_out


def test_junit_failure_text_names_the_place(tmp_path: Path) -> None:
    suite = next(iter(read_junit(Report("check", findings=FINDINGS[1:2]), tmp_path)))
    failure = next(iter(suite)).result[0]
    assert failure.type == "error"
    assert f"{AR}:3" in failure.text


def test_junit_of_a_clean_run_still_has_a_test(tmp_path: Path) -> None:
    xml = read_junit(Report("check", INPUTS), tmp_path)
    assert (xml.tests, xml.failures) == (1, 0)


def test_junit_counts_units_of_a_clean_upgrade(tmp_path: Path) -> None:
    assert read_junit(Report("upgrade", INPUTS, UNITS), tmp_path).tests == len(UNITS)
    assert read_junit(Report("upgrade", INPUTS, UNITS, REVIEWS), tmp_path).failures == len(REVIEWS)
