"""What a port brings is in no question about what was left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking.brought_after_all import drop_ported_passages
from runner_sync.upgrade.from_gpu.asking.ported_passages import SHARED, TAKEN_OVER

FINISH = "if self.is_last:\n    self.finish()"
PORTED = ReviewItem("R1", "run", "p", 3, 5, SHARED, 0.7, "", "", FINISH, f"# Once.\n{FINISH}", from_gpu=True)
LEFT_OUT = replace(PORTED, id="R2", reason="upstream added to it", from_gpu=False, chosen="")
AROUND = "with self.timed():\n    if self.is_last:\n        # After the rest.\n        self.finish()\nself.note(rows)"


def asked(*items: ReviewItem) -> list[tuple[str, str]]:
    draft = drop_ported_passages(Draft("run", (Stage(FINISH),)).with_questions(*items))
    return [(item.id, item.upstream) for item in draft.reviews]


@pytest.mark.parametrize(
    ("left_out", "shown"),
    [
        pytest.param(FINISH, [], id="nothing else was left out"),
        pytest.param(AROUND, [("R2", "with self.timed():\n    # …\nself.note(rows)")], id="something else was"),
        pytest.param("self.finish()", [("R2", "self.finish()")], id="not under that condition"),
        pytest.param(FINISH.replace("(", "(1"), [("R2", FINISH.replace("(", "(1"))], id="something like it"),
    ],
)
def test_what_came_is_not_shown_among_what_was_left_out(left_out: str, shown: list[tuple[str, str]]) -> None:
    """``finalize_kv_connector()`` of vllm-ascend 0.20.2rc1, in a question that took nothing."""
    assert asked(replace(LEFT_OUT, upstream=left_out), PORTED) == [*shown, ("R1", FINISH)]


@pytest.mark.parametrize(
    ("item", "ported"),
    [
        pytest.param(replace(LEFT_OUT, chosen="self.note()"), PORTED, id="something was chosen there"),
        pytest.param(LEFT_OUT, replace(PORTED, reason=TAKEN_OVER), id="the GPU runner's alone"),
        pytest.param(replace(LEFT_OUT, from_gpu=True), PORTED, id="a question about the port"),
    ],
)
def test_other_questions_show_what_they_showed(item: ReviewItem, ported: ReviewItem) -> None:
    assert asked(item, ported) == [("R2", FINISH), ("R1", FINISH)]
