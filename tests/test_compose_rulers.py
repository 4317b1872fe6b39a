"""Rulers around what a port added: around whole statements of one suite, and around nothing else."""

from __future__ import annotations

import pytest

from runner_sync.compose.rulers import enclose_additions
from runner_sync.markers import read_markers

RULER = "# ------ Omni-new ------"
BEFORE = """\
def run(a):
    if a:
        x = 1
    return x
"""


def grown(*pairs: tuple[str, str]) -> str:
    text = BEFORE
    for old, more in pairs:
        text = text.replace(old, f"{old}{more}")
    return text


INNER, OUTER = "        x = 1\n", "    if a:\n        x = 1\n"


@pytest.mark.parametrize(
    ("place", "more", "margin"),
    [
        pytest.param(INNER, "        y = 2\n        z = 3\n", 8, id="at the end of a suite"),
        pytest.param(OUTER, "    y = 2\n", 4, id="behind a suite"),
        pytest.param(
            OUTER, "    if b:\n        y = 2\n        z = 3\n    w = 4\n", 4, id="a suite and what follows it"
        ),
        pytest.param(OUTER, "    for b in a:\n        y = 2\n    else:\n        z = 3\n", 4, id="two suites of one"),
        pytest.param(OUTER, "    # Rows.\n    y = 2\n", 4, id="with a remark"),
    ],
)
def test_whole_statements_of_one_suite_are_enclosed(place: str, more: str, margin: int) -> None:
    ruler = f"{' ' * margin}{RULER}\n"
    made = enclose_additions(BEFORE, grown((place, more)), marked=(), ruler=RULER)
    assert made == grown((place, f"{ruler}{more}{ruler}"))
    assert [region.problems for region in read_markers(made, label="Omni-new").regions] == [()]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(grown((INNER, "        y = 2\n    z = 3\n")), id="the end of a suite and what follows it"),
        pytest.param(
            grown((INNER, "        y = 2\n    if a:\n        z = 3\n")), id="the end of a suite and another one"
        ),
        pytest.param(BEFORE.replace("x = 1", "x = 2"), id="a change"),
        pytest.param(grown(("    if a:\n", "        if b:\n    ")), id="a head"),
        pytest.param(BEFORE, id="nothing"),
    ],
)
def test_a_run_across_suites_has_no_rulers(after: str) -> None:
    assert enclose_additions(BEFORE, after, marked=(), ruler=RULER) == after


def test_what_rulers_enclose_already_has_no_more() -> None:
    after = grown((OUTER, "    y = 2\n"))
    assert enclose_additions(BEFORE, after, marked=(4,), ruler=RULER) == after
