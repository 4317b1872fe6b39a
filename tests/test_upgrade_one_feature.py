"""What was left out of one feature is one question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Hierarchy, Inherited
from runner_sync.upgrade.questions.one_feature import join_features

RUN = "def run(self, rows):\n    total = len(rows)\n    self.send(total)\n"


def left_out(identity: str, upstream: str, *, line: int = 2, base: str = "", reason: str = "why") -> ReviewItem:
    return ReviewItem(identity, "Runner.run", "p", line, line, reason, 0.6, base, "", upstream, "", from_gpu=True)


SETS = left_out("R1", "request = self._request(rows)")
PADS = left_out("R2", "if request is not None:\n    total = request.padded", line=3)
HEAD = left_out("R3", "with context(enabled=request):", line=4)


PLAIN = Hierarchy()


def joined(
    *items: ReviewItem, text: str = RUN, others: tuple[Draft, ...] = (), hierarchy: Hierarchy = PLAIN
) -> list[ReviewItem]:
    drafts = join_features([Draft("Runner.run", (Stage(text),)).with_questions(*items), *others], hierarchy)
    return [item for draft in drafts for item in draft.reviews]


def test_passages_that_share_a_local_which_npu_lacks_are_one_question() -> None:
    first, *rest = joined(SETS, PADS, HEAD)
    assert first == replace(SETS, reason="why; 2 more passages of the same feature were left out")
    assert rest == [replace(item, part_of="R1", in_file=False) for item in (PADS, HEAD)]


def test_so_are_passages_of_vllm_ascends_that_omni_has_nothing_of() -> None:
    """Draft tokens between pipeline stages, in a runner that does not sample, were three questions in 0.22.0."""
    first, rest = joined(*(replace(item, from_gpu=False) for item in (SETS, PADS)))
    assert first.reason == "why; 1 more passage of the same feature was left out"
    assert (rest.part_of, rest.in_file) == ("R1", False)


def test_what_omni_has_in_another_form_is_a_question_of_its_own() -> None:
    kept = replace(PADS, from_gpu=False, omni="total = padded", chosen="total = padded")
    assert joined(replace(SETS, from_gpu=False), kept)[1] == kept


MIXIN = Hierarchy(missing_mixins={"Runner": {"Sender": frozenset({"send_all", "flush"})}})
SENDS = left_out("R6", "self.send_all(rows)")
FLUSHES = left_out("R7", "if rows:\n    self.flush()", line=3)


def test_passages_that_need_one_missing_mixin_are_one_question() -> None:
    """The connector mixin of 0.21.0 was sixteen questions in two runners."""
    first, rest = joined(SENDS, FLUSHES, hierarchy=MIXIN)
    assert first.reason == "why; 1 more passage of the same feature was left out"
    assert rest == replace(FLUSHES, part_of="R6", in_file=False)


def test_a_passage_that_stands_twice_keeps_both_places() -> None:
    assert [item.line for item in joined(SENDS, replace(SENDS, line=9), FLUSHES, hierarchy=MIXIN)] == [2, 9, 3]


@pytest.mark.parametrize(
    "hierarchy",
    [
        pytest.param(PLAIN, id="no mixin is missing"),
        pytest.param(
            Hierarchy(missing_mixins={"Runner": {"Sender": frozenset({"send_all"}), "Other": frozenset({"flush"})}}),
            id="two mixins",
        ),
        pytest.param(
            replace(MIXIN, inherited={"Runner": Inherited(members={"flush": None})}),
            id="the class has one of the names",
        ),
    ],
)
def test_noop_passages_of_no_common_mixin(hierarchy: Hierarchy) -> None:
    assert joined(SENDS, FLUSHES, hierarchy=hierarchy) == [SENDS, FLUSHES]


def test_the_question_is_the_one_that_stands_first() -> None:
    setting = replace(SETS, line=9)
    assert [(item.id, item.part_of) for item in joined(setting, PADS)] == [("R1", "R2"), ("R2", "")]


def test_passages_are_joined_through_others() -> None:
    further = left_out("R4", "padded = request.padded", line=5)
    last = left_out("R5", "self.send(padded)", line=6)
    assert [item.part_of for item in joined(SETS, last, further)] == ["", "R1", "R1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(SETS, left_out("R2", "if requests:\n    pass"), id="another name"),
        pytest.param(SETS, left_out("R2", "self.request = rows"), id="an attribute of that name"),
        pytest.param(SETS, left_out("R2", "send(request=rows)"), id="a keyword of that name"),
        pytest.param(SETS, left_out("R2", "# the request\nsend('request')"), id="a comment and a string"),
        pytest.param(SETS, left_out("R2", "send(request, 2)", base="send(request)"), id="the base has it"),
        pytest.param(SETS, replace(PADS, chosen="total = 1"), id="something was taken"),
        pytest.param(SETS, replace(PADS, from_gpu=False), id="vllm-ascend's and the GPU runner's"),
        pytest.param(left_out("R1", "send(request)"), PADS, id="nobody sets it"),
        pytest.param(left_out("R1", "total = 0"), left_out("R2", "send(total)"), id="NPU has that local"),
    ],
)
def test_what_shares_no_new_local_stays_apart(one: ReviewItem, other: ReviewItem) -> None:
    assert joined(one, other) == [one, other]


def test_a_local_of_another_method_is_another_one() -> None:
    elsewhere = Draft("Runner.stop", (Stage("def stop(self): ..."),)).with_questions(replace(PADS, unit="Runner.stop"))
    assert [item.part_of for item in joined(SETS, others=(elsewhere,))] == ["", ""]


def test_a_local_that_npu_has_counts_where_the_question_is_about_it() -> None:
    using = left_out("R2", "send(total)", reason="left out: the GPU runner newly sets total, and not all uses fit here")
    assert [item.part_of for item in joined(left_out("R1", "total = 0"), using)] == ["", "R1"]


OWN = "total = len(rows)"
VERSIONS = replace(left_out("R1", "total = count(rows)"), omni=OWN, chosen=OWN)
READER = left_out("R2", "if total:\n    send(rows)", line=9)
OF_READER = ["", "R1"]


@pytest.mark.parametrize(("base", "parts"), [("", OF_READER), ("total = size(rows)", ["", ""])])
def test_so_does_one_that_both_added_in_different_versions(base: str, parts: list[str]) -> None:
    assert [item.part_of for item in joined(replace(VERSIONS, base=base), READER)] == parts


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(READER, line=1), id="it stands above"),
        pytest.param(replace(READER, upstream="total = chunk.read()\nself.count(total)"), id="it sets it itself"),
        pytest.param(replace(READER, upstream="for k, total in rows:\n    send(total)"), id="in a loop"),
        pytest.param(replace(READER, upstream="with a(b) as total:\n    send(total)"), id="in a with"),
        pytest.param(replace(READER, upstream="if (total := size(rows)):\n    send(total)"), id="in a condition"),
        pytest.param(replace(READER, upstream="total += size(rows)"), id="it updates it"),
        pytest.param(
            replace(READER, upstream="size = pad(total)", omni="size = c", chosen="size = c"),
            id="it is about versions, too",
        ),
        pytest.param(replace(READER, upstream="def done(total):\n    send(total)"), id="as a parameter"),
    ],
)
def test_what_does_not_read_that_version_stays_apart(other: ReviewItem) -> None:
    text = RUN.replace("    self.send", "    size = c\n    self.send")
    assert joined(VERSIONS, other, text=text) == [VERSIONS, other]


def test_versions_of_what_omni_sets_twice_stay_apart() -> None:
    twice = RUN.replace("    self.send", "    total = size(total)\n    self.send")
    assert joined(VERSIONS, READER, text=twice) == [VERSIONS, READER]


def test_the_question_about_the_versions_leads_and_keeps_its_comment() -> None:
    above = left_out("R3", "padded = self.pad(rows)", line=1)
    both = replace(READER, upstream="if total:\n    send(padded)")
    made = {item.id: (item.part_of, item.in_file) for item in joined(VERSIONS, both, above)}
    assert made == {"R1": ("", True), "R2": ("R1", False), "R3": ("R1", False)}


def test_every_question_about_versions_keeps_its_comment() -> None:
    further = replace(VERSIONS, id="R4", line=3, upstream="size = a(b)", omni="size = c", chosen="size = c")
    both = replace(READER, upstream="if total:\n    send(size)")
    text = RUN.replace("    self.send", "    size = c\n    self.send")
    made = {item.id: (item.part_of, item.in_file) for item in joined(VERSIONS, further, both, text=text)}
    assert made == {"R1": ("", True), "R4": ("R1", True), "R2": ("R1", False)}


MISSING = replace(left_out("R9", "def _request(self, rows): ..."), unit="Runner._request", in_file=False)


@pytest.mark.parametrize(("name", "is_one"), [("Runner._request", True), ("Worker._request", False)])
def test_a_method_that_was_not_ported_heads_the_passages_that_call_it(name: str, is_one: bool) -> None:
    lacking = Draft.for_question(name).with_questions(replace(MISSING, unit=name))
    calling, declined = joined(SETS, others=(lacking,))
    assert (calling.part_of, declined.part_of) == ("R9" if is_one else "", "")
    assert calling.in_file, "one comment says that something was left out"
