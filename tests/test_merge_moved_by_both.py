"""A statement that both sides moved to one place and changed."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

HEAD = "def run(self, rows):\n    self.start(rows)\n"
CLEAR = "    for table in self.tables:\n        table.slots.fill_(-1)\n"
TAIL = "    return self.forward(meta)\n"
BASE = f"{HEAD}    meta = self.build(rows, size=self.size)\n{CLEAR}{TAIL}"


def moved(arguments: str) -> str:
    return f"{HEAD}{CLEAR}    meta = self.build({arguments})\n{TAIL}"


OMNI = moved("rows, size=self.size, graph=self.graph")
BOTH = moved("rows, size=self.size, dummy=True, graph=self.graph")


@pytest.mark.parametrize("policy", [pytest.param(FOLLOW, id="a copy"), pytest.param(PORT, id="a port")])
def test_the_side_that_has_both_changes_needs_no_question(policy: Policy) -> None:
    result = merge(Triple(BASE, OMNI, BOTH), policy=policy)
    assert (result.text, result.decisions) == (BOTH, ())


def test_changes_to_different_arguments_are_merged() -> None:
    result = merge(Triple(BASE, OMNI, moved("rows, size=self.size // 2")), policy=FOLLOW)
    assert result.text == moved("rows, size=self.size // 2, graph=self.graph")


@pytest.mark.parametrize(
    ("base", "upstream"),
    [
        pytest.param(BASE, moved("rows, size=self.size, graph=None"), id="they gave an argument two values"),
        pytest.param(HEAD + CLEAR + TAIL, BOTH, id="the base had no such statement"),
        pytest.param(BASE.replace(CLEAR, f"    meta = self.build(meta)\n{CLEAR}"), BOTH, id="the base had two of them"),
    ],
)
def test_anything_else_is_asked_about(base: str, upstream: str) -> None:
    assert merge(Triple(base, OMNI, upstream), policy=FOLLOW).decisions


WARM = f"{HEAD}    meta = self.build(self.warm, n=1)\n    self.sync(meta)\n{CLEAR}    return rows\n"


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param("self.warm, n=1", "rows, n=1, own=2", "rows, n=1", id="another argument"),
        pytest.param("self.warm, n=1", "rows, n=1, own=2", "rows, n=1, extra=3", id="another argument, and two new"),
        pytest.param("rows=self.warm, n=1", "rows=rows, n=1, own=2", "rows=rows, n=1", id="another keyword value"),
        pytest.param("rows, n=1", "rows, own=2", "rows, n=1, extra=3", id="omni lacks a keyword"),
        pytest.param("", "own=2", "n=1", id="no argument"),
    ],
)
@pytest.mark.parametrize("policy", [pytest.param(FOLLOW, id="a copy"), pytest.param(PORT, id="a port")])
def test_a_call_that_may_have_another_purpose_is_no_base(base: str, omni: str, upstream: str, policy: Policy) -> None:
    old = WARM.replace("self.warm, n=1", base)
    assert merge(Triple(old, moved(omni), moved(upstream)), policy=policy).decisions


def test_a_call_that_upstream_makes_twice_is_no_base() -> None:
    twice = BOTH.replace(
        "    return", "    self.note(meta)\n    meta = self.build(rows, size=2, last=True)\n    return"
    )
    assert merge(Triple(BASE, OMNI, twice), policy=FOLLOW).decisions
