"""The same question about two copies of a method is asked once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.upgrade import ask_once

AR = ReviewItem(
    "R1", "AR.run", "ar.py", 3, 3, "both changed", 0.5, "    a()\n", "    a(1)\n", "    a(2)\n", "    a(1)\n"
)
GENERATION = replace(AR, id="R2", unit="Generation.run", path="generation.py", line=9)


def test_a_repetition_is_part_of_the_first_one() -> None:
    third = replace(GENERATION, id="R3", unit="Base.run")
    assert ask_once([AR, GENERATION, third]) == (AR, *(replace(one, part_of="R1") for one in (GENERATION, third)))


def test_indentation_does_not_count() -> None:
    deeper = replace(GENERATION, base="        a()\n", chosen="        a(1)\n")
    assert ask_once([AR, deeper])[1].part_of == "R1"


def test_comments_and_heads_of_blocks_do_not_hinder() -> None:
    noted = replace(GENERATION, omni="    a(1)  # omni's\n")
    assert ask_once([AR, noted])[1].part_of == "R1"
    heads = [replace(item, upstream="    with a:") for item in (AR, GENERATION)]
    assert ask_once(heads)[1].part_of == "R1"


def test_the_release_of_a_copy_does_not_count() -> None:
    """`_model_forward`, which both `_dummy_run` of 0.28.0 replace, on 0.30.0rc1: two bases, one change."""
    older = replace(GENERATION, base="    a(0)\n")
    assert ask_once([AR, older])[1].part_of == "R1"


def test_a_repetition_of_a_part_belongs_to_the_question_of_that() -> None:
    part = replace(AR, id="R4", part_of="R0")
    assert ask_once([part, GENERATION])[1].part_of == "R0"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(GENERATION, reason="upstream removed it"), id="another reason"),
        pytest.param(replace(GENERATION, omni="    a(3)\n"), id="another text of omni's"),
        pytest.param(replace(GENERATION, chosen="    a(2)\n"), id="another choice"),
        pytest.param(replace(GENERATION, upstream="    a(3)\n"), id="another text of upstream's"),
        pytest.param(replace(GENERATION, unit=AR.unit, path=AR.path), id="the same unit"),
    ],
)
def test_what_differs_is_asked_for_itself(other: ReviewItem) -> None:
    assert ask_once([AR, other]) == (AR, other)


def test_two_removals_of_different_statements_are_two_questions() -> None:
    first, second = (replace(item, upstream="", chosen=item.omni) for item in (AR, GENERATION))
    assert ask_once([first, second])[1].part_of == "R1"
    assert ask_once([first, replace(second, base="    a(0)\n")])[1].part_of == ""


def test_two_classes_that_get_the_same_mixin_are_one_question_with_all_that_uses_it() -> None:
    one = ReviewItem("R1", "AR", "ar.py", 1, 1, "mixes in M", 0.7, "", "class AR(B):", "", "class AR(M, B):")
    other = replace(one, id="R2", unit="Generation", omni="class Generation(B):", chosen="class Generation(M, B):")
    part = replace(GENERATION, id="R3", part_of="R2")
    assert [item.part_of for item in ask_once([one, other, part])] == ["", "R1", "R1"]
    assert [item.part_of for item in ask_once([one, replace(other, reason="mixes in N"), part])] == ["", "", "R2"]


def test_questions_that_show_nothing_are_not_compared() -> None:
    empty = replace(AR, base="", omni="", upstream="", chosen="")
    other = replace(empty, id="R2", unit="Generation.run")
    assert ask_once([empty, other]) == (empty, other)


SETS = replace(
    AR, unit="AR.__init__", reason="ported", base="", omni="self.kept = {}", upstream="self.held = {}", from_gpu=True
)
SETS = replace(SETS, chosen=SETS.upstream)
READS = replace(SETS, id="R2", unit="AR.run", omni="old = self.kept.get(row)", upstream="old = self.held.get(row)")
READS = replace(READS, chosen=READS.upstream)
LOCAL = replace(READS, omni="rows = take(old)", upstream="rows = take(new)", chosen="rows = take(new)")


def test_a_new_name_of_a_member_is_one_question_wherever_it_stands() -> None:
    """`_downstream_payload_cache` of vllm-omni 0.32.0rc1, in a trial: four questions for one name."""
    again = replace(
        READS, id="R3", omni="self.kept[row] = 1", upstream="self.held[row] = 1", chosen="self.held[row] = 1"
    )
    elsewhere = replace(READS, id="R4", unit="Generation.run", path="generation.py", reason="ported, too")
    parts = (replace(one, part_of="R1") for one in (READS, again, elsewhere))
    assert ask_once([SETS, READS, again, elsewhere]) == (SETS, *parts)


def test_a_new_name_of_a_local_is_one_question_in_its_method() -> None:
    again = replace(LOCAL, id="R3", omni="send(old)", upstream="send(new)", chosen="send(new)")
    assert ask_once([LOCAL, again])[1].part_of == LOCAL.id
    other = replace(again, unit="AR.other")
    assert ask_once([LOCAL, other]) == (LOCAL, other)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"omni": "old = self.kept.get(row, 0)"}, id="another change, too"),
        pytest.param({"omni": "old = self.lost.get(row)"}, id="another old name"),
        pytest.param(
            {"upstream": "old = self.new.get(row)", "chosen": "old = self.new.get(row)"}, id="another new one"
        ),
        pytest.param({"omni": "old = kept.get(row)"}, id="no member before"),
        pytest.param({"omni": "old = self.kept.get(self.held)"}, id="the new name was there"),
        pytest.param({"chosen": "old = self.kept.get(row)"}, id="omni's name stays"),
        pytest.param({"omni": ""}, id="new code"),
    ],
)
def test_what_changes_more_than_one_name_is_asked_for_itself(change: dict[str, str]) -> None:
    other = replace(READS, **change)
    assert ask_once([SETS, other]) == (SETS, other)
