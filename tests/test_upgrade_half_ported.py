"""Halves of a feature: which locals of the GPU twin a port brought without what reads them."""

from __future__ import annotations

import pytest

from runner_sync.merge import Reason
from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.merging.half_ported import find_half_ported, find_unread_parameters

OLD = "def run(self, rows):\n    self.note(rows)\n    return self.finish(rows)\n"
NEW = (
    "def run(self, rows):\n    plan = self.plan_of(rows)\n    if plan.is_long:\n        self.note(rows)\n"
    "    self.reserve(rows, plan)\n    return self.finish(rows)\n"
)
HALF = NEW.replace("    self.reserve(rows, plan)\n", "")
INLINE = OLD.replace("self.note(rows)", "self.note(self.plan_of(rows))")


OWN_PLAN = OLD.replace("    self.note", "    plan = self.own_plan(rows)\n    self.keep(plan)\n    self.note")
OWN_PLAN_AND_HALF = OWN_PLAN.replace("    self.note(rows)", "    if plan.is_long:\n        self.note(rows)")
REFUSED = NEW.replace(
    "    self.reserve(rows, plan)\n", "    if plan and self.mixin_has(rows):\n        self.reserve(rows, plan)\n"
)


def _allow(_canon: str) -> None:
    """Refuse nothing."""


@pytest.mark.parametrize(
    ("mine", "result", "foreign", "found"),
    [
        pytest.param(OLD, HALF, "", {"plan"}, id="a reader is missing"),
        pytest.param(OLD, NEW, "", set(), id="all of it came"),
        pytest.param(OLD, OLD, "", set(), id="nothing of it came"),
        pytest.param(OLD, NEW.replace("rows, plan", "own, plan"), "", set(), id="a reader in words of NPU's"),
        pytest.param(OLD, HALF, "self.reserve(rows, plan)", set(), id="the reader is a third party's"),
        pytest.param(INLINE, HALF, "", set(), id="NPU has the value in place"),
        pytest.param(HALF, HALF, "", set(), id="NPU knows the name"),
        pytest.param(OWN_PLAN, OWN_PLAN_AND_HALF, "", {"plan"}, id="NPU has a local of that name, and one reader came"),
        pytest.param(OWN_PLAN, OWN_PLAN, "", set(), id="NPU has a local of that name, and no reader came"),
    ],
)
def test_half_ported(mine: str, result: str, foreign: str, found: set[str]) -> None:
    assert find_half_ported(Triple(OLD, mine, NEW), result, {foreign}, _allow) == found


IDLE = NEW.replace(
    "    self.reserve(rows, plan)\n",
    "    if self.needs_a_view_of(rows, plan):\n        # A view.\n        view = rows.on_host()\n",
)
IDLE_GONE = IDLE.replace(
    "    if self.needs_a_view_of(rows, plan):\n        # A view.\n        view = rows.on_host()\n", ""
)


@pytest.mark.parametrize(
    ("new", "result", "found"),
    [
        pytest.param(IDLE, IDLE_GONE, set(), id="its condition only sets what nothing reads here"),
        pytest.param(IDLE, IDLE_GONE.replace("finish(rows)", "finish(view)"), {"plan"}, id="NPU reads that"),
        pytest.param(IDLE.replace("view =", "self.view ="), IDLE_GONE, {"plan"}, id="it sets an attribute"),
        pytest.param(IDLE.replace("view = rows", "rows"), IDLE_GONE, {"plan"}, id="it calls something"),
        pytest.param(
            IDLE, OLD.replace("rows):\n", "rows):\n    plan = self.plan_of(rows)\n", 1), {"plan"}, id="no reader came"
        ),
    ],
)
def test_a_condition_without_an_effect_here_is_no_half(new: str, result: str, found: set[str]) -> None:
    """`execute_model` of 0.30.0 takes a view of the hidden states that the NPU runner has no use for."""
    assert find_half_ported(Triple(OLD, OLD, new), result, (), _allow) == found


OPENED_OLD = "def run(self, rows):\n    with graph(rows), self.sending(rows) as sent:\n        self.note(sent)\n"
OPENED_NEW = (
    "def run(self, rows):\n    late = self.is_late\n    with graph(rows), self.sending(rows, late=late) as sent:\n"
    "        self.note(sent)\n"
)
OWN_WITH = (
    "with named('forward of this runner'), npu_graph(self.model, padded, actual=total, skip=is_encoder), self.{item}:"
)


@pytest.mark.parametrize(
    ("item", "found"),
    [
        pytest.param("sending(rows, late=late) as sent", set(), id="in a with that opens the same"),
        pytest.param("sending(rows) as sent", {"late"}, id="in a with that does not read it"),
        pytest.param("timed(rows, late=late) as spent", {"late"}, id="in a with that opens another"),
        pytest.param("timed(rows, late=late)", {"late"}, id="in a with that opens nothing"),
    ],
)
def test_a_with_that_opens_the_same_reads_it_as_the_twins_does(item: str, found: set[str]) -> None:
    theirs = "with graph(rows), self.sending(rows, late=late) as sent:"
    result = OPENED_NEW.replace(theirs, OWN_WITH.format(item=item))
    assert find_half_ported(Triple(OPENED_OLD, OPENED_OLD, OPENED_NEW), result, (), _allow) == found


def _without_mixin(canon: str) -> Reason | None:
    return Reason("needs an absent member", ("mixin_has",)) if "mixin_has" in canon else None


@pytest.mark.parametrize(
    ("result", "found"),
    [
        pytest.param(HALF, set(), id="what the local is for is here"),
        pytest.param(
            OLD.replace("    self.note", "    plan = self.plan_of(rows)\n    self.note"), {"plan"}, id="nothing is"
        ),
    ],
)
def test_a_suite_that_is_refused_is_a_feature_of_its_own(result: str, found: set[str]) -> None:
    """`sample_tokens` of vllm-omni 0.24.0 hands `inter_stage_outputs` on, and a mixin that NPU lacks counts it, too."""
    assert find_half_ported(Triple(OLD, OLD, REFUSED), result, (), _without_mixin) == found
    assert find_half_ported(Triple(OLD, OLD, REFUSED), HALF, (), _allow) == {"plan"}


EACH = "def run(self, rows):\n    for row in rows:\n        self.note(row)\n    return self.finish(rows)\n"
COUNTED = """\
def run(self, rows):
    fresh = 0
    for row in rows:
        if row in self.entries:
            fresh += 1
        self.note(row)
    self.log(fresh)
    return self.finish(rows)
"""
UNCOUNTED = COUNTED.replace("        if row in self.entries:\n            fresh += 1\n", "")
NAMED = COUNTED.replace("fresh += 1", "fresh = row.name").replace("fresh = 0", "fresh = None")
LISTED = COUNTED.replace("fresh += 1", "fresh.append(row)").replace("fresh = 0", "fresh = []")
COMPUTED = COUNTED.replace("fresh = 0", "fresh = self.count(rows)")


@pytest.mark.parametrize(
    ("new", "result", "foreign", "found"),
    [
        pytest.param(COUNTED, UNCOUNTED, "", {"fresh"}, id="nothing counts any more"),
        pytest.param(NAMED, UNCOUNTED.replace("= 0", "= None"), "", {"fresh"}, id="nothing sets it any more"),
        pytest.param(LISTED, UNCOUNTED.replace("= 0", "= []"), "", {"fresh"}, id="nothing fills it any more"),
        pytest.param(COUNTED, COUNTED, "", set(), id="all of it came"),
        pytest.param(
            COUNTED, COUNTED.replace("row in self.entries", "self.has(row)"), "", set(), id="under NPU's condition"
        ),
        pytest.param(
            COUNTED, COUNTED.replace("fresh += 1", "fresh = fresh + 1"), "", set(), id="it is counted in other words"
        ),
        pytest.param(COUNTED, UNCOUNTED, "fresh += 1", set(), id="a third party counts"),
        pytest.param(COMPUTED, UNCOUNTED.replace("= 0", "= self.count(rows)"), "", set(), id="it is no constant"),
        pytest.param(COUNTED, EACH, "", set(), id="nothing of it came"),
    ],
)
def test_a_local_that_nothing_changes_any_more_is_half_of_a_feature(
    new: str, result: str, foreign: str, found: set[str]
) -> None:
    assert find_half_ported(Triple(EACH, EACH, new), result, {foreign}, _allow) == found


STORE = """\
def run(self, rows{parameter}):
{setting}    self.note(rows)
    self.store(rows{value})
"""
SETTING = "    if keep is None:\n        # all of them\n        keep = len(rows) > 0\n"
KEEPING = STORE.format(parameter=", keep=False", setting="", value=", keep")
KEEPING_NOW = STORE.format(parameter=", keep=None", setting=SETTING, value=", keep")
GIVEN_UP = STORE.format(parameter="", setting="", value=", len(rows) > 0")
BACK = STORE.format(parameter=", keep=None", setting=SETTING, value=", len(rows) > 0")


@pytest.mark.parametrize(
    ("mine", "now", "result", "found"),
    [
        pytest.param(GIVEN_UP, KEEPING_NOW, BACK, {"keep"}, id="nothing reads what it is set to"),
        pytest.param(GIVEN_UP, KEEPING_NOW, KEEPING_NOW, set(), id="what reads it came, too"),
        pytest.param(GIVEN_UP, KEEPING_NOW, BACK.replace("note(", "note(keep, "), set(), id="something else reads it"),
        pytest.param(
            GIVEN_UP,
            KEEPING_NOW,
            BACK.replace("keep = len(rows) > 0", "keep = self.count()\n        self.note()"),
            set(),
            id="what is under its test does more",
        ),
        pytest.param(KEEPING, KEEPING_NOW, BACK, set(), id="NPU has it"),
        pytest.param(GIVEN_UP, BACK, BACK, set(), id="the twin does not read it either"),
        pytest.param(
            GIVEN_UP,
            KEEPING_NOW.replace("keep=None", "keep=None, limit=0"),
            BACK.replace("keep=None", "keep=None, limit=0"),
            set(),
            id="the twin's head has more news",
        ),
        pytest.param(GIVEN_UP, KEEPING_NOW, GIVEN_UP, set(), id="it did not come"),
    ],
)
def test_parameters_that_came_back_for_nothing(mine: str, now: str, result: str, found: set[str]) -> None:
    assert find_unread_parameters(Triple(KEEPING, mine, now), result) == found


def test_what_is_no_method_has_no_parameters() -> None:
    assert find_unread_parameters(Triple("keep = 1\n", "keep = 2\n", "keep = 3\n"), "keep = 2\n") == set()
