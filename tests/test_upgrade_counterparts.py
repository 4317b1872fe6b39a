"""What upstream has in two methods, where one copy got its part and the other is without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runner_sync.model import ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.counterparts import ask_about_counterparts, find_asked_counterparts

JOB = ModuleJob(NPU, NPU.modules[0], "a.py", "")
BEGUN = "if self.balances:\n    self.loads.begin()"
STEP = "    def step(self):\n        self.run()\n"
LAST = "    def last(self):\n        self.stop()\n"
CAME = ReviewItem("R1", "Runner.step", "a.py", 2, 3, "is back", 0.5, "", "", BEGUN, BEGUN)
FIRST = Draft("Runner.step", (Stage(STEP),), "copy").with_stage(
    STEP + "        if self.balances:\n            self.loads.begin()\n", "upstream"
)
ENDED = "        if self.balances:\n            self.loads.end()\n"


def asked(upstream: str, *, first: Draft = FIRST, item: ReviewItem = CAME, last: Draft | None = None) -> list[str]:
    """What upstream's ``last`` has beside what came into ``step``, as the questions show it."""
    second = last or Draft("Runner.last", (Stage(LAST),), "copy")
    drafts = ask_about_counterparts([first.with_questions(item), replace(second, upstream=upstream)], JOB)
    assert drafts[0].reviews == (item,)
    return [
        one.upstream for one in drafts[1].reviews if one.chosen == "" and "counterpart of what R1 added" in one.reason
    ]


def test_what_has_the_same_test_is_asked_about() -> None:
    assert asked(LAST + ENDED) == ["if self.balances:\n    self.loads.end()"]


def test_so_is_the_same_call_with_all_conditions_around_it() -> None:
    text = "        if self.is_idle:\n            self.loads.begin()\n"
    assert asked(LAST + text) == ["if self.is_idle:\n    self.loads.begin()"]


def test_all_of_a_method_is_one_question() -> None:
    text = ENDED + "        self.loads.begin()\n"
    assert asked(LAST + text) == ["if self.balances:\n    self.loads.end()\nself.loads.begin()"]


def test_a_condition_that_the_copy_has_is_not_shown() -> None:
    mine = Draft("Runner.last", (Stage(LAST + "        if self.is_idle:\n            self.stop()\n"),), "copy")
    text = "        if self.is_idle:\n            self.stop()\n            self.loads.begin()\n"
    assert asked(LAST + text, last=mine) == ["self.loads.begin()"]


@pytest.mark.parametrize(
    ("upstream", "rest"),
    [
        pytest.param(LAST, {}, id="upstream has nothing of it there"),
        pytest.param(LAST + ENDED.replace("balances", "sorts"), {}, id="another test and call"),
        pytest.param(
            LAST + ENDED, {"last": Draft("Runner.last", (Stage(LAST + ENDED),), "copy")}, id="the copy has it"
        ),
        pytest.param(LAST + ENDED, {"last": Draft("Other.last", (Stage(LAST),), "copy")}, id="another class"),
        pytest.param(LAST + ENDED, {"last": Draft("Runner.last", (Stage(LAST),), "override")}, id="no copy"),
        pytest.param(LAST + ENDED, {"item": replace(CAME, from_gpu=True)}, id="ported"),
        pytest.param(LAST + ENDED, {"item": replace(CAME, omni="x = 1")}, id="omni had something there"),
        pytest.param(LAST + ENDED, {"item": replace(CAME, chosen="")}, id="it did not come"),
        pytest.param(LAST + ENDED, {"first": replace(FIRST, kind="own")}, id="into no copy"),
    ],
)
def test_what_is_no_counterpart_is_no_question(upstream: str, rest: dict[str, Any]) -> None:
    assert asked(upstream, **rest) == []


def test_a_test_that_the_copy_had_before_tells_nothing() -> None:
    had = Draft("Runner.step", (Stage(STEP + "        if self.balances:\n            self.note()\n"),), "copy")
    assert asked(LAST + ENDED, first=had) == []


def test_what_is_asked_about_already_is_not_asked_again() -> None:
    item = replace(CAME, id="R2", unit="Runner.last", upstream=ENDED, chosen="", reason="left out")
    mine = Draft("Runner.last", (Stage(LAST),), "copy").with_questions(item)
    assert asked(LAST + ENDED, last=mine) == []


def test_a_method_of_the_runner_itself_is_no_part_of_it() -> None:
    item = replace(CAME, upstream="self.begin()", chosen="self.begin()")
    assert asked(LAST + "        self.begin()\n", item=item) == []


LEFT_OUT = ReviewItem("R2", "Runner.last", "a.py", 2, 3, "new block", 0.5, "", "", ENDED.replace("        ", "", 1), "")


@pytest.mark.parametrize(
    ("item", "owner", "pairs"),
    [
        pytest.param(LEFT_OUT, "Runner", [("R1", "R2")], id="left out and asked about for another reason"),
        pytest.param(replace(LEFT_OUT, chosen=LEFT_OUT.upstream), "Runner", [], id="it came"),
        pytest.param(replace(LEFT_OUT, upstream="self.stop()"), "Runner", [], id="about something else"),
        pytest.param(replace(LEFT_OUT, from_gpu=True), "Runner", [], id="the GPU runner's"),
        pytest.param(LEFT_OUT, "Other", [], id="another class"),
    ],
)
def test_a_counterpart_that_another_question_leaves_out_is_a_partner(
    item: ReviewItem, owner: str, pairs: list[tuple[str, str]]
) -> None:
    """0.16.0 on 0.19.1rc1 took `forward_before` and left `forward_end` out, in two unrelated questions."""
    second = Draft(f"{owner}.last", (Stage(LAST),), "copy", reviews=(item,))
    assert [*find_asked_counterparts([FIRST.with_questions(CAME), second])] == pairs
