"""What the questions of a merge show: which statements, at which line, and why.

The merges that do without one are in ``test_merge``.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace

import pytest
from merge_samples import CASES, folders, read_case

from runner_sync.merge import (
    FOLLOW,
    PORT,
    Kind,
    Policy,
    Reason,
    merge,
)
from runner_sync.model import Triple
from runner_sync.statements import flatten
from runner_sync.statements.likeness import similarity
from runner_sync.thresholds import SIMILAR


def test_a_decision_shows_the_three_sides_and_what_was_taken() -> None:
    sides = ("limit = self.tokens(batch)", "limit = self.tokens(omni_batch)", "limit = self.tokens(padded_batch)")
    (decision,) = merge(Triple(*(f"        start()\n        {side}\n" for side in sides))).decisions
    assert (decision.base, decision.omni, decision.upstream) == sides
    assert decision.chosen == sides[1]
    assert (decision.line, decision.end_line) == (2, 2)
    assert 0 < decision.confidence < 1


LORA = "    if self.lora:\n        self.set_lora(ids)\n"
CHECK = "        if self.checks:\n            self.check(ids)\n        else:\n            self.note(ids)\n"


def test_a_new_block_that_stays_out_is_shown_with_what_is_in_it() -> None:
    plain = "def run(self):\n    ids = self.ids()\n    return ids\n"
    base = plain.replace("    return", f"{LORA}    return")
    (asked,) = merge(Triple(base, plain, base.replace(LORA, LORA + CHECK))).decisions
    assert asked.upstream == "if self.checks:\n    self.check(ids)\nelse:\n    self.note(ids)"


WRAPPED = "def run(self, rows):\n    first = self.prepare(rows)\n{}    self.send(first)\n"
SHORT_SUITE = ("    out = self.step(first, rows)\n", "    out = self.step(first, rows, self.own)\n")
LONG_SUITE = tuple(
    "    with self.lock(first, rows):\n" + "".join(f"        self.work_{k}(first)\n" for k in range(12)) + line
    for line in SHORT_SUITE
)


@pytest.mark.parametrize(
    ("base", "omni", "shown"),
    [
        pytest.param(*SHORT_SUITE, "out = self.step(first, rows)", id="all of a short suite"),
        pytest.param(
            *LONG_SUITE,
            "with self.lock(first, rows):\n        # …\n    out = self.step(first, rows)",
            id="both ends of a long one",
        ),
    ],
)
def test_a_new_block_around_what_omni_has_otherwise_is_shown_with_what_it_is_around(
    base: str, omni: str, shown: str
) -> None:
    """``try:`` alone says nothing."""
    end = "    finally:\n        self.finish(first)\n"
    upstream = WRAPPED.format(f"    try:\n{textwrap.indent(base, '    ')}{end}")
    (asked,) = merge(Triple(WRAPPED.format(base), WRAPPED.format(omni), upstream), policy=PORT).decisions
    assert asked.reason.kind == "suite around other statements"
    assert asked.upstream == f"try:\n    {shown}\nfinally:\n    self.finish(first)"


def test_a_new_branch_around_what_omni_has_otherwise_is_shown_with_its_condition() -> None:
    base = WRAPPED.format("    if self.is_last:\n        self.note(rows)\n    self.wait(first)\n")
    omni = base.replace("    self.wait(first)\n", "    if self.on_npu:\n        self.wait(first)\n")
    upstream = base.replace("    self.wait(first)\n", "    else:\n        self.wait(first)\n")
    (asked,) = merge(Triple(base, omni, upstream), policy=PORT).decisions
    assert asked.reason.kind == "suite around other statements"
    assert asked.upstream == "if self.is_last:\n    # …\nelse:\n    self.wait(first)"


EXTRACTED = "def step(self, out):\n    rows = first(out)\n    rows, marks = self.extract(out)\n{}    self.end()\n"
WRITTEN = EXTRACTED.format("    self.write(rows)\n")
NONE_OF_IT: Kind = "suite around nothing"
POOLING = "    if self.is_pooling:\n        marks = None\n    else:\n        rows, marks = self.extract(out)\n"


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
@pytest.mark.parametrize(
    ("omni", "kind"),
    [
        pytest.param(
            EXTRACTED.format("").replace("    rows, marks = self.extract(out)\n", ""), NONE_OF_IT, id="is gone"
        ),
        pytest.param(
            WRITTEN.replace("    rows, marks = self.extract(out)\n    self.write(rows)", "    self.update(rows=rows)"),
            NONE_OF_IT,
            id="is gone, and another call stands here",
        ),
        pytest.param(
            WRITTEN.replace("    rows = first(out)\n    rows, marks = self.extract(out)\n    self.write", "{}").format(
                "    rows, marks = self.extract(rows)\n    rows = first(out)\n    self.update"
            ),
            "suite around other statements",
            id="stands above with another argument",
        ),
        pytest.param(
            WRITTEN.replace("    rows = first(out)\n    rows, marks = self.extract(out)\n    self.write", "{}").format(
                "    rows, marks = self.split(rows)\n    rows = first(out)\n    self.update"
            ),
            NONE_OF_IT,
            id="another function stands above",
        ),
    ],
)
def test_a_new_condition_around_one_statement_that_omni_does_not_have_here_is_left_out_whole(
    omni: str, kind: Kind, policy: Policy
) -> None:
    """The branch without the statement was kept alone, or a call of omni's own ran only in the other branch."""
    upstream = WRITTEN.replace("    rows, marks = self.extract(out)\n", POOLING)
    merged = merge(Triple(WRITTEN, omni, upstream), policy=policy)
    assert merged.text == omni
    (asked,) = merged.decisions
    assert asked.reason.kind == kind
    assert asked.upstream == textwrap.dedent(POOLING).rstrip()
    own = "" if kind == NONE_OF_IT else "rows, marks = self.extract(rows)"
    assert (asked.omni, asked.chosen) == (own, own)
    assert not own or own in merged.text.splitlines()[asked.line - 1]


def test_a_block_in_a_removed_block_around_what_omni_has_elsewhere_is_asked_about_there() -> None:
    """`execute_model` in vllm-omni 0.28.0: the GPU runner has ``extract_multimodal_outputs`` in another ``with``."""
    call, test = (
        "        rows, marks = self.extract(out)\n",
        "        if rows is not None:\n            self.write(rows)\n",
    )
    base = f"def step(self, out):\n    self.begin()\n    with timed('end'):\n{call}{test}    self.end()\n"
    omni = "def step(self, out):\n    rows, marks = self.extract(rows)\n    self.begin()\n    self.end()\n"
    upstream = base.replace(call, textwrap.indent(POOLING, "    ")).replace("if rows", "if self.log and rows")
    merged = merge(Triple(base, omni, upstream), policy=PORT)
    assert merged.text == omni
    asked = {decision.reason.kind: decision for decision in merged.decisions}
    at_call, left_out = asked["suite around other statements"], asked["removed statement changed"]
    assert (at_call.line, at_call.omni) == (2, "rows, marks = self.extract(rows)")
    assert at_call.upstream == textwrap.dedent(POOLING).rstrip()
    assert left_out.upstream == "if self.log and rows is not None:"


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
@pytest.mark.parametrize("clause", ["else", "elif out"])
def test_a_new_condition_with_a_branch_around_what_omni_has_stays(clause: str, policy: Policy) -> None:
    base = EXTRACTED.format("    self.wait(out)\n")
    branches = f"    if self.is_pooling:\n        self.skip(out)\n    {clause}:\n        self.wait(out)\n"
    upstream = base.replace("    self.wait(out)\n", branches)
    omni = base.replace("    self.end()\n", "    self.log(rows)\n    self.end()\n")
    merged = merge(Triple(base, omni, upstream), policy=policy)
    assert merged.text == upstream.replace("    self.end()\n", "    self.log(rows)\n    self.end()\n")
    assert not merged.decisions


SENT = "def step(self, out):\n    rows = first(out)\n    self.send(out)\n    self.end()\n"


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
def test_a_new_condition_that_sets_what_new_code_reads_stays_without_the_branch_around_nothing(policy: Policy) -> None:
    """Without the block, ``use(held)`` would read what nothing sets."""
    block = "    if self.is_first:\n        held = self.lock(rows)\n    else:\n        self.send(out)\n"
    upstream = SENT.replace("    self.send(out)\n", f"{block}    self.use(held)\n")
    merged = merge(Triple(SENT, SENT.replace("    self.send(out)\n", ""), upstream), policy=policy)
    assert "    if self.is_first:\n        held = self.lock(rows)\n    self.use(held)\n" in merged.text
    (asked,) = [asked for asked in merged.decisions if asked.reason.kind == "suite around nothing"]
    assert asked.upstream == textwrap.dedent(block).rstrip()


def test_new_code_before_a_finally_around_what_omni_does_not_have_comes() -> None:
    """It runs whatever the ``finally`` does."""
    block = "    try:\n        held = self.lock(rows)\n    finally:\n        self.send(out)\n"
    upstream = SENT.replace("    self.send(out)\n", f"{block}    self.use(held)\n")
    merged = merge(Triple(SENT, SENT.replace("    self.send(out)\n", ""), upstream), policy=FOLLOW)
    assert "    held = self.lock(rows)\n    self.use(held)\n" in merged.text


TOKENS = """\
    ids = self.ids()
    if ids and all(ids):
        self.told(ids)
    if self.lora:
        self.set_lora(ids)
    else:
        self.clear(ids)
"""


@pytest.mark.parametrize(
    ("edits", "upstream"),
    [
        pytest.param(
            [("ids = self.ids()", "rows = self.rows()\n    ids = rows.ids()"), ("told(ids", "told(rows, ids")],
            "rows = self.rows()\nids = rows.ids()\nif ids and all(ids):\n    self.told(rows, ids)",
            id="with the condition between them, in upstream's order",
        ),
        pytest.param(
            [("told(ids", "told(1, ids"), ("clear(ids", "clear(1, ids")],
            "if ids and all(ids):\n    self.told(1, ids)\nif self.lora:\n    # …\nelse:\n    self.clear(1, ids)",
            id="an else with its if",
        ),
        pytest.param([("told(ids", "told(1, ids")], "self.told(1, ids)", id="alone"),
    ],
)
def test_statements_of_several_suites_that_stay_out_are_shown_as_they_stand(
    edits: list[tuple[str, str]], upstream: str
) -> None:
    """``scheduler_output = replace(…, new_token_ids=[])`` of vllm-ascend 0.30.0rc1 runs under a condition only."""
    base = f"def run(self):\n    start = self.start()\n{TOKENS}    return start\n"
    new = base
    for edit in edits:
        new = new.replace(*edit)
    (asked,) = merge(Triple(base, base.replace(TOKENS, ""), new)).decisions
    assert asked.upstream == upstream


COPIED = ("self.told(ids)", "ids = deepcopy(ids)\n        self.told(ids)")
NEW_FORM = ("self.told(ids)", "ids = replace(ids, told=True)\n        self.told(ids, 1)")


@pytest.mark.parametrize(
    ("old", "edits", "shown"),
    [
        pytest.param(
            COPIED,
            [("ids = self.ids()", "ids = self.rows()"), NEW_FORM],
            "ids = self.ids()\nif ids and all(ids):\n    ids = deepcopy(ids)\n    self.told(ids)",
            id="what upstream exchanged in between",
        ),
        pytest.param(
            COPIED,
            [("self.set_lora(ids)", "self.set_lora(ids, 1)")],
            "self.set_lora(ids)",
            id="not what went elsewhere",
        ),
    ],
)
def test_the_base_of_statements_that_stay_out_is_shown_as_it_is(
    old: tuple[str, str], edits: list[tuple[str, str]], shown: str
) -> None:
    """Without the copy in it, the block of vllm-ascend 0.26.0rc1 read as if it wrote to the scheduler's own object."""
    passage = TOKENS.replace(*old)
    new = TOKENS
    for edit in edits:
        new = new.replace(*edit)
    base = f"def run(self):\n    start = self.start()\n{passage}    return start\n"
    (asked,) = merge(Triple(base, base.replace(passage, ""), base.replace(passage, new))).decisions
    assert asked.base == shown


def test_what_was_chosen_at_two_depths_is_shown_as_it_stands() -> None:
    """Two returns one below the other, the first of which stands under a condition, had looked like dead code."""
    (asked,) = read_case(CASES / "way_out_that_upstream_added_and_omni_has_otherwise").run().decisions
    head = "if not self.group:\n"
    assert asked.chosen == f"{head}    return EMPTY_MODEL_RUNNER_OUTPUT\nreturn self.group.finish_without_rows(rows)"
    assert asked.chosen == asked.upstream


def test_a_condition_is_shown_with_what_was_chosen_below_it_if_that_is_all_it_has() -> None:
    case = read_case(CASES / "way_out_that_upstream_added_and_omni_has_otherwise")
    with_more = case.triple.upstream.replace(
        "        if total == 0:\n            if not self.group:\n",
        "        if total == 0:\n            if not self.group:\n                # nothing\n",
    )
    (asked,) = case.run(replace(case.triple, upstream=with_more)).decisions
    assert asked.chosen.startswith("if not self.group:\n    # nothing\n    return")
    with_more = with_more.replace("# nothing", "self.note(total)")
    (asked,) = case.run(replace(case.triple, upstream=with_more)).decisions
    assert asked.chosen.startswith("    return EMPTY_MODEL_RUNNER_OUTPUT\n")


def test_a_block_of_omnis_that_went_with_what_was_in_it_is_shown_with_that() -> None:
    asked = read_case(CASES / "local_of_omni_that_nothing_reads_any_more").run().decisions
    assert asked[0].omni == "if recorder is not None:\n    self.clear(rows)"


KEPT_SUITES = {
    "block_with_an_edit_of_omni_that_upstream_removed_stays_whole": (
        "recorder = Recorder.get()",
        "recorder = self.recorder",
        "recorder = self.recorder",
    ),
    "loop_with_an_addition_stays_when_the_gpu_side_replaces_it": (
        "meta = self.model.meta_of(name)",
        "meta = self.model.meta_of(name, row)",
        "meta = self.model.meta_of(name, row)",
    ),
    "loop_around_an_omni_statement_becomes_a_comprehension": (
        "self.add(req)",
        "self.add(req)\n    self.omni(req)",
        "self.omni(req)",
    ),
    "condition_that_upstream_removed_stays_around_statements_of_omnis": (
        "self.capturer.clear()",
        "self.omni_capturer.flush()",
        "self.omni_capturer.flush()",
    ),
}
"""What each side of the question has inside the suite that stays, by merge case."""


@pytest.mark.parametrize("name", KEPT_SUITES)
def test_a_suite_that_stays_for_what_is_in_it_is_shown_with_that(name: str) -> None:
    """Of ``if …enable_return_routed_experts:`` in vllm-omni 0.27.0 the head is the same on both sides."""
    case = read_case(CASES / name)
    result = case.run()
    (asked,) = result.decisions
    head = asked.omni.split("\n")[0]
    for side, inside in zip((asked.base, asked.omni, asked.chosen), KEPT_SUITES[name], strict=True):
        assert side.startswith(f"{head}\n    ")
        assert f"    {inside}" in side
    assert asked.omni != asked.base
    written = textwrap.dedent("\n".join(result.text.split("\n")[asked.line - 1 : asked.end_line]))
    assert written == asked.chosen


def test_a_block_that_came_back_is_shown_with_what_is_in_it() -> None:
    (asked,) = read_case(CASES / "block_that_came_back_with_a_new_one_inside_is_one_question").run().decisions
    assert asked.chosen == asked.upstream
    assert [line.strip().partition("(")[0] for line in asked.chosen.split("\n")] == [
        "if self.is_wide:",
        "with self.timer",
        "self.balance.begin",
    ]


def test_an_edited_block_that_went_is_shown_with_what_omni_had_added_in_it() -> None:
    case = read_case(CASES / "edited_block_that_went_with_one_of_omnis_inside_is_one_question")
    (asked,) = case.run().decisions
    assert asked.omni in case.triple.omni
    assert asked.omni.endswith("        self.starts[rows] = 0")


def test_what_upstream_has_in_the_place_of_a_loop_that_stays_is_shown() -> None:
    case = read_case(CASES / "loop_with_an_addition_stays_when_the_gpu_side_replaces_it")
    (asked,) = case.run().decisions
    assert asked.upstream == "finished = self.with_meta(finished)"
    (asked,) = replace(case, policy="follow").run().decisions
    assert asked.upstream == "", "what came in is no part of the question"


def test_what_a_third_party_has_below_the_same_head_is_no_reason_to_hide_the_head() -> None:
    """``else`` and ``if self.is_pooling_model`` stand somewhere in vLLM's method; what is below them here is omni's."""
    case = read_case(CASES / "an_addition_of_omnis_below_a_head_that_a_third_party_has_elsewhere")
    (asked,) = case.run().decisions
    assert asked.upstream == "if self.is_pooling_model:\n    mm = None"
    assert replace(case, foreign=[*case.foreign, "mm = None"]).run().decisions == ()


def test_versions_that_both_added_are_a_question_unless_the_new_one_is_a_third_partys() -> None:
    """``cudagraph_stats`` of a record: vllm-ascend gives its type, the GPU runner says ``Any``."""
    case = read_case(CASES / "field_of_a_third_party_that_omni_declares_otherwise")
    assert case.run().decisions == ()
    (asked,) = replace(case, foreign=["stats: RowStats"]).run().decisions
    assert (asked.reason.kind, asked.omni) == ("both added versions", "stats: RowStats | None")


def test_of_a_new_suite_around_old_statements_the_head_is_shown() -> None:
    base = f"def run(self):\n    ids = self.ids()\n{LORA}    return ids\n"
    around = base.replace(LORA, f"    try:\n{textwrap.indent(LORA, '    ')}    finally:\n        self.release()\n")
    (asked,) = merge(Triple(base, base.replace(LORA, ""), around)).decisions
    assert asked.upstream == "try:\n    # …\nfinally:\n    self.release()", "what cleans up goes with it"


EXPERTS = "    if self.keeps:\n        self.experts.end(rows)\n    self.close(rows)\n"
TIMED = '    if self.keeps:\n        with timed("experts"):\n            self.experts.end({})\n    self.close(rows)\n'


@pytest.mark.parametrize(
    ("omni", "end", "shown"),
    [
        pytest.param("", "rows", ["with timed('experts'):\n    self.experts.end(rows)"], id="gone in omni"),
        pytest.param(
            "", "rows, True", ["with timed('experts'):\n    self.experts.end(rows, True)"], id="changed below the head"
        ),
        pytest.param(EXPERTS, "rows", [], id="there in omni: it comes in"),
    ],
)
def test_a_head_around_what_omni_has_not_is_shown_with_it(omni: str, end: str, shown: list[str]) -> None:
    """Of the ``with`` around vllm-ascend's ``forward_end()`` a question showed the head alone."""
    base, mine = (f"def run(self, rows):\n    self.send(rows)\n{body}    return rows\n" for body in (EXPERTS, omni))
    result = merge(Triple(base, mine, base.replace(EXPERTS, TIMED.format(end))))
    assert [decision.upstream.replace('"', "'") for decision in result.decisions] == shown


@pytest.mark.parametrize("name", folders(CASES))
def test_what_upstream_added_is_in_the_result_or_in_a_question(name: str) -> None:
    """What an upgrade leaves out without a word, nobody misses before the model gives wrong output."""
    case = read_case(CASES / name)
    result = case.run()
    old = {node.canon for text in (case.triple.base, case.triple.omni) for node in flatten(text)}
    told = [result.text, *(text for d in result.decisions for text in (d.base, d.omni, d.upstream, d.chosen))]
    words = _words("\n".join(told))
    stays = flatten(result.text)
    silent = [
        node.canon
        for node in flatten(case.triple.upstream)
        if node.weight >= 1 and node.kind != "docstring" and node.canon not in {*old, *case.foreign}
        if _words(node.text.rstrip(":")) not in words and all(similarity(node, one) < SIMILAR for one in stays)
    ]
    assert silent == []


def _words(text: str) -> str:
    """The text without blanks, quotes and brackets, which another layout may change."""
    return re.sub(r"""[\s,'"()]+""", "", text)


STEP = """\
def run(self, rows):
    extra = self.extra(rows)
    update = getattr(self.model, "update_step", None)
    self.write_metadata(rows, self.size)
    if self.routed:
        found = self.extracted(rows)
    self.store(rows, self.size)
    out = self.forward(rows, extra)
    return out
"""
OWN_STEP = """\
def run(self, rows):
    extra = self.extra(rows)
    assert self.model is not None
    inputs = self.inputs_of(rows)
    prepare = getattr(self.model, "prepare_inputs", None)
    if prepare is not None:
        inputs.update(prepare(rows))
    if self.capturer is not None:
        found = self.extracted(rows)
    inputs.check()
    out = self.forward(rows, extra)
    return out
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "omni"),
    [
        pytest.param(
            "metadata(rows, self.size)", "metadata(rows, self.length)", 3, OWN_STEP, id="behind what surely is the same"
        ),
        pytest.param(
            "metadata(rows, self.size)",
            "metadata(rows, self.length)",
            4,
            OWN_STEP.replace("    assert", '    update = getattr(self.model, "update_step", 0)\n    assert'),
            id="behind a version of what it follows",
        ),
        pytest.param(
            "store(rows, self.size)", "store(rows, self.length)", 10, OWN_STEP, id="outside of omni's own condition"
        ),
        pytest.param(
            "store(rows, self.size)",
            "store(rows, self.length)",
            9,
            OWN_STEP.replace("    if self.capturer is not None:\n    ", "    with self.stream:\n    ")
            .replace(
                "        found = self.extracted(rows)\n",
                "        if self.routed:\n            found = self.extracted(rows)\n        self.log(rows)\n",
            )
            .replace("    if prepare is not None:\n        inputs.update(prepare(rows))\n", ""),
            id="inside of what omni has around its neighbour",
        ),
    ],
)
def test_what_was_left_out_is_missed_behind_what_it_follows(old: str, new: str, line: int, omni: str) -> None:
    (asked,) = merge(Triple(STEP, omni, STEP.replace(old, new)), policy=PORT).decisions
    assert (asked.reason.kind, asked.line, asked.omni) == ("removed statement changed", line, "")


def test_a_change_of_what_omni_has_at_another_place_is_asked_about_there() -> None:
    copies = "        for row in rows:\n            self.copy_to_host(row, self.stream)\n            self.note(row)\n"
    needed = "    if self.needed(rows):\n"
    base = f"def run(self, rows):\n    if self.full:\n{copies}{needed}        self.collect(rows)\n    return rows\n"
    omni = f"def run(self, rows):\n    self.begin()\n{needed}{copies}        self.pool(rows)\n    return rows\n"
    upstream = base.replace(needed, "    if self.needed(rows) and self.worth_it(rows):\n")
    (asked,) = merge(Triple(base, omni, upstream), policy=PORT).decisions
    assert (asked.reason.kind, asked.line, asked.omni) == ("moved statement changed", 3, needed.strip())
    assert (asked.chosen, asked.upstream) == (asked.omni, "if self.needed(rows) and self.worth_it(rows):")
    elsewise = omni.replace(needed, "    if self.begun:\n")
    (asked,) = merge(Triple(base, elsewise, upstream), policy=PORT).decisions
    assert (asked.reason.kind, asked.omni) == ("removed statement changed", "")


@pytest.mark.parametrize("between", ["", "# the rest\n"], ids=["neighbours", "with a comment between them"])
def test_what_changed_places_together_is_one_question(between: str) -> None:
    case = read_case(CASES / "addition_behind_what_omni_moved_out_of_a_loop")
    new = f"if self.ring.busy:\n    self.ring.release()\n{between}self.note(row)"
    upstream = case.triple.upstream.replace(f"{' ' * 12}self.note(row)", textwrap.indent(new, " " * 12))
    (asked,) = merge(replace(case.triple, upstream=upstream)).decisions
    assert asked.chosen == new
    assert asked.upstream == new.replace("# the rest\n", "")
    assert (asked.line, asked.end_line) == (4, 4 + new.count("\n"))


def test_what_changed_places_at_two_places_is_two_questions() -> None:
    case = read_case(CASES / "addition_behind_what_omni_moved_out_of_a_loop")

    def twice(text: str) -> str:
        other = re.sub(r"(prepare|check|note|late)", r"\1_next", text.split("\n", 1)[1])
        return text.replace("        return rows\n", other)

    sides = (case.triple.base, case.triple.omni, case.triple.upstream)
    asked = merge(Triple(*(twice(side) for side in sides))).decisions
    assert [(d.reason.kind, d.chosen) for d in asked] == [
        ("on the other side", "self.note(row)"),
        ("on the other side", "self.note_next(row)"),
    ]


@pytest.mark.parametrize(
    ("omni", "upstream", "expected"),
    [
        pytest.param("acdebxf", "acdebf", "acdebxf", id="omni adds behind it"),
        pytest.param("acdebf", "acdebxf", "acdebxf", id="upstream adds behind it"),
        pytest.param("acdebxf", "acdeybf", "acdeybxf", id="each adds on another side of it"),
    ],
)
def test_what_both_moved_alike_stands_there_and_is_no_question(omni: str, upstream: str, expected: str) -> None:
    def steps(names: str) -> str:
        return "def run(self):\n" + "".join(f"    self.step_{name}(of_{name}, to_{name})\n" for name in names)

    result = merge(Triple(steps("abcdef"), steps(omni), steps(upstream)))
    assert (result.text, result.decisions) == (steps(expected), ())
    asked = merge(Triple(steps("abcdef"), steps("acdebf"), steps("acbdef"))).decisions
    assert [d.reason.kind for d in asked] == ["both moved"], "to two places"


def test_of_a_block_that_grew_where_omni_had_removed_it_both_forms_are_shown() -> None:
    case = read_case(CASES / "block_that_omni_removed_stays_out_when_another_one_went_past_it")
    old = "if self.use_compress:\n    self.positions.fill_(127)"
    grown = f"{old}\n    self.buffer.fill_(127)"
    upstream = case.triple.upstream.replace(textwrap.indent(old, "    "), textwrap.indent(grown, "    "))
    (asked,) = merge(replace(case.triple, upstream=upstream)).decisions
    assert (asked.base, asked.omni, asked.upstream) == (old, "", grown)


def test_a_statement_that_both_changed_inside_a_block_whose_condition_both_changed_is_a_question_of_its_own() -> None:
    base = (
        "def run(self, n):\n    if self.ready(n, a=1):\n        self.log(n)\n        self.set(n, b=1)\n    return n\n"
    )
    asked = merge(Triple(base, base.replace("=1", "=2"), base.replace("=1", "=3"))).decisions
    assert [(d.line, d.chosen) for d in asked] == [(2, "if self.ready(n, a=2):"), (4, "self.set(n, b=2)")]
    (asked_once,) = merge(Triple(base, base.replace("=1", "=2"), base.replace("a=1", "a=3"))).decisions
    assert asked_once.line == 2, "what omni alone changed inside is no question"


def test_a_change_of_upstreams_inside_a_changed_block_that_omni_does_not_have_is_shown() -> None:
    inside = "        for row in rows:\n            self.store(row, self.size)\n"
    base = f"def run(self, rows):\n    if self.ready(rows):\n{inside}    return rows\n"
    omni = "def run(self, rows):\n    return rows\n"
    (asked,) = merge(Triple(base, omni, base.replace("(rows)", "(rows, 1)", 1).replace("size", "length"))).decisions
    assert "self.store(row, self.length)" in asked.upstream


def test_what_both_added_stays_under_omnis_condition_and_is_asked_about() -> None:
    base = "def run(self, output):\n    connection = self.connection()\n    return output\n"
    added = "    self.transfers().handle_preemptions(connection.metadata)\n"
    condition = "if connection.metadata is not None"
    omni = base.replace("    return", f"    {condition}:\n    {added}    return")
    result = merge(Triple(base, omni, base.replace("    return", f"{added}    return")))
    assert result.text == omni
    (asked,) = result.decisions
    assert (asked.reason.kind, asked.reason.names) == ("both added under other conditions", (condition,))


def test_what_both_added_stays_under_omnis_conditions_where_upstreams_is_gone() -> None:
    """``self.routed_experts_capturer.clear_buffer()`` of vLLM 0.22, which vllm-ascend 0.20.2rc1 has already."""
    base = "def run(self, rows):\n    if self.on:\n        found = get()\n        found.clear()\n    return rows\n"
    upstream = "def run(self, rows):\n    if self.on:\n        self.found.clear()\n    return rows\n"
    omni = (
        "def run(self, rows):\n    if self.config.on:\n        if is_old():\n            found = get()\n"
        "            found.clear()\n        elif self.on:\n            self.found.clear()\n    return rows\n"
    )
    result = merge(Triple(base, omni, upstream))
    assert "        elif self.on:\n            self.found.clear()\n" in result.text
    assert ("both added under other conditions", ("elif self.on",)) in [
        (asked.reason.kind, asked.reason.names) for asked in result.decisions
    ]


def test_what_both_added_stays_in_omnis_else() -> None:
    base = "def run(self, rows):\n    if self.on:\n        self.take(rows)\n    return rows\n"
    upstream = base.replace("        self.take", "        found = self.find()\n        self.take")
    own = "        if is_old():\n            found = self.get()\n        else:\n            found = self.find()\n"
    omni = base.replace("        self.take", f"{own}        self.take")
    result = merge(Triple(base, omni, upstream))
    assert result.text == omni
    assert [asked.reason.names for asked in result.decisions] == [("if is_old() … else",)]


def test_a_new_condition_on_what_omni_does_not_set_takes_no_statement_of_omnis_with_it() -> None:
    """``propose_draft_token_ids(…)`` in ``sample_tokens`` of vLLM 0.25.1 and vllm-ascend 0.24.0rc1."""
    book, propose = "    valid = self.book(rows)\n", "    self.propose(valid)\n"
    base = f"def run(self, rows):\n    fits = self.fits(rows)\n    self.see(fits)\n{book}{propose}    return valid\n"
    omni = f"def run(self, rows):\n{book}{propose}    self.own(valid)\n    return valid\n"
    under = f"    if fits:\n    {propose}    elif self.model:\n        self.drafter.run()\n"
    result = merge(Triple(base, omni, base.replace(propose, under)))
    assert result.text == omni
    (asked,) = result.decisions
    assert (asked.reason.kind, asked.reason.names) == ("addition reads what omni does not set", ("fits",))
    assert "self.drafter.run()" in asked.upstream


def test_what_both_added_in_the_same_block_is_no_question() -> None:
    base = "def run(self, rows):\n    if self.on:\n        self.take(rows)\n    return rows\n"
    both = base.replace("        self.take", "        found = self.find()\n        self.take")
    result = merge(Triple(base, both.replace("return rows", "return found"), both))
    assert (result.text, result.decisions) == (both.replace("return rows", "return found"), ())


def test_a_block_in_the_place_of_omnis_is_no_question_of_its_own_in_a_port() -> None:
    """There the new block is asked about as what the port brings, beside the one that stood there."""
    case = read_case(CASES / "one_statement_in_two_new_suites_of_one_suite_stands_once")
    assert [asked.reason.kind for asked in merge(case.triple).decisions] == ["added block replaced"]
    ported = merge(case.triple, policy=PORT)
    assert "if self.is_ready:" in ported.text
    assert [asked.reason.kind for asked in ported.decisions if asked.reason.kind.startswith("added block")] == []


def test_what_is_left_out_is_told_in_front_of_what_follows_it() -> None:
    around = "def run(self):\n    with self.lock:\n        ids = self.ids()\n{}    return ids\n"
    base, upstream = around.format(LORA), around.format(LORA + CHECK)
    (asked,) = merge(Triple(base, around.format(""), upstream)).decisions
    assert (asked.line, asked.is_last) == (4, False)
    at_the_end = [text.replace("    return ids\n", "") for text in (base, around.format(""), upstream)]
    (asked,) = merge(Triple(*at_the_end)).decisions
    assert (asked.line, asked.is_last) == (2, True)


EXTRA = "    extra = self.extra(rows)\n"
TOLD = "    if self.model.counts:\n        self.model.told(rows, extra{})\n"
RUNS = "    rows = self.run(rows, extra)\n"
OWN = "    context = self.context()\n    with context:\n        rows = self.forward(context, rows, extra)\n"
ENDS = "    self.keep(rows)\n    return rows\n"


@pytest.mark.parametrize(
    ("before", "omni_before", "line"),
    [
        pytest.param(EXTRA, EXTRA, 3, id="behind what it follows"),
        pytest.param(
            f"{EXTRA}    if self.lora:\n        self.set_lora(extra)\n",
            f"{EXTRA}    if self.lora:\n        self.set_lora(extra)\n        self.note(extra)\n",
            6,
            id="behind the whole of it",
        ),
        pytest.param(
            f"{EXTRA}    if self.lora:\n        self.set_lora(extra)\n", EXTRA, 3, id="behind what of it omni has"
        ),
        pytest.param(
            "    self.begin(rows)\n", "", 3, id="with nothing before it, in front of the block around the next"
        ),
    ],
)
def test_what_omni_does_not_have_is_told_behind_what_it_follows_in_upstream(
    before: str, omni_before: str, line: int
) -> None:
    """``update_decode_metadata(...)`` of vllm-omni 0.29.0 runs before the forward pass, of which NPU has its own."""
    head = "def run(self, rows):\n"
    base, upstream = (head + before + TOLD.format(more) + RUNS + ENDS for more in ("", ", 1"))
    (asked,) = merge(Triple(base, head + omni_before + OWN + ENDS, upstream), policy=PORT).decisions
    assert (asked.reason.kind, asked.line, asked.is_last) == ("removed statement changed", line, False)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        pytest.param("", "        self.note(rows)\n", "removed part changed", id="both"),
        pytest.param("", "", "removed statement changed", id="changes alone"),
    ],
)
def test_what_was_changed_and_added_at_one_place_is_not_said_to_be_changed(old: str, new: str, kind: str) -> None:
    """``finalize_kv_connector()`` of vllm-ascend 0.18.0, new in a block that omni's ``sample_tokens`` does not have."""
    head = f"def run(self, rows):\n{EXTRA}"
    draft = "    if self.drafts:\n        self.draft_for(rows{})\n{}"
    base, upstream = (head + draft.format(*more) + RUNS + ENDS for more in (("", old), (", extra", new)))
    (asked,) = merge(Triple(base, head + RUNS + ENDS, upstream)).decisions
    assert asked.reason.kind == kind


def test_what_omni_does_not_have_in_an_else_is_told_behind_the_condition() -> None:
    head = f"def run(self, rows):\n{EXTRA}    if self.lora:\n        self.set_lora(extra)\n"
    left_out = "    else:\n        self.clear_lora(extra{})\n"
    base, upstream = (head + left_out.format(more) + RUNS + ENDS for more in ("", ", 1"))
    (asked,) = merge(Triple(base, head + OWN + ENDS, upstream), policy=PORT).decisions
    assert (asked.line, asked.is_last) == (5, False)


CACHING = """\
def run(self, rows):
    plan = self.plan(rows)
    if self.cache is not None:
        copied = rows.copy()
    self.update_cache(rows=rows, copied=copied)
    return plan
"""
CACHING_HERE = CACHING.replace("    if self.cache is not None:\n        copied = rows.copy()\n", "    self.pad(rows)\n")
CACHING_HERE = CACHING_HERE.replace(", copied=copied", "")
UPDATE = "    self.update_cache(rows=rows, copied=copied)\n"
ADDED = "        self.cache.schedule(copied, plan)\n"


def test_a_statement_that_stays_is_asked_about_with_what_the_gpu_runner_put_in_its_place() -> None:
    upstream = CACHING.replace(UPDATE, ADDED)
    result = merge(Triple(CACHING, CACHING_HERE, upstream), policy=PORT)
    assert result.text == CACHING_HERE
    (asked,) = result.decisions
    assert asked.reason.kind == "edited statement replaced"
    assert asked.line == 4
    assert asked.omni == asked.chosen == "self.update_cache(rows=rows)"
    assert (
        asked.upstream
        == textwrap.dedent("    if self.cache is not None:\n        copied = rows.copy()\n" + ADDED).strip()
    )


def test_what_was_added_elsewhere_is_a_question_of_its_own() -> None:
    between = "    self.send(plan)\n"
    sides = (text.replace("    self.update", f"{between}    self.update") for text in (CACHING, CACHING_HERE))
    base, omni = sides
    upstream = base.replace(UPDATE, "").replace(between, ADDED + between)
    result = merge(Triple(base, omni, upstream), policy=PORT)
    assert result.text == omni
    kinds = {decision.reason.kind for decision in result.decisions}
    assert kinds == {"edited statement removed", "addition to a removed block"}


def test_a_block_around_both_is_not_shown() -> None:
    head = '    with timed("postprocess"):\n'
    around = CACHING.index("    if self.cache"), CACHING.index("    return")
    inside = textwrap.indent(CACHING[slice(*around)], "    ")
    base = CACHING[: around[0]] + head + inside + CACHING[around[1] :]
    upstream = base.replace(textwrap.indent(UPDATE, "    "), textwrap.indent(ADDED, "    "))
    (asked,) = merge(Triple(base, CACHING_HERE, upstream), policy=PORT).decisions
    assert asked.reason.kind == "edited statement replaced"
    assert asked.upstream.startswith("if self.cache is not None:")


def test_a_statement_that_was_only_removed_replaces_nothing() -> None:
    result = merge(Triple(CACHING, CACHING_HERE, CACHING.replace(UPDATE, "")), policy=PORT)
    assert [decision.reason.kind for decision in result.decisions] == ["edited statement removed"]


@pytest.mark.parametrize(
    ("change", "missing", "kind"),
    [
        pytest.param("self.step(first, late)", "late", "half of a feature", id="the change uses what stays out"),
        pytest.param(
            "self.step(first, rows)", "late", "removed statement changed", id="the change uses something else"
        ),
        pytest.param("self.step(first, late)", "other", "removed statement changed", id="something else stays out"),
        pytest.param("self.step(late=first)", "late", "removed statement changed", id="a keyword of that name"),
        pytest.param(
            "self.step(first, rows)", "first", "removed statement changed", id="it used what stays out before, too"
        ),
    ],
)
def test_a_change_that_could_not_come_anyway_is_told_with_the_reason(change: str, missing: str, kind: str) -> None:
    """`execute_model` of vllm-omni 0.26.0: NPU has the keyword in a `with` of its own, and does not lack it."""
    base = "def run(self, rows):\n    first = self.prepare(rows)\n    self.step(first)\n    return self.result\n"
    omni = base.replace("    self.step(first)\n", "")
    upstream = base.replace("    self.step(first)\n", f"    late = self.late(rows)\n    {change}\n")

    def veto(canon: str) -> Reason | None:
        is_read = re.search(rf"\b{missing}\b(?! ?=)", canon) is not None
        return Reason("half of a feature", (missing,)) if is_read else None

    merged = merge(Triple(base, omni, upstream), policy=PORT, veto=veto)
    assert [asked.reason.kind for asked in merged.decisions if "self.step" in asked.upstream] == [kind]
    assert "self.step" not in merged.text


RECORDED = """\
def run(self, rows):
    if self.config.wants_rows:
        recorder = Recorder.get_instance()
        if recorder is not None:
            recorder.clear_buffer()
        else:
            logger.warning("no recorder is there")
    self.start(rows)
    return self.step(rows)
"""
PASSAGE = RECORDED[RECORDED.index("        recorder") : RECORDED.index("    self.start")]
RECORDED_HERE = RECORDED.replace(
    PASSAGE,
    """\
        recorder = self.routed_experts_recorder
        if recorder is not None and hasattr(recorder, "finish_pending_copies"):
            recorder.finish_pending_copies()
""",
)
CLEARED = "        if self.is_recording:\n            self.routed_experts_recorder.clear_buffer()\n"


def test_what_upstream_put_in_the_place_of_an_edited_statement_is_shown_where_it_stands_beside_it() -> None:
    """It read as if upstream had nothing there."""
    result = merge(Triple(RECORDED, RECORDED_HERE, RECORDED.replace(PASSAGE, CLEARED)))
    assert CLEARED in result.text
    assert "recorder.finish_pending_copies()" in result.text
    assert {item.reason.kind for item in result.decisions} == {"edited statement beside"}
    assert {item.upstream for item in result.decisions} == {textwrap.dedent(CLEARED).strip()}


@pytest.mark.parametrize(
    "upstream",
    [
        pytest.param(RECORDED.replace(PASSAGE, "        self.log(rows)\n"), id="what stands there does something else"),
        pytest.param(
            RECORDED.replace(PASSAGE, "        self.log(len(rows))\n").replace(
                "    return", f"{CLEARED[4:]}    return"
            ),
            id="it does that at another place",
        ),
        pytest.param(
            RECORDED.replace("            recorder.clear_buffer()\n", "            pass\n"), id="it only went"
        ),
    ],
)
def test_what_stands_beside_a_statement_that_went_need_not_replace_it(upstream: str) -> None:
    kinds = {item.reason.kind for item in merge(Triple(RECORDED, RECORDED_HERE, upstream)).decisions}
    assert "edited statement removed" in kinds
    assert "edited statement beside" not in kinds


BRANCHES = """\
def run(self, rows):
    self.start(rows)
    if self.is_tall:
        first = self.tall(rows)
        last = self.tall(rows, 1)
    else:
        first = self.flat(rows)
        last = self.flat(rows, 1)
    return first, last
"""


@pytest.mark.parametrize(
    ("head", "is_asked"),
    [
        pytest.param("self.is_tall and rows", False, id="on that condition"),
        pytest.param("self.is_tall or rows", True, id="on another one"),
    ],
)
def test_a_condition_that_omni_has_behind_a_branch_of_its_own_is_not_missing(head: str, is_asked: bool) -> None:
    own = f"    if self.is_own:\n        first = last = rows\n    elif {head}:"
    omni = BRANCHES.replace("    if self.is_tall:", own)
    upstream = BRANCHES.replace("self.is_tall:", "self.is_tall and rows:")
    result = merge(Triple(BRANCHES, omni, upstream))
    assert own in result.text
    assert bool(result.decisions) is is_asked


@pytest.mark.parametrize(
    ("omni", "upstream", "is_asked"),
    [
        pytest.param("a, d, last_raw", "a, b, last_raw, slots", False, id="omni has it, among its own"),
        pytest.param("a, d, last_raw,  # of the step\n", "a, b, last_raw, slots", False, id="whatever its comments"),
        pytest.param("a, d, last_own", "a, b, last_raw, slots", True, id="omni has another one"),
    ],
)
def test_what_omni_has_already_is_no_question(omni: str, upstream: str, is_asked: bool) -> None:
    sides = (f"def run(self):\n    (\n{side}\n    ) = self.state\n" for side in ("a, b, last, slots", omni, upstream))
    asked = [item for item in merge(Triple(*sides)).decisions if item.reason.kind == "both changed a part"]
    assert bool(asked) is is_asked


UNDER_A_CONDITION = """def run(self, total):
    if total:
        self.prepare(total)
    return self.send(total)
"""


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
@pytest.mark.parametrize(
    ("new", "asked"),
    [
        pytest.param("    self.sync(total)\n", True, id="something else stands there"),
        pytest.param("    self.prepare(total, 1)\n", True, id="it stands there, changed"),
        pytest.param("    self.prepare(total)\n", False, id="it stands there, as it was"),
    ],
)
def test_an_addition_that_loses_its_condition_goes_without_a_question_only_with_what_it_stood_beside(
    new: str, asked: bool, policy: Policy
) -> None:
    omni = UNDER_A_CONDITION.replace("prepare(total)\n", "prepare(total)\n        self.omni(total)\n")
    upstream = UNDER_A_CONDITION.replace("    if total:\n        self.prepare(total)\n", new)
    result = merge(Triple(UNDER_A_CONDITION, omni, upstream), policy=policy)
    assert f"{new}    self.omni(total)\n" in result.text
    assert [item.reason.kind for item in result.decisions] == ["outside of its condition"] * asked


IN_THE_END = """def run(self, rows):
    try:
        self.send(rows)
    finally:
        self.stop(rows)
    return rows
"""


@pytest.mark.parametrize(
    ("new", "asked"),
    [
        pytest.param("    self.send_safely(rows)\n", True, id="something else stands there"),
        pytest.param("    self.send(rows)\n    self.stop(rows)\n", False, id="what it stood beside is still there"),
        pytest.param(
            "    try:\n        self.push(rows)\n    finally:\n        self.stop(rows)\n", False, id="as it was"
        ),
    ],
)
def test_an_addition_in_a_finally_that_upstream_removed_with_all_in_it(new: str, asked: bool) -> None:
    omni = IN_THE_END.replace("        self.stop(rows)\n", "        self.stop(rows)\n        self.omni(rows)\n")
    upstream = f"def run(self, rows):\n{new}    return rows\n"
    result = merge(Triple(IN_THE_END, omni, upstream))
    assert result.text.count("self.omni(rows)") == 1
    assert [item.reason.kind for item in result.decisions] == ["outside of its condition"] * asked
