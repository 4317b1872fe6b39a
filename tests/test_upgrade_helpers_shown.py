"""A helper that only the GPU twin has is shown where the twin calls it in the place of NPU's lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking.helpers_shown import show_helpers
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import Hierarchy, Inherited, ModuleJob

LOOP = "for row in rows:\n    self.merge(row)"
CALL = "rows = self._merged(rows)"
HELPER = "def _merged(self, rows):\n    return [*map(self.merge, rows)]"
RUN = "    def run(self, rows):\n        for row in rows:\n            self.merge(row)\n"
SIDE = GpuSide(new={"Runner._merged": f"    {HELPER.replace(chr(10), chr(10) + '    ')}\n"})
ASKED = ReviewItem("R1", "Runner.run", "p", 2, 3, "removed a loop", 0.4, LOOP, LOOP, CALL, LOOP, from_gpu=True)


def shown(item: ReviewItem, *others: Draft, run: str = RUN, inherited: str = "") -> str:
    draft = Draft("Runner.run", (Stage(run),)).with_questions(item)
    hierarchy = Hierarchy(inherited={"Runner": Inherited(members={inherited: None})})
    job = ModuleJob(NPU, NPU.modules[0], "p", "", hierarchy=hierarchy)
    first, *_ = show_helpers([draft, *others], job, SIDE)
    return first.reviews[0].upstream


def test_the_helper_is_shown_below_its_call() -> None:
    """``_merge_model_kv_transfer_metadata`` of vllm-omni 0.28.0rc1."""
    assert shown(ASKED) == f"{CALL}\n\n{HELPER}"


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(replace(ASKED, chosen=CALL), id="the call came"),
        pytest.param(replace(ASKED, omni="", chosen=""), id="NPU has nothing there"),
        pytest.param(replace(ASKED, from_gpu=False), id="vllm-ascend's"),
        pytest.param(replace(ASKED, in_file=False), id="nothing is in the file"),
        pytest.param(replace(ASKED, base=CALL), id="the twin called it before"),
        pytest.param(replace(ASKED, upstream="rows = self.merged(rows)"), id="a method that the twin has not"),
    ],
)
def test_other_questions_show_no_helper(item: ReviewItem) -> None:
    assert shown(item) == item.upstream


def test_a_helper_that_npu_has_is_not_shown() -> None:
    assert shown(ASKED, Draft("Runner._merged", (Stage(HELPER),))) == CALL
    assert shown(ASKED, inherited="_merged") == CALL
    assert shown(ASKED, run=RUN + "        rows = self._merged(rows)\n") == CALL
    assert shown(ASKED, Draft("Runner._merged", (Stage(HELPER),), removed=True)) != CALL
