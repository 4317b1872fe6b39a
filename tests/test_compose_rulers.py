"""Rulers around what a port added: around whole statements of one suite, and around nothing else."""

from __future__ import annotations

import pytest

from runner_sync.compose.rulers import enclose_additions, join_blocks
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


PORTED = f"""\
class Runner:
    def run(self):
        pass

    {RULER}
    def ported(self):
        pass
    {RULER}
"""
OWN = f"""
    {RULER}
    def own(self):
        pass
    {RULER}
"""


def joined(plain: str, enclosed: str) -> str:
    regions = [(region.start, region.end) for region in read_markers(enclosed, label="Omni-new").regions]
    made = join_blocks(plain, enclosed, regions)
    assert join_blocks(made, made, []) == made
    return made


@pytest.mark.parametrize(
    ("above", "below"),
    [
        pytest.param("", OWN, id="above omni's block"),
        pytest.param(OWN, "", id="below omni's block"),
        pytest.param(OWN, OWN.replace("own", "also"), id="between two"),
        pytest.param("", OWN.replace("-- Omni", "---- Omni"), id="of another width"),
        pytest.param("", OWN.removeprefix("\n"), id="with no line in between"),
    ],
)
def test_a_block_that_touches_another_becomes_one_with_it(above: str, below: str) -> None:
    """Members ported to the top of a block had rulers of their own, and a pair closed and opened around nothing."""
    head, ported = PORTED.split("\n\n", 1)
    enclosed = f"{head}\n{above}\n{ported}{below}"
    plain = f"{head}\n{above}\n{ported.replace(f'    {RULER}', '').strip(chr(10))}\n{below}"
    made = joined(plain, enclosed)
    (region,) = read_markers(made, label="Omni-new").regions
    assert region.problems == ()
    lines = made.split("\n")
    assert "ported" in "".join(lines[region.start : region.end])
    assert made.count("def own") == enclosed.count("def own") == "".join(lines[region.start : region.end]).count("own(")


@pytest.mark.parametrize(
    ("plain", "enclosed"),
    [
        pytest.param("", PORTED + "\n    stopped = False\n" + OWN, id="something stands between them"),
        pytest.param("", PORTED + "\n    # About both.\n" + OWN, id="a comment stands between them"),
        pytest.param("", PORTED + OWN.replace("Omni-new -", "Omni-new: talker -"), id="a block that says what it is"),
        pytest.param(PORTED + OWN, PORTED + OWN, id="they stood so before"),
        pytest.param("", PORTED + OWN.replace("    ", "        "), id="another suite"),
        pytest.param("", PORTED, id="one block"),
    ],
)
def test_other_blocks_keep_their_rulers(plain: str, enclosed: str) -> None:
    assert joined(plain, enclosed) == enclosed


@pytest.mark.parametrize(
    ("beside", "is_enclosed"),
    [
        pytest.param((3,), True, id="right behind a line"),
        pytest.param((5,), True, id="right in front of one"),
        pytest.param((2, 6), False, id="one line away"),
        pytest.param((), False, id="nothing to be beside of"),
    ],
)
def test_only_what_is_beside_a_line_is_enclosed(beside: tuple[int, ...], *, is_enclosed: bool) -> None:
    after = grown((OUTER, "    y = 2\n"))
    made = enclose_additions(BEFORE, after, marked=(), ruler=RULER, beside=beside)
    assert (made != after) == is_enclosed
