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
