"""One end of an exchange that came in silence, while a question left out the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import BaseRef, ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions import two_ends

STEP = "    def step(self):\n        self.run()\n"
LAST = "    def last(self):\n        self.stop()\n"
CAME, MISSING = "self._receive_last_rows_into_batch()", "self._broadcast_last_rows(rows)"
JOB = ModuleJob(NPU, NPU.modules[0], "a.py", "")
LEFT_OUT = ReviewItem("R1", "Runner.last", "a.py", 2, 2, "uses what nothing sets", 0.6, "", "", MISSING, "")


def asked(
    monkeypatch: pytest.MonkeyPatch,
    *,
    came: str = CAME,
    item: ReviewItem = LEFT_OUT,
    base: str = STEP,
    base_of_last: str = LAST,
    owner: str = "Runner",
    before: str = STEP,
    questions: tuple[ReviewItem, ...] = (),
    relation: str = "as a counterpart of this",
) -> list[str]:
    """The statements of ``step`` that the questions show if upstream's ``came`` came and ``item`` left out more."""
    known = {"Runner.step": base, f"{owner}.last": base_of_last}
    monkeypatch.setattr(two_ends, "find_base_text", lambda draft, _job: known[draft.name])
    ref = BaseRef("vllm-ascend", "1", "a.py", "R.step", "inferred", 1.0)
    now = f"{STEP}        {came}\n"
    step = Draft("Runner.step", (Stage(before), Stage(now, "upstream")), "copy", base=ref, upstream=now)
    last = Draft(f"{owner}.last", (Stage(LAST),), "copy", base=ref, upstream=f"{LAST}        {item.upstream}\n")
    drafts = [step.with_questions(*questions), last.with_questions(item)]
    first, second = two_ends.ask_about_other_ends(drafts, JOB)
    assert second == drafts[1]
    found = first.reviews[len(questions) :]
    assert all(f"{relation}, and R1 left it out: take both or neither" in one.reason for one in found)
    return [one.chosen for one in found]


def test_an_end_whose_other_end_was_left_out_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """`_pp_receive_prev_sampled_token_ids_to_input_batch` came, and other ranks were never sent anything."""
    assert asked(monkeypatch) == [CAME]


@pytest.mark.parametrize(
    ("came", "missing"),
    [
        pytest.param(MISSING, CAME, id="the other way round"),
        pytest.param("self.loads.wait_for_rows()", "self.loads.submit_for_rows()", id="opposites of an object"),
    ],
)
def test_other_ends_are_found(came: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, came=came, item=replace(LEFT_OUT, upstream=missing)) == [came]


def test_methods_of_an_object_that_is_new_there_are_not_called_counterparts(monkeypatch: pytest.MonkeyPatch) -> None:
    came, item = "self.loads.forward_before()", replace(LEFT_OUT, upstream="self.loads.take()")
    assert asked(monkeypatch, came=came, item=item, relation="as another call on self.loads") == [came]


@pytest.mark.parametrize(
    ("came", "missing"),
    [
        pytest.param(CAME, "self._broadcast_last_ids(rows)", id="of something else"),
        pytest.param(CAME, "self._prepare_last_rows(rows)", id="another verb"),
        pytest.param(CAME, "self._pull_last_rows(rows)", id="no opposite"),
        pytest.param("self._receive_rows()", "self._broadcast_rows()", id="one word beside the verb"),
        pytest.param(CAME, "self.pool._broadcast_last_rows(rows)", id="of another object"),
        pytest.param(CAME, CAME, id="the same call"),
        pytest.param("self.prepare(rows)", "self.finish(rows)", id="methods of the runner itself"),
    ],
)
def test_what_is_no_other_end_is_no_question(came: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, came=came, item=replace(LEFT_OUT, upstream=missing)) == []


def test_an_end_that_is_not_new_is_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    had = f"{STEP}        {CAME}\n"
    assert asked(monkeypatch, base=had) == asked(monkeypatch, before=had) == []
    assert asked(monkeypatch, base_of_last=f"{LAST}        {MISSING}\n") == []


def test_an_object_that_was_used_before_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    used = f"{LAST}        self.loads.note()\n"
    item = replace(LEFT_OUT, upstream="self.loads.take()")
    assert asked(monkeypatch, came="self.loads.forward_before()", item=item, base_of_last=used) == []


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(replace(LEFT_OUT, chosen=MISSING), id="it came"),
        pytest.param(replace(LEFT_OUT, from_gpu=True), id="a port"),
    ],
)
def test_an_end_that_upstream_did_not_lose_is_no_question(item: ReviewItem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, item=item) == []


def test_another_class_and_what_is_asked_already_are_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, owner="Other") == []
    assert asked(monkeypatch, questions=(replace(LEFT_OUT, id="R2", unit="Runner.step", chosen=CAME),)) == []


DROPPED = f"{LAST}        self.loads.forward_end()\n"


def asked_of_dropped(
    monkeypatch: pytest.MonkeyPatch,
    *,
    came: str = "self.loads.forward_before()",
    before: str = STEP,
    last: str = LAST,
    upstream: str = DROPPED,
) -> list[str]:
    """The questions in ``step``, where ``came`` came, if omni had dropped the end of ``last``, its copy of DROPPED."""
    known = {"Runner.step": STEP, "Runner.last": DROPPED}
    monkeypatch.setattr(two_ends, "find_base_text", lambda draft, _job: known[draft.name])
    ref = BaseRef("vllm-ascend", "1", "a.py", "R.step", "inferred", 1.0)
    now = f"{STEP}        {came}\n"
    drafts = [
        Draft("Runner.step", (Stage(before), Stage(now, "upstream")), "copy", base=ref, upstream=now),
        Draft("Runner.last", (Stage(last),), "copy", base=ref, upstream=upstream),
    ]
    return [item.reason for item in two_ends.ask_about_other_ends(drafts, JOB)[0].reviews]


def test_an_end_whose_other_end_omni_had_dropped_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """`forward_before` came into `execute_model`, and omni's `sample_tokens` had never had `forward_end`."""
    (reason,) = asked_of_dropped(monkeypatch)
    assert reason == (
        "vllm-ascend has self.loads.forward_end in last as another call on self.loads, and omni's copy left it out: "
        "take both or neither"
    )


@pytest.mark.parametrize(
    ("came", "before", "last", "upstream"),
    [
        pytest.param("self.pools.forward_before()", STEP, LAST, DROPPED, id="another object"),
        pytest.param("self.forward_before()", STEP, LAST, DROPPED, id="the runner itself"),
        pytest.param("self.loads.forward_before()", STEP, DROPPED, DROPPED, id="omni has it"),
        pytest.param(
            "self.loads.forward_before()", STEP, f"{LAST}        self.loads.note()\n", DROPPED, id="another use in last"
        ),
        pytest.param(
            "self.loads.forward_before()", f"{STEP}        self.loads.note()\n", LAST, DROPPED, id="another use in step"
        ),
        pytest.param("self.loads.forward_before()", STEP, LAST, LAST, id="upstream dropped it, too"),
        pytest.param("self.loads.refresh()", STEP, LAST, DROPPED, id="a call with another name"),
        pytest.param(
            "self.loads.forward_before()", STEP, f"{LAST}        super().last()\n", DROPPED, id="the parent makes it"
        ),
    ],
)
def test_a_dropped_call_is_no_end_of_what_came(
    came: str, before: str, last: str, upstream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked_of_dropped(monkeypatch, came=came, before=before, last=last, upstream=upstream) == []
