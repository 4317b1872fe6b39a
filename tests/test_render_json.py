"""JSON against the published schema, and the keys that programs may rely on."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from render_samples import REPORTS, poison
from sync_samples import AR, Trees, stay_at_home

from runner_sync import sync
from runner_sync.model import How, Report
from runner_sync.render import render
from runner_sync.terminal.outputs import FORMATS_OF

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
DEFINITIONS = {
    "upgrade": "upgrade_report",
    "check": "findings_report",
    "verify": "findings_report",
    "blocks": "blocks_report",
    "lock": "units_report",
    "explain": "units_report",
    "hoist": "upgrade_report",
    "replay": "replay_report",
    "rule": "rules_report",
}


def close(schema: Any) -> Any:
    """Return the schema with undocumented keys forbidden: readers may ignore them, we may not forget them."""
    if isinstance(schema, list):
        return [close(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(value) for key, value in schema.items()}
    if "properties" in schema and schema.get("type") and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


def validate(document: object, command: str) -> None:
    closed = close(copy.deepcopy(SCHEMA))
    del closed["oneOf"]
    jsonschema.validate(document, {**closed, "$ref": f"#/$defs/{DEFINITIONS[command]}"})


@pytest.mark.parametrize("command", REPORTS)
def test_reports_follow_the_schema(command: str) -> None:
    document = json.loads(render(REPORTS[command], "json"))
    validate(document, command)
    jsonschema.validate(document, SCHEMA)
    assert document["command"] == command


@pytest.mark.parametrize("command", REPORTS)
def test_empty_and_hostile_reports_follow_the_schema(command: str) -> None:
    validate(json.loads(render(Report(command), "json")), command)
    validate(json.loads(render(poison(REPORTS[command]), "json")), command)


def test_every_command_with_json_has_a_schema_and_a_sample() -> None:
    with_json = {command for command, formats in FORMATS_OF.items() if "json" in formats}
    assert with_json == set(DEFINITIONS) == set(REPORTS)
    assert with_json == {name for part in SCHEMA["$defs"].values() for name in commands_of(part)}


RUNS: dict[str, Callable[[Trees], Report]] = {
    "upgrade": lambda trees: sync.upgrade(trees.upgrade(trees.ascend_new)).report,
    "hoist": lambda trees: sync.hoist(trees.upgrade(trees.ascend_old), "NPUARModelRunner._stage_of").report,
    "lock": lambda trees: sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself)).report,
    "check": lambda trees: sync.check(trees.check(ascend=trees.ascend_new)),
    "verify": lambda trees: sync.verify(trees.check(ascend=trees.ascend_new)),
    "blocks": lambda trees: sync.blocks(trees.check()),
    "explain": lambda trees: sync.explain(trees.check(ascend=trees.ascend_old), AR, None),
    "rule": lambda _: sync.rules(None),
}


@pytest.mark.parametrize("command", RUNS)
def test_what_a_command_says_follows_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """All but a replay, which needs releases."""
    stay_at_home(monkeypatch, tmp_path)
    document = json.loads(render(RUNS[command](Trees(tmp_path)), "json"))
    validate(document, command)
    jsonschema.validate(document, SCHEMA)


def test_all_commands_but_one_are_run() -> None:
    assert set(DEFINITIONS) - set(RUNS) == {"replay"}


def commands_of(definition: dict[str, Any]) -> list[str]:
    said = definition.get("properties", {}).get("command", {})
    return [said["const"]] if "const" in said else said.get("enum", [])


def test_the_schema_refuses_what_readers_rely_on() -> None:
    document = json.loads(render(REPORTS["check"], "json"))
    for key in ("code", "severity", "path", "line", "end_line", "unit", "symbol", "message", "fix"):
        broken = copy.deepcopy(document)
        del broken["findings"][0][key]
        with pytest.raises(jsonschema.ValidationError):
            validate(broken, "check")


def test_promised_keys_of_upgrade() -> None:
    document = json.loads(render(REPORTS["upgrade"], "json"))
    assert document["format_version"] == "1.0"
    assert {"inputs", "units", "reviews", "findings", "summary"} <= document.keys()
    unit = document["units"][0]
    assert {"unit", "path", "kind", "outcome", "base", "hunks"} <= unit.keys()
    assert {"project", "ref", "how", "similarity"} <= unit["base"].keys()
    assert unit["hunks"][0].keys() == {"line", "end_line", "provenance", "cause"}
    sides = {"base", "omni", "upstream", "chosen"}
    promised = {"id", "unit", "path", "line", "end_line", "reason", "confidence", "part_of", *sides}
    assert document["reviews"][0].keys() == promised, "whose the newer side is, the reason says"


def test_hostile_text_survives_the_round_trip() -> None:
    report = poison(REPORTS["check"])
    document = json.loads(render(report, "json"))
    assert document["findings"][0]["message"] == report.findings[0].message


def test_summary_counts_what_is_listed_and_keeps_what_the_run_adds() -> None:
    report = REPORTS["upgrade"]
    summary = json.loads(render(report, "json"))["summary"]
    assert summary["reviews"] == len(report.reviews)
    assert summary["findings"] == len(report.findings)
    assert summary["written"] == 2
    assert (summary["taken"], summary["ported"], summary["kept"], summary["removed"]) == (46, 23, 59, 0)


def test_a_summary_cannot_contradict_its_list() -> None:
    report = Report("check", summary={"findings": 99, "baseline": 4})
    summary = json.loads(render(report, "json"))["summary"]
    assert (summary["findings"], summary["baseline"]) == (0, 4)


def test_files_tell_new_from_changed() -> None:
    files = json.loads(render(REPORTS["upgrade"], "json"))["files"]
    assert [entry["status"] for entry in files] == ["updated", "added"]


def test_replay_means_are_over_cases() -> None:
    summary = json.loads(render(REPORTS["replay"], "json"))["summary"]
    assert (summary["cases"], summary["effort_left"], summary["silent"]) == (2, 0.3, 3)


def test_the_schema_names_every_way_in_which_a_base_is_known() -> None:
    said = SCHEMA["$defs"]["base"]["properties"]["how"]["description"]
    assert set(re.findall(r"\w+", said)) - {"or"} == set(get_args(How))
