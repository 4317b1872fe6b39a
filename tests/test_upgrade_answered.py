"""Whether another call takes what it is given now, where the texts at hand tell."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, Decision, Reason, merge
from runner_sync.model import Triple
from runner_sync.upgrade.questions.answered import drop_answered, drop_conditions_in_helpers, drop_tests_of_twin

TAKES = {"OwnOutput": frozenset({"rows", "ids", "payload", "stats"}), "Closed": frozenset({"rows", "ids"})}


@pytest.mark.parametrize(
    ("own", "more", "is_left"),
    [
        pytest.param("OwnOutput(rows=rows, payload=payload, ids=ids", "stats=stats", False, id="fields of a base"),
        pytest.param(
            "dict(rows=rows, payload=payload, ids=ids", "stats=stats", False, id="a call that takes everything"
        ),
        pytest.param("Closed(rows=rows, ids=ids", "stats=stats", False, id="a field that is set on the record"),
        pytest.param("self.send(Closed(rows=rows, ids=ids", "stats=stats", True, id="a record without the field"),
        pytest.param("Unknown(rows=rows, ids=ids", "stats=stats", True, id="a class that no text shows"),
        pytest.param("OwnOutput(rows=rows, payload=payload, ids=ids", "**more", True, id="keywords that nothing shows"),
        pytest.param("OwnOutput(rows, ids=ids", "stats=stats", True, id="a value by position"),
        pytest.param("self.own(rows=rows, ids=ids", "stats=stats", True, id="a method"),
    ],
)
def test_a_call_that_takes_what_it_is_given_is_no_question(own: str, more: str, is_left: bool) -> None:
    """`num_nans_in_logits=` of vllm-ascend 0.29.0rc1, a field of the base of `OmniModelRunnerOutput`."""
    given = f"{'rows=rows' if 'rows=rows' in own else 'rows'}, ids=ids"
    head, bracket = ("self.send(", "))") if own.startswith("self.send") else ("made = ", ")")
    calls = (f"Output({given}", own.removeprefix("self.send("), f"Output({given}, {more}")
    base, omni, upstream = (f"def run(self, rows):\n    {head}{call}{bracket}\n    return rows\n" for call in calls)
    asked = merge(Triple(base, omni, upstream)).decisions
    assert [item.reason.kind for item in asked] == ["arguments of another call"]
    assert [*drop_answered(asked, TAKES)] == ([*asked] if is_left else [])


def test_another_question_about_such_a_call_is_left() -> None:
    base, omni, upstream = (f"made = OwnOutput(rows={value})\n" for value in ("1", "2", "3"))
    asked = merge(Triple(base, omni, upstream)).decisions
    assert [*drop_answered(asked, TAKES)] == [*asked] != []


RUN = "def run(self, rows):\n    self.start()\n    self.stop()\n"
PLANNED = RUN.replace("    self.stop", "    if self.has_pool():\n        plan = rows.plan\n{}    self.stop")
TESTED = PLANNED.format("        if plan is not None:\n            self.handle(plan)\n")
ASSERTED = PLANNED.format("        assert plan is not None\n        self.handle(plan)\n")


@pytest.mark.parametrize(
    ("twin", "upstream", "is_left"),
    [
        pytest.param(TESTED, ASSERTED, False, id="the twin has omni's form"),
        pytest.param(TESTED.replace("    self.stop", "    self.end()\n    self.stop"), ASSERTED, False, id="and more"),
        pytest.param(ASSERTED, ASSERTED, True, id="the twin has upstream's form"),
        pytest.param(TESTED.replace("is not None", "is None"), ASSERTED, True, id="the twin has another test"),
        pytest.param(TESTED.replace("handle", "drop"), ASSERTED, True, id="the twin does something else"),
        pytest.param("", ASSERTED, True, id="no twin"),
        pytest.param(TESTED, PLANNED.format("        self.handle(plan)\n"), True, id="upstream asserts nothing"),
    ],
)
def test_a_test_of_omni_that_the_twin_shares_is_no_question(twin: str, upstream: str, is_left: bool) -> None:
    """`handle_preemptions` in `execute_model`: omni 0.24.0 tests the metadata, vllm-ascend 0.27.1rc1 asserts them."""
    asked = merge(Triple(RUN, TESTED, upstream)).decisions
    assert [item.reason.kind for item in asked] == ["both added under other conditions"]
    assert drop_tests_of_twin(asked, twin) == ([*asked] if is_left else [])


def test_a_decision_on_a_head_alone_is_left() -> None:
    item = Decision(1, 1, Reason("both added under other conditions", ("if plan",)), 0.5, "", "", "if plan:", "")
    assert drop_tests_of_twin([item], TESTED) == [item]


TWIN = """def run(self, force, mode):
    with self.sync():
        if force or mode == FULL:
            self.lens[:rows] = mode
            meta = self.build(mode, rows)
    return self.send(mode)
"""
NPU_RUN = """def run(self, force, mode):
    meta = None
    if self._should_build(force, mode=mode):
        self.state = DECODE
        self.lens[:rows] = mode
        meta = self.build(mode, num=rows)
    with self.lora():
        return self.send(mode)
"""
SHOULD_BUILD = """    def _should_build(self, always, mode=None):
        \"\"\"Whether to build.\"\"\"
        # A comment.
        return always or mode == FULL
"""


@pytest.mark.parametrize(
    ("npu", "helper", "is_left"),
    [
        pytest.param(NPU_RUN, SHOULD_BUILD, False, id="the helper returns the condition"),
        pytest.param(NPU_RUN, SHOULD_BUILD.replace(" or ", " and "), True, id="the helper returns another one"),
        pytest.param(NPU_RUN, SHOULD_BUILD.replace("return", "self.log()\n        return"), True, id="it does more"),
        pytest.param(NPU_RUN.replace("mode=mode", "mode=rows"), SHOULD_BUILD, True, id="it is given another value"),
        pytest.param(NPU_RUN.replace("if self", "if not self"), SHOULD_BUILD, True, id="it is negated"),
        pytest.param(NPU_RUN, f"    @cached\n{SHOULD_BUILD}", True, id="a decorator may change what it returns"),
        pytest.param(NPU_RUN, "", True, id="no text shows the helper"),
    ],
)
def test_a_condition_that_omni_has_in_a_helper_is_not_lost(npu: str, helper: str, is_left: bool) -> None:
    """``_should_build_dummy_attn_metadata`` of vllm-ascend 0.24.0rc1, in the `_dummy_run` of vllm-omni 0.23.0rc1."""
    news = TWIN.replace("rows)\n    return", "rows)\n            self.extend(meta)\n    return")
    merged = merge(Triple(TWIN, npu, news), policy=PORT)
    assert [item.reason.kind for item in merged.decisions] == ["outside of its condition"]
    left = drop_conditions_in_helpers(merged.decisions, merged.text, {"_should_build": helper})
    assert left == ([*merged.decisions] if is_left else [])
