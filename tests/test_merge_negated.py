"""A condition that one side negated, with its branches in the other order: each branch keeps what belongs to it."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

BASE = """\
def run(self, rows):
    if not self.is_split:
        # Common case.
        out = self.forward(rows)
        self.note(out)
    else:
        # Rare case.
        out = self.forward_split(rows)
        self.tell(out)
    return out
"""
NEGATED = """\
def run(self, rows):
    if self.is_split:
        # Rare case.
        out = self.forward_split(rows)
        self.tell(out)
    else:
        # Common case.
        out = self.forward(rows)
        self.note(out)
    return out
"""


def with_own(text: str) -> str:
    """The text with an addition of omni's in each branch."""
    text = text.replace("        self.note", "        # Omni\n        out = self.t.common(out)\n        self.note")
    return text.replace("        self.tell", "        out = self.t.rare(out)\n        self.tell")


LONGER = ("self.note(out)", "self.note(out, 2)")


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
@pytest.mark.parametrize(
    ("base", "omni", "upstream", "expected"),
    [
        pytest.param(BASE, with_own(BASE), NEGATED, with_own(NEGATED), id="upstream negated it"),
        pytest.param(NEGATED, with_own(NEGATED), BASE, with_own(BASE), id="upstream took the not away"),
        pytest.param(
            BASE,
            with_own(BASE),
            NEGATED.replace(*LONGER),
            with_own(NEGATED).replace(*LONGER),
            id="and changed something inside",
        ),
        pytest.param(
            BASE, with_own(NEGATED), BASE.replace(*LONGER), with_own(NEGATED).replace(*LONGER), id="omni negated it"
        ),
        pytest.param(BASE, with_own(NEGATED), NEGATED, with_own(NEGATED), id="both negated it"),
        pytest.param(
            *(text.replace("self.is_split", "self.rank is None") for text in (BASE, with_own(BASE))),
            *(text.replace("self.is_split", "self.rank is None") for text in (NEGATED, with_own(NEGATED))),
            id="a comparison",
        ),
        pytest.param(
            *(text.replace("not self.is_split", "self.rank == 0") for text in (BASE, with_own(BASE))),
            *(text.replace("self.is_split", "self.rank != 0") for text in (NEGATED, with_own(NEGATED))),
            id="an opposite comparison",
        ),
    ],
)
def test_the_branches_of_a_negated_condition_keep_what_is_theirs(
    policy: Policy, base: str, omni: str, upstream: str, expected: str
) -> None:
    result = merge(Triple(base, omni, upstream), policy=policy)
    assert result.text == expected
    assert result.decisions == ()


def test_branches_of_omnis_own_keep_their_order() -> None:
    """The inputs of `_dummy_run`, of which omni has a further branch."""
    omni = with_own(BASE).replace("    else:\n", "    elif self.is_empty:\n        out = rows\n    else:\n")
    result = merge(Triple(BASE, omni, NEGATED.replace(*LONGER)), policy=FOLLOW)
    assert result.text == omni.replace(*LONGER)
    assert result.decisions == ()


@pytest.mark.parametrize(
    "upstream",
    [
        pytest.param(BASE.replace("if not", "if"), id="the branches stay where they are"),
        pytest.param(NEGATED.replace("self.is_split", "self.is_even"), id="another condition"),
    ],
)
def test_what_is_no_negation_is_merged_by_place(upstream: str) -> None:
    omni = BASE.replace("self.begin", "self.t.begin")
    assert merge(Triple(BASE, omni, upstream), policy=FOLLOW).text == upstream


def test_two_such_conditions_are_left_as_they_are() -> None:
    base, upstream = (f"{one}{one.partition(chr(10))[2]}" for one in (BASE, NEGATED))
    assert merge(Triple(base, base, upstream), policy=FOLLOW).text == upstream


def test_a_further_condition_is_no_negated_one() -> None:
    """Upstream has both forms: omni's additions stay in the one that the base has."""
    again = NEGATED[NEGATED.index("    if") : NEGATED.index("    return")]
    upstream = BASE.replace("    return", f"{again}    return")
    result = merge(Triple(BASE, with_own(BASE), upstream), policy=FOLLOW)
    assert result.text == with_own(BASE).replace("    return", f"{again}    return")
