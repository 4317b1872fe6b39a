"""What a port brings for a mixin that the class gets is part of the question about the mixin."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import GpuTwin, Hierarchy, ModuleJob
from runner_sync.upgrade.questions.mixed_in import ask_about_mixins, join_under_mixins
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

MODULE = NPU.modules[0]
HIERARCHY = Hierarchy(added_mixins={"Runner": {"Mixin": frozenset({"hand_on"})}})
JOB = ModuleJob(NPU, MODULE, "a.py", "", hierarchy=HIERARCHY)
LEAD = ReviewItem("R1", "Runner", "a.py", 1, 1, "mixes in", 0.7, "", "", "", "class Runner(Mixin):")
TEXTS = ("", "return x", "", "return self.hand_on(x)")
CALL = ReviewItem("R2", "Runner.run", "a.py", 3, 3, "ported", 0.7, *TEXTS, from_gpu=True)


def part_of(item: ReviewItem, *, name: str = "Runner.run", job: ModuleJob = JOB) -> str:
    drafts = [
        Draft(name, (Stage("def run(self): ..."),)).with_questions(item),
        Draft.for_question("Runner").with_questions(LEAD),
    ]
    return join_under_mixins(drafts, job)[0].reviews[0].part_of


def test_what_uses_the_mixin_is_part_of_its_question() -> None:
    assert part_of(CALL) == "R1"


def test_so_is_a_return_of_vllm_ascends_that_the_tool_hands_over() -> None:
    assert part_of(replace(CALL, omni="", upstream="return x", from_gpu=False)) == "R1"


@pytest.mark.parametrize(
    ("item", "name"),
    [
        pytest.param(replace(CALL, chosen="return self.send(x)"), "Runner.run", id="uses nothing of it"),
        pytest.param(replace(CALL, omni="return self.hand_on(y)"), "Runner.run", id="used it before"),
        pytest.param(
            replace(CALL, from_gpu=False, upstream="self.hand_on(y)"), "Runner.run", id="vllm-ascend's change"
        ),
        pytest.param(CALL, "Worker.run", id="another class"),
    ],
)
def test_other_questions_are_questions_of_their_own(item: ReviewItem, name: str) -> None:
    assert part_of(item, name=name) == ""


def test_without_a_mixin_nothing_is_joined() -> None:
    assert part_of(CALL, job=replace(JOB, hierarchy=Hierarchy())) == ""


def test_a_part_of_another_question_stays_that() -> None:
    assert part_of(replace(CALL, part_of="R9")) == "R9"


def why_without(*revisions: str) -> str:
    """Why the class does without a mixin of its twin's: the bases of the GPU class from the oldest revision to now."""
    assert MODULE.gpu is not None
    texts = [f"class {MODULE.gpu.name}({bases}):\n    pass\n" for bases in revisions]
    *sides, new = (ModuleRevision(f"0.{k}", text, "gpu.py") for k, text in enumerate(texts))
    twin = GpuTwin(new=new, bases=tuple(GpuBase(side, lambda: None) for side in sides))
    without = Hierarchy(missing_mixins={"Runner": {"Mixin": frozenset({"hand_on"})}})
    (draft,) = ask_about_mixins([], replace(JOB, twin=twin, hierarchy=without), {})
    return draft.reviews[0].reason


@pytest.mark.parametrize(
    "revisions",
    [
        pytest.param(("Base", "Base, Mixin", "Base, Mixin"), id="the last release had it, with the same text"),
        pytest.param(("Base", "Base, Mixin", "Base, Mixin, Other"), id="with another text"),
    ],
)
def test_a_mixin_that_the_last_release_had_is_not_new(revisions: tuple[str, ...]) -> None:
    assert "lacked before this upgrade, too" in why_without(*revisions)


def test_a_mixin_that_the_last_release_had_not_is_new() -> None:
    assert "newly mixes in Mixin" in why_without("Base, Mixin", "Base", "Base, Mixin")
