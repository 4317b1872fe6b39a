"""What omni's own methods pass on after the methods that they call have grown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.confidence import CONTESTED
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Hierarchy, Inherited, ModuleJob
from runner_sync.upgrade.mending import drop_unset_arguments, name_shifted_arguments, pass_required_parameters
from runner_sync.upgrade.questions.reviews import Shown, make_review

BEFORE = "    def forward(self, ids):\n        return ids\n"
NOW = "    def forward(self, padded, ids):\n        return ids[:padded]\n"
HELPER = "    def help(self, *, ids):\n        return self.forward(ids=ids)\n"
CALLER = "    def run(self, padded, ids):\n        return self.help(ids=ids)\n"


def after(*methods: str, members: dict[str, str | None] | None = None) -> tuple[list[str], list[str]]:
    """The methods of a class, and what is asked, after ``forward`` of its base got ``padded``."""
    given = [Draft(f"R.{text.split('(')[0].split()[-1]}", (Stage(text),), chosen=True) for text in methods]
    inherited = Inherited({"forward": NOW, **(members or {})}, before={"forward": BEFORE})
    job = ModuleJob(NPU, NPU.modules[1], "runner.py", "", hierarchy=Hierarchy(inherited={"R": inherited}))
    drafts = pass_required_parameters(given, job)
    assert all(bool(draft.reviews) is (draft.text != draft.before) for draft in drafts)
    return [draft.text for draft in drafts], [item.reason for draft in drafts for item in draft.reviews]


def test_a_helper_takes_it_from_its_callers_and_passes_it_on() -> None:
    texts, reasons = after(HELPER, CALLER)
    assert texts == [
        "    def help(self, *, padded, ids):\n        return self.forward(padded=padded, ids=ids)\n",
        "    def run(self, padded, ids):\n        return self.help(padded=padded, ids=ids)\n",
    ]
    assert reasons == [
        "forward requires padded since this upgrade, so this call passes it on",
        "help requires padded since this upgrade, so this call passes it on",
    ]


@pytest.mark.parametrize(
    ("owner", "omni", "upstream"),
    [
        pytest.param("omni", "return self.forward(ids=ids)", "", id="a call of omni's"),
        pytest.param("upstream", "", "return self.forward(ids=ids)", id="a call that came from upstream"),
        pytest.param("a merge", "", "", id="a call that neither has like this"),
    ],
)
def test_a_change_of_the_tools_own_is_quoted_as_no_sides(owner: str, omni: str, upstream: str) -> None:
    """Of 0.14.0 on 0.18.0, `kwargs = dict(num_tokens_padded=…)` stood under "upstream", which has no such line."""
    text = "    def run(self, padded, ids):\n        return self.forward(\n            ids=ids\n        )\n"
    said = "    def run(self, padded, ids):\n        return self.forward(ids=ids)\n"
    empty = "    def run(self, padded, ids):\n        return ids\n"
    made = {"omni": text, "upstream": empty, "a merge": empty}[owner]
    draft = Draft("R.run", (Stage(made), Stage(text, "upstream")), chosen=True)
    inherited = Inherited({"forward": NOW}, before={"forward": BEFORE})
    job = ModuleJob(NPU, NPU.modules[1], "runner.py", "", hierarchy=Hierarchy(inherited={"R": inherited}))
    (mended,) = pass_required_parameters([replace(draft, upstream=said if owner == "upstream" else empty)], job)
    (item,) = mended.reviews
    assert ["".join(side.split()) for side in (item.omni, item.upstream)] == [
        "".join(side.split()) for side in (omni, upstream)
    ]
    assert "padded=padded" in item.chosen


@pytest.mark.parametrize(
    ("methods", "members"),
    [
        pytest.param((HELPER, CALLER.replace("padded, ", "")), None, id="a caller that does not have it"),
        pytest.param((HELPER,), None, id="no caller at hand"),
        pytest.param((HELPER, CALLER), {"help": None}, id="a helper that a base class has, too"),
        pytest.param((HELPER.replace("(ids=ids)", "(1, ids)"), CALLER), None, id="nothing missing"),
    ],
)
def test_what_cannot_be_passed_on_is_left_to_verify(
    methods: tuple[str, ...], members: dict[str, str | None] | None
) -> None:
    assert after(*methods, members=members) == ([*methods], [])


OMNI = "    def run(self, rows):\n        return self.pack(rows)\n"
UPSTREAM = "    def run(self, rows):\n        sums = self.sums()\n        return self.pack(rows, sums=sums, ids=1)\n"
MERGED = "return self.pack(rows, sums=sums, ids=1)"
LEFT = "left out: sums=, because nothing here sets sums"


@pytest.mark.parametrize(
    ("chosen", "reason", "now"),
    [
        pytest.param(MERGED, f"{LEFT}; both changed it", ["return self.pack(rows, ids=1)"], id="asked about already"),
        pytest.param("return rows", "both changed it", ["return rows", ""], id="another statement"),
    ],
)
def test_what_goes_out_of_a_statement_is_said_where_that_is_asked_about(
    chosen: str, reason: str, now: list[str]
) -> None:
    """``**({"num_nans": …})`` of vllm-ascend 0.28.0rc1 was taken in one question and left out in another."""
    draft = Draft(
        "R.run", (Stage(OMNI), Stage(OMNI.replace("return self.pack(rows)", MERGED), "upstream")), chosen=True
    )
    shown = Shown(omni="return self.pack(rows)", chosen=chosen)
    draft = replace(draft, upstream=UPSTREAM).with_questions(
        make_review(draft, "r.py", reason="both changed it", confidence=CONTESTED, shown=shown, line=2)
    )
    (left,) = drop_unset_arguments([draft], ModuleJob(NPU, NPU.modules[1], "r.py", ""))
    assert left.text == OMNI.replace("(rows)", "(rows, ids=1)")
    assert [item.chosen for item in left.reviews] == now
    assert [item.reason for item in left.reviews] == [reason, LEFT][: len(now)]


@pytest.mark.parametrize(
    ("omni", "reason"),
    [
        pytest.param("return self.pack(rows)", LEFT, id="omni's stands as it was"),
        pytest.param("return self.pack(rows, 2)", f"{LEFT}; both changed it", id="something of it is left"),
    ],
)
def test_a_change_that_went_as_a_whole_is_not_said_to_have_been_made(omni: str, reason: str) -> None:
    """``**({"routed_experts": …})`` of vllm-ascend 0.20.2rc1, of which a question said that it was made."""
    merged = MERGED.replace(", ids=1", "")
    draft = Draft(
        "R.run", (Stage(OMNI), Stage(OMNI.replace("return self.pack(rows)", merged), "upstream")), chosen=True
    )
    shown = Shown(omni=omni, chosen=merged)
    item = make_review(draft, "r.py", reason="both changed it", confidence=CONTESTED, shown=shown, line=2)
    (left,) = drop_unset_arguments(
        [replace(draft, upstream=UPSTREAM).with_questions(item)], ModuleJob(NPU, NPU.modules[1], "r.py", "")
    )
    assert [(one.chosen, one.reason) for one in left.reviews] == [("return self.pack(rows)", reason)]


RUN = "    def run(self, padded, ids):\n        self.note(ids)\n        return self.forward(ids=ids)\n"
MINE = "return self.forward(ids=ids)"
PASSED = "forward requires padded since this upgrade, so this call passes it on"


@pytest.mark.parametrize(
    ("chosen", "reasons"),
    [
        pytest.param("return self.forward(ids=ids)", [f"{PASSED}; both changed it"], id="just this statement"),
        pytest.param("self.note(ids)\nreturn self.forward(ids=ids)", ["both changed it", PASSED], id="and another"),
        pytest.param("self.note(ids)", ["both changed it", PASSED], id="another statement"),
    ],
)
def test_what_is_mended_is_said_where_the_statement_is_asked_about(chosen: str, reasons: list[str]) -> None:
    """That an unpacking stayed as it was, and that it took a new field, had been two questions."""
    draft = Draft("R.run", (Stage(RUN),), chosen=True)
    line = 2 if chosen.startswith("self.note") else 3
    item = make_review(
        draft, "r.py", reason="both changed it", confidence=CONTESTED, shown=Shown(chosen=chosen), line=line
    )
    inherited = Inherited({"forward": NOW}, before={"forward": BEFORE})
    job = ModuleJob(NPU, NPU.modules[1], "r.py", "", hierarchy=Hierarchy(inherited={"R": inherited}))
    (mended,) = pass_required_parameters([draft.with_questions(item)], job)
    assert "padded=padded" in mended.text
    assert [one.reason for one in mended.reviews] == reasons


@pytest.mark.parametrize(
    ("omni", "from_gpu", "is_asked"),
    [
        pytest.param(
            "return self.forward(padded=padded, ids=ids)", True, False, id="a port that is as omni had it now"
        ),
        pytest.param("return self.forward(padded=padded, ids=ids)", False, True, id="a choice, and no port"),
        pytest.param("return self.forward(ids)", True, True, id="a port of which something is left"),
        pytest.param("", True, True, id="what omni did not have"),
    ],
)
def test_a_question_about_a_port_of_which_nothing_is_left_goes(omni: str, from_gpu: bool, is_asked: bool) -> None:
    draft = Draft("R.run", (Stage(RUN),), chosen=True)
    shown = Shown(omni=omni, upstream="return self.forward(ids=ids)", chosen="return self.forward(ids=ids)")
    item = make_review(draft, "r.py", reason="ported", confidence=CONTESTED, shown=shown, line=3, from_gpu=from_gpu)
    inherited = Inherited({"forward": NOW}, before={"forward": BEFORE})
    job = ModuleJob(NPU, NPU.modules[1], "r.py", "", hierarchy=Hierarchy(inherited={"R": inherited}))
    (mended,) = pass_required_parameters([draft.with_questions(item)], job)
    assert "padded=padded" in mended.text
    assert any("ported" in one.reason for one in mended.reviews) is is_asked


@pytest.mark.parametrize(
    ("base", "upstream", "omni", "reason"),
    [
        pytest.param("forward(ids=ids)", "forward(padded=padded, ids=ids)", MINE, PASSED, id="all that was left out"),
        pytest.param("forward(ids)", "forward(padded, ids, 1)", MINE, f"{PASSED}; left out", id="some of it"),
        pytest.param("forward(ids=own)", "forward(padded)", MINE, f"{PASSED}; left out", id="what goes stays"),
        pytest.param("forward(ids=ids)", "forward(ids=ids)", MINE, f"{PASSED}; left out", id="nothing was left out"),
        pytest.param("forward(ids)", "forward(padded, ids)", "self.go()", f"{PASSED}; left out", id="not omni's text"),
    ],
)
def test_nothing_counts_as_left_out_that_a_mend_brings(base: str, upstream: str, omni: str, reason: str) -> None:
    """`_hidden_states_cpu` of 0.22.0 stood in the unpacking, and "left out" in its question."""
    draft = Draft("R.run", (Stage(RUN),), chosen=True)
    shown = Shown(f"return self.{base}", omni, f"return self.{upstream}", MINE)
    item = make_review(draft, "r.py", reason="left out", confidence=CONTESTED, shown=shown, line=3)
    inherited = Inherited({"forward": NOW}, before={"forward": BEFORE})
    job = ModuleJob(NPU, NPU.modules[1], "r.py", "", hierarchy=Hierarchy(inherited={"R": inherited}))
    (mended,) = pass_required_parameters([draft.with_questions(item)], job)
    assert [one.reason for one in mended.reviews] == [reason]


def test_a_call_names_what_has_another_place_in_a_method_that_the_same_run_changed() -> None:
    method, more = (
        "    def build(self, rows{}):\n        return rows\n",
        "    def run(self):\n        return self.build(1, {}2)\n",
    )
    build = (Stage(method.format(", own=0")), Stage(method.format(", flag=0, own=0"), "upstream"))
    drafts = [Draft("R.build", build, chosen=True), Draft("R.run", (Stage(more.format("")),), chosen=True)]
    _, run = name_shifted_arguments(drafts, ModuleJob(NPU, NPU.modules[1], "runner.py", ""))
    assert (run.text, run.reviews) == (more.format("own="), ())
