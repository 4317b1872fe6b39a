"""Items about the same passage with the same texts are one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.questions.one_decision import join_alike, link_same_replacements

CALL = "send(rows)\nclose(rows)"
PORTED = ReviewItem("R1", "run", "p", 3, 3, "ported", 0.7, "", "send(batch)", CALL, CALL, from_gpu=True)
PLACED = replace(PORTED, id="R2", reason="under another condition", confidence=0.4, omni="")


def asked(*items: ReviewItem) -> tuple[ReviewItem, ...]:
    (draft,) = join_alike([Draft("run", (Stage(CALL),)).with_questions(*items)])
    return draft.reviews


def test_two_reasons_for_one_decision_are_one_item() -> None:
    joined = replace(PORTED, reason="under another condition; ported", confidence=0.4)
    assert asked(PORTED, PLACED) == (joined,)
    assert asked(PLACED, PORTED) == (replace(joined, id="R2"),)


def test_each_side_is_shown_as_the_item_has_it_that_shows_more() -> None:
    longer = replace(PLACED, upstream=f"with timed():\n    {CALL}")
    (item,) = asked(PORTED, longer)
    assert (item.omni, item.upstream) == (PORTED.omni, longer.upstream)


def test_what_stands_between_them_stays() -> None:
    between = replace(PLACED, id="R3", line=2, chosen="open(rows)")
    assert [item.id for item in asked(PORTED, between, PLACED)] == ["R1", "R3"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(PLACED, line=4), id="at another line"),
        pytest.param(replace(PLACED, chosen="send(rows)"), id="about a part"),
        pytest.param(replace(PLACED, from_gpu=False), id="about upstream's change"),
        pytest.param(replace(PLACED, omni="send(rows, 1)"), id="omni's text is another one"),
        pytest.param(replace(PLACED, upstream="keep(rows)"), id="it came for something else"),
        pytest.param(replace(PLACED, in_file=False), id="nothing was written about it"),
        pytest.param(replace(PLACED, reason=PORTED.reason), id="for the same reason: a passage that is there twice"),
    ],
)
def test_other_items_stay_apart(other: ReviewItem) -> None:
    assert asked(PORTED, other) == (PORTED, other)


def test_two_left_out_at_one_place_stay_apart() -> None:
    nothing = [replace(item, chosen="", upstream="keep(rows)") for item in (PORTED, PLACED)]
    assert asked(*nothing) == tuple(nothing)


BESIDE = ReviewItem("R1", "run", "p", 3, 3, "beside", 0.5, "take(it)", "take(own)", "hand(rows)", "take(own)")
SECOND = replace(BESIDE, id="R2", line=5, base="drop(it)", omni="drop(own)", chosen="drop(own)")


def parts(*items: ReviewItem) -> list[str]:
    (draft,) = link_same_replacements([Draft("run", (Stage(CALL),)).with_questions(*items)])
    assert [replace(item, part_of="") for item in draft.reviews] == [replace(item, part_of="") for item in items]
    return [item.part_of for item in draft.reviews]


def test_two_statements_that_one_passage_replaced_are_one_question() -> None:
    assert parts(BESIDE, SECOND) == ["", "R1"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(SECOND, upstream="hand(all)"), id="another passage"),
        pytest.param(replace(SECOND, reason="removed"), id="another reason"),
        pytest.param(replace(SECOND, from_gpu=True), id="of the GPU runner"),
        pytest.param(replace(SECOND, base=BESIDE.base), id="the same statement twice"),
        pytest.param(replace(SECOND, base=""), id="it replaced nothing"),
        pytest.param(replace(SECOND, upstream=""), id="nothing replaced it"),
    ],
)
def test_two_replacements_stay_two_questions(other: ReviewItem) -> None:
    assert parts(BESIDE, other) == ["", ""]


def test_a_part_of_another_question_stays_that() -> None:
    assert parts(BESIDE, replace(SECOND, part_of="R9")) == ["", "R9"]
