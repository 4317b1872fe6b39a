"""Items that are one decision name each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Hierarchy, Inherited
from runner_sync.upgrade.questions.linked_questions import name_partners


def draft(name: str, identity: str, chosen: str, *, is_new: bool = False, from_gpu: bool = True) -> Draft:
    made = Draft(name, (Stage("" if is_new else "x"), Stage(chosen, "gpu")), outcome="added" if is_new else "updated")
    return made.with_questions(
        ReviewItem(identity, name, "p", 1, 1, "why", 0.5, "", "", chosen, chosen, from_gpu=from_gpu)
    )


def reasons(*drafts: Draft, inherited: Mapping[str, str | None] | None = None) -> dict[str, str]:
    hierarchy = Hierarchy(inherited={"Runner": Inherited(inherited or {})})
    return {item.id: item.reason for one in name_partners(drafts, TWINS, hierarchy) for item in one.reviews}


TWINS = {"Runner.run": 'def run(self):\n    alias = getattr(self.model, "begin_decode_step", None)\n    alias(rows)\n'}


HELPER = draft("Runner.keep", "R1", "def keep(self): return self.flag()", is_new=True)
FLAG = draft("Runner.flag", "R2", "def flag(self): return 1", is_new=True)
CALL = draft("Runner.run", "R3", "self.keep()")


def test_a_ported_member_and_what_brings_its_calls_name_each_other() -> None:
    assert reasons(HELPER, FLAG, CALL) == {
        "R1": "why; decide it together with R2, R3",
        "R2": "why; decide it together with R1",
        "R3": "why; decide it together with R1",
    }


def test_so_does_what_would_call_it_and_was_left_out() -> None:
    left_out = draft("Runner.run", "R3", "")
    asked = replace(left_out, reviews=(replace(left_out.reviews[0], upstream="self.flag()"),))
    assert reasons(FLAG, asked) == {"R2": "why; decide it together with R3", "R3": "why; decide it together with R2"}


def test_what_stays_as_it_is_does_not_belong_to_what_it_would_call() -> None:
    stays = draft("Runner.run", "R3", "self.own()")
    asked = replace(stays, reviews=(replace(stays.reviews[0], upstream="self.flag()"),))
    assert set(reasons(FLAG, asked).values()) == {"why"}


def test_of_many_partners_the_first_ones_are_named() -> None:
    calls = [draft(f"Runner.run{k}", f"R{k + 3}", "self.flag()") for k in range(4)]
    assert reasons(FLAG, *calls)["R2"] == "why; decide it together with R3, R4, R5 and 1 more"


@pytest.mark.parametrize(
    ("member", "call"),
    [
        pytest.param(FLAG, draft("Runner.run", "R3", "self.flags()"), id="another name"),
        pytest.param(FLAG, draft("Runner.run", "R3", "other.flag()"), id="of another object"),
        pytest.param(FLAG, draft("Other.run", "R3", "self.flag()"), id="of another class"),
        pytest.param(FLAG, draft("Runner.run", "R3", "self.flag()", from_gpu=False), id="no port"),
        pytest.param(replace(FLAG, outcome="updated"), draft("Runner.run", "R3", "self.flag()"), id="was there before"),
        pytest.param(FLAG, draft("Runner.flag", "R3", "self.flag()"), id="itself"),
    ],
)
def test_what_is_no_partner_is_not_named(member: Draft, call: Draft) -> None:
    assert set(reasons(member, call).values()) == {"why"}


def left_out(upstream: str, name: str = "Runner.run") -> Draft:
    """A unit with a question about something of the GPU runner's that did not come."""
    made = draft(name, "R9", "")
    return replace(made, reviews=(replace(made.reviews[0], upstream=upstream),))


def came(chosen: str, name: str = "Runner.sample", before: str = "x") -> Draft:
    """A unit with a question about a passage that came."""
    return replace(draft(name, "R8", chosen), stages=(Stage(before), Stage(chosen, "gpu")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("self.cache.drain_ready_writes()", "self.cache.schedule_ready_write(rows)", id="calls"),
        pytest.param(
            'after = getattr(getattr(self, "model", None), "post_sample_outputs", None)',
            'if hasattr(self.model, "finalize_sample_outputs_on_cpu"):\n    rows = rows[:1]',
            id="hooks that are asked for",
        ),
        pytest.param("self.model.finish_decode_step()", "alias(rows)", id="a local for a hook"),
    ],
)
def test_what_came_and_the_half_of_it_that_did_not_name_each_other(one: str, other: str) -> None:
    assert reasons(came(one), left_out(other)) == {
        "R8": "why; decide it together with R9",
        "R9": "why; decide it together with R8",
    }


STEP_METHODS = {"_cache_step_begin": "def …", "_cache_step_save": "def …", "_cache_clear": "def …"}


def test_new_methods_of_omnis_class_are_halves_of_one_feature() -> None:
    """`_prefix_cache_step_begin` of 0.30.0 came, which creates the cache; what saves the step was left out."""
    drafts = came("self._cache_step_begin(rows)"), left_out("step = self._cache_step_save(")
    assert reasons(*drafts, inherited=STEP_METHODS) == {
        "R8": "why; decide it together with R9",
        "R9": "why; decide it together with R8",
    }


@pytest.mark.parametrize(
    ("before", "other", "inherited"),
    [
        pytest.param("x", "self._cache_clear()", STEP_METHODS, id="one word alike"),
        pytest.param("x", "self._cache_step_save()", dict.fromkeys(STEP_METHODS), id="methods of an upstream's"),
        pytest.param("self._cache_step_begin()", "self._cache_step_save()", STEP_METHODS, id="NPU had it before"),
        pytest.param("x", "self._cache_step_begin()", STEP_METHODS, id="the same method"),
    ],
)
def test_noop_other_methods_are_no_halves(before: str, other: str, inherited: dict[str, str | None]) -> None:
    drafts = came("self._cache_step_begin(rows)", before=before), left_out(other)
    assert set(reasons(*drafts, inherited=inherited).values()) == {"why"}


WRITES = "self.cache.drain_ready_writes()"
SCHEDULED = "self.cache.schedule_ready_write(rows)"


@pytest.mark.parametrize(
    "drafts",
    [
        pytest.param((came(WRITES), left_out("self.cache.schedule_write(rows)")), id="one word alike"),
        pytest.param((came(WRITES), left_out("self.queue.schedule_ready_write(rows)")), id="another object"),
        pytest.param((came(WRITES), left_out("self.schedule_ready_write(rows)")), id="of the runner itself"),
        pytest.param((came(WRITES), left_out(WRITES)), id="the same part"),
        pytest.param((came(WRITES), left_out("other(rows)")), id="a local for nothing"),
        pytest.param((came(WRITES), left_out("self.cache.ready_write_count = 1")), id="no call"),
        pytest.param((came(WRITES), left_out(SCHEDULED, "Other.run")), id="another class"),
        pytest.param((came(WRITES, before=WRITES), left_out(SCHEDULED)), id="NPU had it before"),
        pytest.param((came(f"{WRITES}\n{SCHEDULED}"), left_out(SCHEDULED)), id="both came"),
        pytest.param((came("self.cache.clear()"), left_out(SCHEDULED)), id="something else came"),
    ],
)
def test_what_is_no_half_is_not_named(drafts: tuple[Draft, Draft]) -> None:
    assert set(reasons(*drafts).values()) == {"why"}


HELPERS = {
    "Runner._build": "def _build(self):\n    self._stage(self.rows)\n",
    "Runner._stage": "def _stage(self, rows):\n    self.cache.stage_late_rows(rows)\n",
}
"""As in vllm-omni 0.24.0: what ``sample_tokens`` calls on GPU stages the rows that ``execute_model`` writes later."""


def find_reasons_with_helpers(*drafts: Draft, inherited: Mapping[str, str | None]) -> dict[str, str]:
    hierarchy = Hierarchy(inherited={"Runner": Inherited(inherited)})
    return {item.id: item.reason for one in name_partners(drafts, HELPERS, hierarchy) for item in one.reviews}


def test_a_half_behind_a_method_that_npu_lacks_is_named() -> None:
    drafts = came("self.cache.commit_late_rows()"), left_out("return self._build()")
    assert find_reasons_with_helpers(*drafts, inherited={}) == {
        "R8": "why; decide it together with R9 (it left out self.cache.stage_late_rows)",
        "R9": "why; decide it together with R8",
    }


@pytest.mark.parametrize(
    ("one", "other", "inherited"),
    [
        pytest.param("self.cache.commit_late_rows()", "self._build()", {"_stage": "def …"}, id="NPU has the method"),
        pytest.param("self.cache.commit_late_rows()", "self._build()", {"_build": None}, id="NPU inherits another"),
        pytest.param("self.cache.commit_late_rows()", "self._other()", {}, id="another method"),
        pytest.param("self.cache.clear()", "self._build()", {}, id="something else came"),
        pytest.param(
            "self.cache.commit_late_rows()\nself.cache.stage_late_rows(a)", "self._build()", {}, id="both came"
        ),
    ],
)
def test_noop_no_half_stands_behind(one: str, other: str, inherited: dict[str, str | None]) -> None:
    assert set(find_reasons_with_helpers(came(one), left_out(other), inherited=inherited).values()) == {"why"}


def link(before: str, *items: ReviewItem) -> list[str]:
    """The reasons of ``items`` about one method, which reads ``before`` before the upgrade."""
    made = Draft("Runner.run", (Stage(before), Stage("y", "gpu"))).with_questions(*items)
    return [item.reason for item in name_partners([made], {}, Hierarchy())[0].reviews]


SETS = ReviewItem("R1", "Runner.run", "p", 1, 1, "why", 0.5, "", "", "late = a.b(c)", "late = a.b(c)", from_gpu=True)
READS = replace(SETS, id="R2", upstream="if late:\n    e()", chosen="if late:\n    e()")


def test_what_sets_a_new_local_and_what_reads_it_name_each_other() -> None:
    """`defer_full_payload_d2h` of vllm-omni 0.28.0: one passage sets it, two more read it."""
    kept = replace(READS, id="R3", chosen="e()", omni="e()")
    assert link("c = 1", SETS, READS, kept) == [
        "why; decide it together with R2, R3",
        "why; decide it together with R1",
        "why; decide it together with R1",
    ]


@pytest.mark.parametrize("late", ["late=None", "late: bool = False", "*, late", "**late"])
def test_so_do_a_new_parameter_and_what_reads_it(late: str) -> None:
    """`randomize_inputs` of `profile_run` in vllm-omni 0.32.0rc1, which the method passes on."""
    now = f"def run(self, {late}):"
    signature = replace(SETS, omni="def run(self):", upstream=now, chosen=now)
    linked = ["why; decide it together with R2", "why; decide it together with R1"]
    assert link("def run(self):\n    c()", signature, READS) == linked
    assert link(f"{now}\n    c()", signature, READS) == ["why", "why"]


@pytest.mark.parametrize("head", ["def on_done(late, rows):", "def on_done(late, rows):\n    self.keep(late)"])
def test_a_parameter_of_a_function_inside_is_another_name(head: str) -> None:
    inside = replace(SETS, upstream=head, chosen=head)
    assert link("def run(self):\n    c()", inside, READS) == ["why", "why"]


LEFT_OUT = replace(SETS, chosen="", omni="")
KEPT = replace(READS, upstream="e(late)", chosen="e()", omni="e()")


def test_what_sets_a_local_and_was_left_out_and_omnis_form_of_what_reads_it_name_each_other() -> None:
    """`routed_experts_lists` of vllm-ascend 0.22.1rc1: omni's output is made without it."""
    reasons = ["why; decide it together with R2", "why; decide it together with R1"]
    assert link("c = 1", LEFT_OUT, KEPT) == reasons


def test_the_question_that_such_a_passage_is_a_part_of_is_named() -> None:
    whole = replace(LEFT_OUT, id="R9", upstream="b = 1")
    part = replace(LEFT_OUT, part_of="R9")
    assert link("c = 1", whole, part, KEPT) == [
        "why; decide it together with R2",
        "why",
        "why; decide it together with R9",
    ]


@pytest.mark.parametrize(
    ("before", "one", "other"),
    [
        pytest.param("late = None", SETS, READS, id="a known local"),
        pytest.param("c = 1", SETS, replace(READS, upstream="d.late()", chosen="d.late()"), id="an attribute"),
        pytest.param("c = 1", SETS, replace(READS, upstream="d(late=1)", chosen="d(late=1)"), id="a keyword"),
        pytest.param("c = 1", replace(SETS, chosen="", omni=""), READS, id="it did not come"),
        pytest.param("c = 1", LEFT_OUT, replace(KEPT, upstream="e(1)"), id="it does not read it"),
        pytest.param("late = 1", LEFT_OUT, KEPT, id="omni sets the local"),
        pytest.param("c = 1", LEFT_OUT, replace(KEPT, upstream="late = b()\ne(late)"), id="it sets its own"),
        pytest.param("c = 1", replace(LEFT_OUT, part_of="R2"), KEPT, id="a part of the very question"),
        pytest.param(
            "c = 1", replace(SETS, chosen="d()", omni="d()"), KEPT, id="omni has another form of what sets it"
        ),
        pytest.param("c = 1", SETS, replace(READS, from_gpu=False), id="of another side"),
        pytest.param("c = 1", SETS, replace(READS, part_of="R1"), id="linked already"),
    ],
)
def test_other_passages_of_a_method_are_not_linked(before: str, one: ReviewItem, other: ReviewItem) -> None:
    assert set(link(before, one, other)) == {"why"}
