"""A condition that upstream changed, and that omni has behind a branch of its own, or without the branch in front."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.merge.preparing.in_front import with_conditions_in_other_branches
from runner_sync.model import Triple

BASE = """def run(self, rows):
    self.begin(rows)
    if self.takes_rows and not self.is_old:
        self.embed(rows)
    elif self.is_late:
        self.step(rows)
    return rows
"""
IF, FIRST = "    if self.takes_rows", "    if self.has_own:\n        self.own(rows)\n"
BEHIND = BASE.replace(IF, FIRST + "    elif self.takes_rows")
OLD = "self.takes_rows and not self.is_old:"
NEW = "self.takes_rows and not self.is_raw:"
LONG = """(
        self.takes_rows
        and not self.is_old
        and not self.is_raw_and_of_another_kind_than_all_others
    ):"""


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
@pytest.mark.parametrize("new", [NEW, LONG])
def test_omnis_later_branch_gets_the_new_condition(new: str, policy: Policy) -> None:
    merged = merge(Triple(BASE, BEHIND, BASE.replace(OLD, new)), policy=policy)
    assert merged.text == BEHIND.replace(OLD, new)
    assert merged.decisions == ()


def test_omnis_first_branch_gets_the_condition_of_the_twins_later_one() -> None:
    merged = merge(Triple(BEHIND, BASE, BEHIND.replace(OLD, NEW)), policy=PORT)
    assert merged.text == BASE.replace(OLD, NEW)
    assert merged.decisions == ()


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(BEHIND, BASE, id="no change"),
        pytest.param(BASE, BASE.replace(OLD, NEW), id="the same keyword"),
        pytest.param(BEHIND.replace("is_old", "is_mine"), BASE.replace(OLD, NEW), id="omni edited it"),
        pytest.param(BEHIND + BEHIND.partition("begin(rows)\n")[2], BASE.replace(OLD, NEW), id="omni has it twice"),
        pytest.param(BEHIND, BEHIND, id="upstream did what omni did"),
        pytest.param(
            BEHIND,
            BASE.replace(IF, "    while self.takes_rows").replace("elif", "if"),
            id="upstream took the condition out",
        ),
    ],
)
def test_nothing_is_carried_over(omni: str, upstream: str) -> None:
    triple = Triple(BASE, omni, upstream)
    assert with_conditions_in_other_branches(triple) == triple
