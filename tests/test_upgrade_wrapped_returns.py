"""A method that the GPU runner newly hands a return to, and NPU's returns of another value at that place."""

from __future__ import annotations

import pytest
from sync_samples import ASCEND

from runner_sync.merge import Reason
from runner_sync.model import Triple
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.merging.wrapped_returns import (
    find_newly_wrapped,
    remove_wrapping_changes,
    wrap_returns,
)
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.revision import ModuleRevision

WAS = """    def take(self, kv):
        if self.state is None:
            self.receive()
            return Output.of(kv)
        return self.rows(kv)
"""
NOW = WAS.replace("Output.of(kv)", "self.attach(Output.of(kv))")
MINE = """    def take(self, kv):
        if self.state is None:
            if not kv:
                return None
            if kv.is_empty():
                return EMPTY

            output = copy(EMPTY)
            output.kv = kv
            return output
        return self.rows(kv)
"""


def ported(
    npu: str = MINE, was: str = WAS, now: str = NOW, *, refused: str = "…", foreign: str = "", pinned: str = ""
) -> Draft:
    """The draft after its returns were handed over; a second time nothing is left to do."""

    def veto(canon: str) -> Reason | None:
        return Reason("uses refused code", (refused,)) if refused in canon else None

    sides = Triple(was, npu, now)
    stays = {line.strip() for line in pinned.split("\n")}
    found = find_newly_wrapped(sides, veto, {foreign}, stays)
    assert remove_wrapping_changes(sides, found) in (
        (Triple(now, npu, now), Triple(was, npu, was)) if found else (sides,)
    )
    job = ModuleJob(NPU, NPU.modules[0], "r.py", npu, Upstream(new=ModuleRevision("1", "", ASCEND)))
    draft = wrap_returns(Draft("R.take", (Stage(npu),)), job, found)
    assert find_newly_wrapped(Triple(was, draft.text, now), veto, {foreign}, stays) == [] or not found
    return draft


def test_each_return_below_the_condition_is_handed_over_with_one_question() -> None:
    draft = ported()
    (asked,) = draft.reviews
    assert draft.text == MINE.replace("return EMPTY", "return self.attach(EMPTY)").replace(
        "return output", "return self.attach(output)"
    )
    assert (asked.line, asked.base, asked.omni) == (6, "return Output.of(kv)", "return EMPTY\nreturn output")
    assert asked.upstream == "return self.attach(Output.of(kv))"
    assert asked.chosen == "return self.attach(EMPTY)\nreturn self.attach(output)"
    assert asked.from_gpu
    assert asked.reason.startswith("the GPU runner now passes what it returns here through self.attach; NPU's return")


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(MINE.replace("self.state is None", "self.state.done"), WAS, NOW, id="another condition"),
        pytest.param(
            MINE.replace("            return output\n", "            self.note(output)\n"), WAS, NOW, id="none"
        ),
        pytest.param(MINE.replace("return output", "return self.last(output)"), WAS, NOW, id="it hands over already"),
        pytest.param(MINE.replace("return output", "return Output.of(kv)"), WAS, NOW, id="the merge does it"),
        pytest.param(
            MINE + "        if self.state is None:\n            return output\n", WAS, NOW, id="the condition twice"
        ),
        pytest.param(
            MINE,
            *(
                text.replace(
                    "            self.receive()\n", "            if not kv:\n                return EMPTY_KV\n"
                )
                for text in (WAS, NOW)
            ),
            id="the twin returns something else there, too",
        ),
        pytest.param(MINE, WAS, WAS.replace("Output.of(kv)", "self.attach(kv)"), id="it hands over something else"),
        pytest.param(MINE, WAS, NOW.replace("of(kv))", "of(kv), kv)"), id="more than the value"),
        pytest.param(MINE, WAS, NOW.replace("self.attach", "attach"), id="no method"),
        pytest.param(MINE, NOW, NOW, id="it did before"),
        pytest.param(
            MINE.replace("self.rows(kv)", "output"),
            WAS.replace("Output.of(kv)", "self.attach(Output.of(kv))"),
            NOW.replace("self.rows(kv)", "self.attach(self.rows(kv))"),
            id="under no condition",
        ),
    ],
)
def test_what_stays_as_it_is(npu: str, was: str, now: str) -> None:
    draft = ported(npu, was, now)
    assert (draft.text, draft.reviews) == (npu, ())


def test_neither_what_npu_must_not_use_nor_vllms_own_change_comes() -> None:
    assert ported(refused="self.attach").text == MINE
    assert ported(foreign="return self.attach(Output.of(kv))").text == MINE


def test_what_stands_in_another_branch_of_the_condition_stays() -> None:
    """Neither the branch nor a function below the condition is under it."""
    other = "        else:\n            return self.other(kv)\n        return"
    npu = MINE.replace("        return self.rows", f"{other} self.rows")
    npu = npu.replace(
        "            if not kv:", "            def late():\n                return kv\n\n            if not kv:"
    )
    draft = ported(npu)
    assert draft.text.count("self.attach(") == 2
    assert "return self.other(kv)" in draft.text


@pytest.mark.parametrize(("condition", "count"), [("self.off", 1), ("self.last", 0)])
def test_a_branch_is_the_same_only_after_the_same_conditions(condition: str, count: int) -> None:
    was = WAS.replace("if self.state is None:", "if self.off:\n            self.stop()\n        else:")
    npu = MINE.replace("if self.state is None:", f"if {condition}:\n            self.stop()\n        else:")
    draft = ported(npu, was, was.replace("Output.of(kv)", "self.attach(Output.of(kv))"))
    assert len(draft.reviews) == count


OTHER = WAS.replace("Output.of(kv)", "self.attach(Output.of(kv, self.more))")
BUILT = MINE.replace("            if not kv:\n                return None\n", "            self.receive()\n")
KEPT = "output = copy(EMPTY)\noutput.kv = kv"


@pytest.mark.parametrize(
    ("was", "npu", "pinned"),
    [
        pytest.param(WAS, MINE, "", id="npu returns something else"),
        pytest.param(BUILT, BUILT, KEPT, id="what sets npu's value stays"),
    ],
)
def test_npus_value_is_handed_over_where_the_twins_changed_as_well(was: str, npu: str, pinned: str) -> None:
    """Half of it came: the twin's value in the place of `output`, below the statements that had set that."""
    draft = ported_other(npu, was, pinned)
    (asked,) = draft.reviews
    assert draft.text == npu.replace("return EMPTY", "return self.attach(EMPTY)").replace(
        "return output", "return self.attach(output)"
    )
    assert asked.upstream == "return self.attach(Output.of(kv, self.more))"
    assert "the GPU runner also returns another value now" in asked.reason


def ported_other(npu: str, was: str, pinned: str) -> Draft:
    """The draft after its returns were handed over, where the twin has another value; the merge has nothing to do."""
    sides = Triple(was, npu, OTHER)
    found = find_newly_wrapped(sides, lambda _canon: None, (), pinned.split("\n"))
    assert "attach" not in remove_wrapping_changes(sides, found).upstream
    job = ModuleJob(NPU, NPU.modules[0], "r.py", npu, Upstream(new=ModuleRevision("1", "", ASCEND)))
    return wrap_returns(Draft("R.take", (Stage(npu),)), job, found)


@pytest.mark.parametrize(
    ("was", "now", "pinned"),
    [
        pytest.param(BUILT, OTHER, "", id="what sets the value goes with it"),
        pytest.param(BUILT, OTHER, "self.receive()", id="what stays sets something else"),
        pytest.param(BUILT, BUILT.replace("return output", "return self.attach(kv)"), KEPT, id="what it is made of"),
        pytest.param(BUILT.replace("return EMPTY", "return self.last(EMPTY)"), OTHER, KEPT, id="one was handed over"),
        pytest.param(BUILT, OTHER.replace("self.attach(", "("), KEPT, id="no method"),
    ],
)
def test_the_merge_brings_the_whole_return(was: str, now: str, pinned: str) -> None:
    assert find_newly_wrapped(Triple(was, BUILT, now), lambda _canon: None, (), pinned.split("\n")) == []


def test_a_condition_that_repeats_the_one_around_it_is_no_other_place() -> None:
    was = "def take(self, kv):\n    if kv:\n        if kv:\n            return b(kv)\n    return kv\n"
    now, npu = (
        was.replace("b(kv)", "self.attach(b(kv, 2))"),
        was.replace("return b(kv)", "out = c()\n            return out"),
    )
    (one,) = find_newly_wrapped(Triple(was, npu, now), lambda _canon: None, (), ())
    assert one.method == "attach"
