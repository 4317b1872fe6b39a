"""One question about upstream's new returns that go through omni's method, in the place of all others."""

from __future__ import annotations

from textwrap import indent

import pytest
from sync_samples import ASCEND

from runner_sync.model import ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.questions.defects import ask_about_returns
from runner_sync.upgrade.questions.reviews import Shown, make_review
from runner_sync.upgrade.returning import hand_over
from runner_sync.upgrade.revision import ModuleRevision

BEFORE = """    def run(self, rows):
        if rows is None:
            if not self.group:
                return self.attach(EMPTY)
            return self.attach(self.wait(rows))
        self.step(rows)
"""
LEFT = """        if not rows.left:
            if not self.group:
                return EMPTY
            return self.wait(rows)
"""
STEP = "        self.step(rows)\n"
NOW = BEFORE.replace(STEP, LEFT + STEP)
UPSTREAM = NOW.replace("self.attach(EMPTY)", "EMPTY").replace("self.attach(self.wait(rows))", "self.wait(rows)")
CHOSEN = "if not self.group:\n    return self.attach(EMPTY)\nreturn self.attach(self.wait(rows))"


def job(upstream: str = "class NPUModelRunner: ...\n") -> ModuleJob:
    new = ModuleRevision("0.2", upstream, ASCEND)
    return ModuleJob(NPU, NPU.modules[0], "runner.py", BEFORE, Upstream(new=new))


def handed(now: str = NOW, *asked: ReviewItem, upstream: str = UPSTREAM, chosen: bool = True) -> Draft:
    stages = (Stage(BEFORE), Stage(now, "upstream"))
    draft = Draft("R.run", stages, "copy", "updated", upstream=upstream, reviews=asked, chosen=chosen)
    (draft,) = hand_over([draft], job())
    assert hand_over([draft], job()) == [draft]
    assert ask_about_returns(draft, job()).reviews == draft.reviews or not chosen or now != NOW
    return draft


def item(chosen: str, line: int, *, from_gpu: bool = False) -> ReviewItem:
    draft = Draft("R.run", (Stage(BEFORE), Stage(NOW, "upstream")))
    return make_review(
        draft, "r.py", reason="why", confidence=0.5, shown=Shown(chosen=chosen), line=line, from_gpu=from_gpu
    )


def test_returns_beside_each_other_are_one_question_with_the_condition_of_the_first() -> None:
    draft = handed()
    (asked,) = draft.reviews
    assert draft.text.count("self.attach(") == 4
    assert asked.chosen == CHOSEN
    assert asked.upstream == CHOSEN.replace("self.attach(EMPTY)", "EMPTY").replace(
        "self.attach(self.wait(rows))", "self.wait(rows)"
    )
    assert (asked.line, asked.end_line) == (7, 9)
    assert (
        asked.reason
        == "upstream added these returns; here they go through self.attach, like all other returns of the same value"
    )


@pytest.mark.parametrize(
    ("asked", "stays"),
    [
        pytest.param(item("return EMPTY", 8), False, id="the merge's about one"),
        pytest.param(item("return EMPTY", 8, from_gpu=True), False, id="the port's about one"),
        pytest.param(item("if not self.group:\n    return EMPTY\nreturn self.wait(rows)", 7), False, id="about both"),
        pytest.param(item("self.step(rows)", 10), True, id="about what stands beside them"),
        pytest.param(item("return self.wait(rows)\nself.step(rows)", 9), True, id="about more than these"),
        pytest.param(item("return EMPTY", 2), True, id="about another place"),
        pytest.param(item("", 8), True, id="about something left out there"),
    ],
)
def test_other_questions_about_nothing_but_these_returns_are_settled(asked: ReviewItem, stays: bool) -> None:
    reasons = [one.reason for one in handed(NOW, asked).reviews]
    assert ("why" in reasons) == stays
    assert len(reasons) == 1 + stays


def test_returns_apart_from_each_other_are_asked_about_where_they_stand() -> None:
    apart = NOW.replace(
        "            return self.wait(rows)\n", "            self.note(rows)\n            return self.wait(rows)\n"
    )
    assert [(one.line, one.chosen) for one in handed(apart).reviews] == [
        (8, "return self.attach(EMPTY)"),
        (10, "return self.attach(self.wait(rows))"),
    ]


@pytest.mark.parametrize(
    ("upstream", "chosen"),
    [
        pytest.param(UPSTREAM, False, id="it was not selected"),
        pytest.param("", True, id="no copy"),
        pytest.param(UPSTREAM.replace("EMPTY", "NOTHING").replace("wait", "last"), True, id="upstream returns others"),
    ],
)
def test_what_stays_as_it_is(upstream: str, chosen: bool) -> None:
    draft = handed(upstream=upstream, chosen=chosen) if not chosen else None
    if draft is None:
        before = Draft("R.run", (Stage(BEFORE), Stage(NOW, "upstream")), "copy", upstream=upstream, chosen=True)
        (draft,) = hand_over([before], job())
    assert (draft.text, draft.reviews) == (NOW, ())


EMPTIED = """            ids = self.ids
            self.ids = None
            output = EMPTY
            output.ids = ids
            return self.attach(output)
"""
RESET = "            self.ids = None\n"
MAYBE_EMPTIED = EMPTIED.replace(RESET, f"            if rows.done:\n    {RESET}")
IN_BRANCH = f"            if rows.done:\n{indent(EMPTIED, '    ')}            self.note()\n{EMPTIED}"
PLAIN = "            return self.attach(EMPTY)\n"


@pytest.mark.parametrize(
    ("others", "named"),
    [
        pytest.param((EMPTIED, EMPTIED), ", such as `self.ids = None`", id="each other return"),
        pytest.param((EMPTIED, EMPTIED.replace("self.ids = None", "self.note()")), "", id="one other return does not"),
        pytest.param((EMPTIED, EMPTIED.replace("= None", "= rows")), "", id="one sets it to what is at hand"),
        pytest.param((MAYBE_EMPTIED, MAYBE_EMPTIED), "", id="only under a condition"),
        pytest.param((IN_BRANCH, IN_BRANCH), ", such as `self.ids = None`", id="under the condition of the return"),
    ],
)
def test_an_attribute_that_omni_resets_before_each_other_return_is_named(others: tuple[str, str], named: str) -> None:
    """``kv_extracted_req_ids`` of omni 0.23.0rc1 was lost at vllm-ascend's new return."""
    first, second = others
    before = f"    def run(self, rows):\n        if rows is None:\n{first}        if rows.wait:\n{second}{STEP}"
    new = "        if not rows.left:\n            return EMPTY\n"
    upstream = before.replace(first, PLAIN).replace(second, PLAIN).replace("self.attach(EMPTY)", "EMPTY")
    stages = (Stage(before), Stage(before.replace(STEP, new + STEP), "upstream"))
    draft = Draft("R.run", stages, "copy", "updated", upstream=upstream.replace(STEP, new + STEP), chosen=True)
    (left,) = hand_over([draft], job())
    (asked,) = left.reviews
    assert asked.reason.partition("; what omni does before the others was not added here")[2] == named
