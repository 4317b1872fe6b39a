"""SARIF against a schema written from the standard, and fixes that do what the patch says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from render_samples import AR, FINDINGS, REPORTS, RULES, poison

from runner_sync.model import FileChange, Report
from runner_sync.render import render
from runner_sync.render.patch import Replacement, read_patch

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0-subset.schema.json").read_text(encoding="utf-8"))


def read_run(report: Report) -> dict[str, Any]:
    log = json.loads(render(report, "sarif"))
    jsonschema.validate(log, SCHEMA)
    run = log["runs"][0]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("command", REPORTS)
def test_sarif_follows_the_schema(command: str) -> None:
    for report in (REPORTS[command], poison(REPORTS[command]), Report(command)):
        read_run(report)


def test_results_point_at_their_rules() -> None:
    run = read_run(REPORTS["upgrade"])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["RS000", "RS101", "RS301", "RS401"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_review_items_are_notes_of_their_own_rule() -> None:
    results = [item for item in read_run(REPORTS["upgrade"])["results"] if item["ruleId"] == "RS000"]
    assert [item["level"] for item in results] == ["note", "note"]


def test_rule_texts_become_help() -> None:
    report = replace(REPORTS["check"], rules=RULES)
    rules = {rule["id"]: rule for rule in read_run(report)["tool"]["driver"]["rules"]}
    assert rules["RS301"]["help"]["text"] == RULES[0].text
    assert rules["RS301"]["defaultConfiguration"]["level"] == "error"
    assert "RS203" in rules, "a known rule without a result is listed too"
    assert "runner-sync rule RS401" in rules["RS401"]["help"]["text"], "a rule without text still helps"


def test_columns_are_as_in_the_finding() -> None:
    result = next(item for item in read_run(REPORTS["check"])["results"] if item["ruleId"] == "RS301")
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "endLine": 3, "startColumn": 16, "endColumn": 33}


def test_no_line_is_below_one() -> None:
    whole_file = replace(FINDINGS[0], line=0, end_line=0)
    region = read_run(Report("check", findings=(whole_file,)))["results"][0]["locations"][0]["physicalLocation"][
        "region"
    ]
    assert region == {"startLine": 1, "endLine": 1}


@pytest.mark.parametrize(("path", "uri"), [("a b/c#d?.py", "a%20b/c%23d%3F.py"), ("c:x.py", "c%3Ax.py"), (AR, AR)])
def test_addresses_are_relative(path: str, uri: str) -> None:
    run = read_run(Report("check", findings=(replace(FINDINGS[0], path=path),)))
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    assert "%SRCROOT%" in run["originalUriBaseIds"]


def test_fingerprints_do_not_move_with_lines() -> None:
    moved = replace(REPORTS["check"], findings=tuple(replace(item, line=99, end_line=99) for item in FINDINGS))
    marks = [
        {item["ruleId"]: item["partialFingerprints"] for item in read_run(report)["results"]}
        for report in (REPORTS["check"], moved)
    ]
    assert marks[0] == marks[1]


def replace_regions(text: str, replacements: list[dict[str, Any]]) -> str:
    """Apply SARIF replacements as a viewer does: by line and column, from the last to the first."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for item in reversed(replacements):
        region = item["deletedRegion"]
        first = min(starts[region["startLine"] - 1] + region["startColumn"] - 1, len(text))
        last = min(starts[region["endLine"] - 1] + region["endColumn"] - 1, len(text))
        text = text[:first] + item["insertedContent"]["text"] + text[last:]
    return text


NUMBERS = "".join(f"line {number}\n" for number in range(1, 41))
EDITS = [
    ("replaced", NUMBERS.replace("line 7\n", "seven\n")),
    ("inserted", NUMBERS.replace("line 7\n", "line 7\nmore\n")),
    ("deleted", NUMBERS.replace("line 7\nline 8\n", "")),
    ("at both ends", "first\n" + NUMBERS + "last\n"),
    ("two in one hunk", NUMBERS.replace("line 7\n", "seven\n").replace("line 9\n", "")),
    ("two hunks", NUMBERS.replace("line 7\n", "").replace("line 30\n", "thirty\nand\n")),
    ("first and last line gone", NUMBERS.removeprefix("line 1\n").removesuffix("line 40\n")),
]


@pytest.mark.parametrize("after", [case[1] for case in EDITS], ids=[case[0] for case in EDITS])
def test_a_fix_does_what_its_patch_says(after: str) -> None:
    patch = render(Report("upgrade", changes=(FileChange(AR, NUMBERS, after),)), "diff")
    result = read_run(Report("check", findings=(replace(FINDINGS[0], fix=patch),)))["results"][0]
    change = result["fixes"][0]["artifactChanges"][0]
    assert change["artifactLocation"]["uri"] == AR
    assert replace_regions(NUMBERS, change["replacements"]) == after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "runner-sync upgrade --only A.f",
        "@@ not a header @@\n-a\n+b\n",
        "@@ -1,9 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n",
        " a\n-b\n",
    ],
)
def test_what_is_no_patch_gives_no_fix(text: str) -> None:
    assert read_patch(text) == ()
    assert "fixes" not in read_run(Report("check", findings=(replace(FINDINGS[0], fix=text),)))["results"][0]


def test_an_insertion_goes_before_the_next_line() -> None:
    assert read_patch("@@ -7,0 +8 @@\n+new\n") == (Replacement(8, 0, "new\n"),)
