"""Rules, their documentation and their tests name the same codes."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from pathlib import Path

import pytest
from check_samples import job

from runner_sync.lock import Entry
from runner_sync.model import RuleText
from runner_sync.sync.rule_texts import rules
from runner_sync.verify import registry
from runner_sync.verify.catalog import OF_RUNNERS, OF_TREES, can_run, code_of
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.registry import find_rule, rule_texts
from runner_sync.verify.rules import load

ROOT = Path(__file__).parent.parent
CODE = re.compile(r"\bRS\d{3}\b")
TEXTS = rule_texts()
RULE_FILES = sorted((ROOT / "runner_sync/verify/rules").glob("rs*.py"))


def test_every_rule_module_is_listed_and_every_listed_one_is_a_module() -> None:
    assert [f"{t.code.lower()}_{t.name.replace('-', '_')}" for t in TEXTS] == [path.stem for path in RULE_FILES]


def test_codes_and_names_are_unique() -> None:
    assert len({text.code for text in TEXTS}) == len({text.name for text in TEXTS}) == len(TEXTS)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.code)
def test_a_rule_says_what_why_and_how(text: RuleText) -> None:
    assert text.text.startswith(f"{text.code} {text.name}: {text.summary.split()[0]}")
    assert text.summary.endswith(".")
    for part in ("What:", "Example:", "Why:", "Fix:", "Leaves alone:"):
        assert f"\n\n{part}" in text.text, part
    assert text.severity in ("error", "warning", "info")


def test_the_tutorial_lists_exactly_the_rules_there_are() -> None:
    rows = re.findall(r"^\| (RS\d{3}) \| `([\w-]+)` \|", (ROOT / "docs/adding-a-rule.md").read_text(), re.MULTILINE)
    assert rows == [(text.code, text.name) for text in TEXTS]


def test_every_rule_has_a_test_and_every_tested_code_is_a_rule() -> None:
    tests = [path for path in (ROOT / "tests").glob("test_*.py") if re.match(r"test_(rules|verify|check)", path.name)]
    tested = {code for path in tests for code in CODE.findall(path.read_text())}
    known = {text.code for text in TEXTS}
    # RS490 is reported, and tested, by the rewrites.
    assert known - tested <= {"RS490"}
    assert tested <= known


def test_a_rule_is_found_by_code_and_by_name() -> None:
    assert find_rule("rs203") == find_rule("override-skipped") == next(t for t in TEXTS if t.code == "RS203")
    assert find_rule("RS" + "999") is None


def test_rules_are_listed_in_the_order_of_their_codes() -> None:
    for names in (OF_RUNNERS, OF_TREES):
        assert list(names) == sorted(names)


def test_a_rule_runs_where_all_that_it_needs_is_at_hand() -> None:
    alone, beside_gpu = job("x = 1\n", gpu="x = 1\n"), job("x = 1\n", gpu="x = 1\n", vllm="x = 1\n")
    assert [can_run("RS202", given) for given in (alone, beside_gpu)] == [False, True]
    without_twins = replace(beside_gpu, modules=[replace(one, gpu_text=None) for one in beside_gpu.modules])
    assert not can_run("RS202", without_twins)
    assert can_run("RS401", without_twins)


def test_a_rule_takes_what_it_is_handed() -> None:
    for names, given in ((OF_RUNNERS, 1), (OF_TREES, 3)):
        for rule in load(names):
            inspect.signature(rule.find).bind(*range(given))
            assert code_of(rule.__name__.rpartition(".")[2]) == rule.CODE


def test_a_job_loads_the_rules_that_can_say_something_about_it() -> None:
    def codes(given: CheckJob) -> set[str]:
        return {rule.CODE for rule in registry.load_applicable(given)}

    local = codes(job("x = 1\n"))
    assert codes(job("x = 1\n", upstream="x = 1\n")) - local == {"RS101", "RS102", "RS104", "RS105"}
    assert codes(job("x = 1\n", vllm="x = 1\n")) - local == {"RS202", "RS207"}
    assert codes(job("x = 1\n", entries=[Entry("a.py", "f")])) - local == {"RS110", "RS111", "RS201"}


def test_the_beginning_of_a_code_lists_its_rules() -> None:
    listed = {prefix: [rule.code for rule in rules(prefix).rules] for prefix in ("rs49", "RS203", "RS9", "49")}
    assert listed == {"rs49": ["RS490", "RS491", "RS492"], "RS203": ["RS203"], "RS9": [], "49": []}
