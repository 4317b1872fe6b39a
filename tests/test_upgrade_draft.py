"""A draft is a value: whoever holds one keeps what he was given."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from runner_sync.confidence import DERIVED
from runner_sync.model import Provenance
from runner_sync.upgrade.draft import Draft, Stage, list_members
from runner_sync.upgrade.questions.reviews import Shown, make_review

FIRST = "def run(self):\n    self.load()\n    return 1\n"
MORE = "def run(self):\n    self.keep()\n    self.load()\n    return 1\n"
DRAFT = Draft("Runner.run", (Stage(FIRST),))
ITEM = make_review(DRAFT, "runner.py", reason="why", confidence=DERIVED, shown=Shown(chosen="self.load()"), line=2)


def test_nobody_can_change_a_draft() -> None:
    with pytest.raises(FrozenInstanceError):
        DRAFT.removed = True  # type: ignore[misc]
    assert {DRAFT: 1}[Draft("Runner.run", (Stage(FIRST),))] == 1


def test_what_is_done_to_a_draft_is_done_to_another_one() -> None:
    asked = DRAFT.with_questions(ITEM)
    made = [
        asked.with_stage(MORE, "gpu"),
        asked.as_removed(ITEM, source="upstream"),
        asked.with_stage_and_moved_questions(MORE, "gpu"),
        asked.with_layout(MORE),
    ]
    assert asked not in made
    assert asked == Draft("Runner.run", (Stage(FIRST),), reviews=(ITEM,))
    assert Draft("Runner.run", (Stage(FIRST),)) == DRAFT


def test_a_further_stage_keeps_the_first_one_and_who_brought_what() -> None:
    grown = DRAFT.with_stage(MORE, "upstream")
    assert (grown.before, grown.text, grown.stages[-1].source) == (FIRST, MORE, "upstream")


def test_a_member_that_goes_is_one_question() -> None:
    other = replace(ITEM, id="R2")
    dropped = DRAFT.with_questions(ITEM).as_removed(other, source="upstream")
    assert (dropped.removed, dropped.reviews, dropped.text) == (True, (other,), FIRST)


def test_questions_go_with_their_lines_where_a_text_moves_on() -> None:
    asked = DRAFT.with_questions(ITEM)
    assert [item.line for item in asked.with_stage(MORE, "gpu").reviews] == [2]
    assert [item.line for item in asked.with_stage_and_moved_questions(MORE, "gpu").reviews] == [3]


def test_another_layout_is_no_further_stage() -> None:
    asked = DRAFT.with_stage(FIRST, "gpu").with_questions(ITEM).with_layout(MORE)
    assert asked.stages == (Stage(FIRST), Stage(MORE, "gpu"))
    assert [item.line for item in asked.reviews] == [3]


@pytest.mark.parametrize("source", ["upstream", "gpu"])
def test_what_completes_a_change_is_of_whom_the_change_is(source: Provenance) -> None:
    assert DRAFT.with_stage(FIRST, source).with_completion(MORE).stages[-1].source == source


def test_what_completes_a_port_elsewhere_is_ported() -> None:
    assert DRAFT.with_completion(MORE).stages[-1] == Stage(MORE, "gpu")


def test_a_place_for_a_question_has_no_text_and_was_not_asked_for() -> None:
    place = Draft.for_question("Runner")
    assert (place.text, place.before, place.outcome, place.chosen) == ("", "", "review", False)


def test_members_of_a_class_are_listed_without_removed_ones() -> None:
    kept, gone, other = (Draft(name, (Stage(""),)) for name in ("Runner.pack", "Runner.send", "pack"))
    assert list_members([kept, gone.as_removed(source="upstream"), other], "Runner") == [kept]
