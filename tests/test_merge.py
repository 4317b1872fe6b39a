"""The merge, case by case: each folder of ``fixtures/merge`` is base, omni, upstream and what is expected.

``case.toml`` of a folder may name a policy, heritage, foreign or pinned statements, a vetoed word, and the reasons of
the decisions, in order (``"kind"`` or ``"kind: names"``); without it a case must not ask anything. ``known-gaps`` has
cases whose result is not yet the ideal one.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
import tomllib
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from runner_sync.compose.layout import format_changes
from runner_sync.merge import (
    FOLLOW,
    PORT,
    RECORD,
    TOUCH_UP,
    Merged,
    Policy,
    Reason,
    UnparsableText,
    merge,
    named_alike,
    with_old_reads_renamed,
)
from runner_sync.merge.keeping import lost
from runner_sync.merge.matching.align import SIMILAR, common, similarity
from runner_sync.merge.phrases.contents import is_between
from runner_sync.merge.placing import emit
from runner_sync.merge.placing.emit import heads_first
from runner_sync.merge.preparing.renames import with_omni_names_of_values
from runner_sync.merge.weave import Strand
from runner_sync.model import Triple
from runner_sync.statements import flatten

if TYPE_CHECKING:
    from types import TraceFunction

CASES = Path(__file__).parent / "fixtures" / "merge"
GAPS = CASES / "known-gaps"
HERITAGE = "a statement that is in no case"
"""With a heritage a merge also looks at what upstream left alone, so that a second run is none that returns at once."""
POLICIES = {"follow": FOLLOW, "record": RECORD, "port": PORT, "touch_up": TOUCH_UP}


@dataclass(frozen=True)
class Case:
    """One folder."""

    triple: Triple
    policy: str = "follow"
    heritage: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)
    veto: str = ""
    reviews: list[str] = field(default_factory=list)

    def run(self, triple: Triple | None = None) -> Merged:
        def refuse(canon: str) -> Reason | None:
            return Reason("uses refused code", (self.veto,)) if self.veto in canon else None

        return merge(
            triple or self.triple,
            policy=POLICIES[self.policy],
            heritage=frozenset(self.heritage),
            veto=refuse if self.veto else None,
            foreign=frozenset(self.foreign),
            pinned=frozenset(self.pinned),
        )


def read_case(folder: Path) -> Case:
    settings = folder / "case.toml"
    options = tomllib.loads(settings.read_text("utf-8")) if settings.exists() else {}
    return Case(
        Triple(*((folder / f"{side}.py").read_text("utf-8") for side in ("base", "omni", "upstream"))), **options
    )


def folders(root: Path) -> list[str]:
    return sorted(path.parent.name for path in root.glob("*/base.py"))


def laid_out(text: str) -> str:
    """``text`` in the layout that an upgrade writes it in."""
    head = {0: "", 4: "class _:\n", 8: "class _:\n    def _(self):\n"}.get(len(text) - len(text.lstrip()), "")
    return format_changes("", head + text, path="unit.py", root=None).removeprefix(head)


def check_merge(folder: Path, expected: str) -> Merged:
    """The result is ``expected`` and parses, asks what the case says, and a second run changes nothing."""
    case = read_case(folder)
    result = case.run()
    assert expected in (result.text, laid_out(result.text)), laid_out(result.text)
    assert result.parses
    ast.parse(f"class _:\n{expected}" if expected[:1] == " " else expected)
    assert [
        ": ".join(filter(None, (d.reason.kind, ", ".join(d.reason.names)))) for d in result.decisions
    ] == case.reviews
    again = replace(case, heritage=[*case.heritage, HERITAGE]).run(
        Triple(case.triple.upstream, result.text, case.triple.upstream)
    )
    assert (again.text, again.decisions) == (result.text, ())
    return result


@pytest.mark.parametrize("name", folders(CASES))
def test_merge(name: str) -> None:
    check_merge(CASES / name, (CASES / name / "expected.py").read_text("utf-8"))


@pytest.mark.parametrize("name", folders(CASES))
def test_statements_that_upstream_did_not_move_keep_the_order_that_omni_has_them_in(name: str) -> None:
    case = read_case(CASES / name)
    base, omni, upstream, merged = map(
        _places, (case.triple.base, case.triple.omni, case.triple.upstream, case.run().text)
    )
    shared = base.keys() & upstream.keys()
    moved = {a for a in shared for b in shared if (base[a] < base[b]) != (upstream[a] < upstream[b])}
    kept = [canon for canon in omni if canon in merged and canon not in moved]
    by_upstream = {(a, b) for a in kept for b in kept if a in upstream and b in upstream and upstream[a] < upstream[b]}
    turned = {(a, b) for k, a in enumerate(kept) for b in kept[k + 1 :] if merged[b] < merged[a]}
    assert {(a, b) for a, b in turned if (b, a) not in by_upstream} == set()


def _places(text: str) -> dict[str, int]:
    """Where the statements stand that a text has once, in its order."""
    canons = [node.canon for node in flatten(text) if not node.is_comment and not node.is_clause]
    return {canon: place for place, canon in enumerate(canons) if canons.count(canon) == 1}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("self.metadata, SHARED, ids=self.input_ids, defer=not self.is_cleared", True),
        ("self.metadata, SHARED, defer=self.is_deferred", True),
        ("self.metadata, SHARED, ids=self.input_ids, defer=not self.is_cleared, rows=self.rows", False),
        ("self.metadata, SHARED, ids=self.omni_ids, defer=not self.is_cleared", False),
        ("self.omni_metadata, SHARED, defer=self.is_deferred", False),
        ("self.metadata, SHARED", False),
    ],
)
def test_what_has_no_part_of_its_own_is_between_two_revisions(arguments: str, expected: bool) -> None:
    rows = ("defer=not self.is_cleared", "ids=self.input_ids, defer=self.is_deferred")
    shared = "num_tokens=num_tokens, num_reqs=num_reqs, model=self.model, config=self.config, eager=self.eager"
    older, base = (f"self.run_forward(self.metadata, {shared}, {row})" for row in rows)
    (mine,) = flatten(f"self.run_forward({arguments.replace('SHARED', shared)})\n")
    assert is_between(mine, *flatten(f"{base}\n"), {older, older.replace("run", "stop")}) == expected


@pytest.mark.parametrize(
    ("row", "follows"),
    [
        pytest.param("ids=self.input_ids, late=self.late", True, id="with a part of the older one"),
        pytest.param("defer=self.is_deferred", False, id="with one part less"),
        pytest.param("ids=self.omni_ids, late=self.late", False, id="with a part of omni's own"),
    ],
)
def test_a_call_with_older_parts_follows_the_base_that_upstream_still_has(row: str, follows: bool) -> None:
    shared = "num_tokens=num_tokens, num_reqs=num_reqs, model=self.model, config=self.config, eager=self.eager"
    rows = ("late=self.late", "ids=self.input_ids, defer=self.is_deferred", row)
    older, base, omni = (f"self.run_forward(self.metadata, {shared}, {one})\nself.end()\n" for one in rows)
    merged = merge(Triple(base, omni, base), heritage=frozenset({older.split("\n")[0]})).text
    assert (merged.split() == base.split()) is follows


@pytest.mark.parametrize("taken_out", ["logger = init_logger(self.name)", "from vllm.logger import logger"])
def test_a_local_that_omni_has_from_the_module_does_not_come_back(taken_out: str) -> None:
    base = f"def run(self, rows):\n    {taken_out}\n    logger.info(rows)\n    return rows\n"
    mine = base.replace(f"    {taken_out}\n", "")
    edited = ("info(rows)", "info(rows, self.rank)")
    assert merge(Triple(base, mine, base.replace(*edited))).text == mine.replace(*edited)


@pytest.mark.parametrize("name", folders(GAPS))
def test_known_gap(name: str) -> None:
    """A gap that closes is to become a case; one that widens is a regression."""
    today, ideal = ((GAPS / name / f"expected_{when}.py").read_text("utf-8") for when in ("today", "ideal"))
    result = read_case(GAPS / name).run()
    made = (result.text, laid_out(result.text))
    assert today != ideal
    assert ideal not in made, f"promote me: {name} is merged ideally now; make it a case of fixtures/merge"
    assert today in made, f"{name} is merged in another way than before:\n{result.text}"


@pytest.mark.parametrize("side", ["base", "omni", "upstream"])
def test_a_side_that_is_no_python_is_refused(side: str) -> None:
    texts = {"base": "a = 1\n", "omni": "a = 2\n", "upstream": "a = 3\n"} | {side: "a = (\n"}
    with pytest.raises(UnparsableText):
        merge(Triple(**texts))


def test_a_decision_shows_the_three_sides_and_what_was_taken() -> None:
    sides = ("limit = self.tokens(batch)", "limit = self.tokens(omni_batch)", "limit = self.tokens(padded_batch)")
    (decision,) = merge(Triple(*(f"        start()\n        {side}\n" for side in sides))).decisions
    assert (decision.base, decision.omni, decision.upstream) == sides
    assert decision.chosen == sides[1]
    assert (decision.line, decision.end_line) == (2, 2)
    assert 0 < decision.confidence < 1


MINE = "def run(self, a):\n    output = self.start(a)\n    self.log(output)\n    return self.finish(output)\n"
HIDDEN = MINE.replace("output", "hidden")
LONGER = HIDDEN.replace("    return", "    self.step(hidden)\n    return")


@pytest.mark.parametrize(
    ("other", "named"),
    [
        pytest.param(HIDDEN, MINE, id="renamed"),
        pytest.param(LONGER, LONGER.replace("hidden", "output"), id="renamed, and more of it"),
        pytest.param(MINE.replace("output", "\ufb01t"), MINE, id="renamed, from a name that is not in its normal form"),
        pytest.param(MINE, MINE, id="named alike already"),
        pytest.param("def run(self, a):\n    x = 1\n    return x\n", None, id="another text with names of its own"),
        pytest.param("def run(self, a:\n", None, id="no Python"),
    ],
)
def test_revisions_are_told_in_the_names_of_a_text(other: str, named: str | None) -> None:
    others = [LONGER, other, HIDDEN]
    assert named_alike(MINE, others)[1] == (named or other)
    assert named_alike(MINE, others)[2] == MINE


MAKES = """\
def run(rows):
    if not rows:
        output = copy(EMPTY)
        return output
    output = Output(rows)
"""


@pytest.mark.parametrize(
    ("omni", "more"),
    [
        (MAKES, ""),
        (MAKES.replace("    output = Output", "    made = Output") + "    more = Output(rows)\n", ""),
        (MAKES.replace("    output = Output", "    made = Other"), ""),
        (MAKES.replace("    output = Output", "    made = Output"), "    made = rows.count\n"),
        (MAKES.replace("    output = Output", "    made = self.output"), ""),
    ],
    ids=["the same name", "two of them", "another class", "a name that upstream has", "a method"],
)
def test_a_value_that_may_be_another_one_keeps_its_name(omni: str, more: str) -> None:
    ends = "    return output\n"
    triple = Triple(MAKES + ends, omni + "    return made\n", MAKES + more + ends)
    assert with_omni_names_of_values(triple) == triple


def test_a_value_is_called_as_omni_does_from_where_it_is_made() -> None:
    omni = MAKES.replace("    output = Output", "    made = Output") + "    return made\n"
    old, new = MAKES + "    return output\n", MAKES + "    output.rows = rows\n    return output\n"
    named = with_omni_names_of_values(Triple(old, omni, new))
    assert named.base == omni
    assert named.upstream == omni.replace("    return made", "    made.rows = rows\n    return made")


def test_suites_that_wait_for_one_another_all_come() -> None:
    """Omni's suite waits for upstream's head around it, which is inside another one of omni's that waits, too."""
    outer = Strand(upstream=0)
    first = Strand(omni=0, parent=outer)
    inner = Strand(upstream=2, parent=first)
    second = Strand(omni=2, parent=inner)
    shared, last = Strand(base=1, omni=3, upstream=3, parent=second), Strand(base=0, omni=1, upstream=1, parent=first)
    found = heads_first([first, second, shared, inner, outer, last])
    assert found == [outer, first, inner, second, shared, last]


@pytest.mark.parametrize(
    "name", ["branch_around_a_suite_that_omni_replaced", "branch_around_a_suite_that_omni_took_off"]
)
def test_suites_that_wait_for_one_another_come_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides have put the same branch around it; a strand that is there twice is walked through for ever."""

    seen: list[tuple[int, int, int]] = []

    def recorded(strands: Sequence[Strand]) -> list[Strand]:
        put = heads_first(strands)
        seen.append((len({id(strand) for strand in put}), len(put), len(strands)))
        return put

    monkeypatch.setattr(emit, "heads_first", recorded)
    case = read_case(CASES / name)
    assert case.run(replace(case.triple, omni=case.run().text)).parses
    assert len(seen) == 2
    assert all(different == put == given for different, put, given in seen)


def test_a_merged_statement_is_shown_without_blanks_around_dots() -> None:
    texts = (
        "out = record(self.ids, count=1, size=self.size)\n",
        "out = record(self.ids, count=2, size=self.size)\n",
        "out = record(self.ids, count=3, size=self.size, last=self.rows.last)\n",
    )
    (decision,) = merge(Triple(*texts)).decisions
    assert "self.rows.last" in decision.chosen


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "expected"),
    [
        pytest.param(
            "out = g(-1, x[a:b], k=1)",
            ("k=1", "k=1, o=2"),
            ("x[", "y["),
            "out = g(-1, y[a:b], k=1, o=2)",
            id="a sign, a slice and a keyword",
        ),
        pytest.param(
            "out = g({a: -b}, x[a + 1 : b], lambda: c, *d, **e)",
            ("*d", "*d, *o"),
            ("x[", "y["),
            "out = g({a: -b}, y[a + 1 : b], lambda: c, *d, *o, **e)",
            id="the same signs between other neighbours",
        ),
        pytest.param("f(a, k=1, m = 2)", ("m = 2", "m = 3"), ("a,", "b,"), "f(b, k=1, m = 3)", id="each as it is"),
        pytest.param(
            "f(a, k = 1)", ("k = 1", "k=1, o=2"), ("a,", "b,"), "f(b, k=1, o=2)", id="omni's before upstream's"
        ),
        pytest.param("f(a, x, k=1)", ("f(a, x", "f(x"), ("k=1", "k=2"), "f(x, k=2)", id="first in its brackets now"),
        pytest.param(
            "f(\n    a,\n    c, k=1,\n)", ("a,", "b,"), ("k=1", "k=2"), "f(b, c, k=2,)", id="lines that are gone"
        ),
        pytest.param("f(a, k=1)  # b", ("a,", "b,"), ("k=1", "k=2"), "f(b, k=2)  # b", id="a comment behind it"),
        pytest.param(
            "f(a, 1. if b else c, d)", ("(a", "(o"), ("d)", "u)"), "f(o, 1. if b else c, u)", id="a bare point"
        ),
        pytest.param(
            "while (a or b) and f(x, k=1): pass",
            ("k=1", "k=1, o=2"),
            ("x,", "y,"),
            "while (a or b) and f(y, k=1, o=2): pass",
            id="brackets behind a keyword",
        ),
        pytest.param(
            "await (f(a, b, c))", ("a,", "o,"), ("c)", "u)"), "await (f(o, b, u))", id="and one that calls nothing"
        ),
        pytest.param(
            "if not (f(a, b) or c): pass", ("a,", "o,"), ("c)", "u)"), "if not (f(o, b) or u): pass", id="not"
        ),
        pytest.param(
            "from . import (a, b, c)", ("b,", "b, o,"), ("(a", "(u, a"), "from . import (u, a, b, o, c)", id="an import"
        ),
    ],
)
def test_a_merged_statement_has_the_blanks_of_its_sides(
    base: str, omni: tuple[str, str], upstream: tuple[str, str], expected: str
) -> None:
    texts = (f"async def run():\n    {text}\n" for text in (base, base.replace(*omni), base.replace(*upstream)))
    merged = merge(Triple(*texts)).text.replace(":\n        pass", ": pass")
    assert merged == f"async def run():\n    {expected}\n"


UNPACKED = "def run(self):\n    rows, output = self.state\n    self.note(output)\n    return len(rows)\n"


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        pytest.param(UNPACKED, ("rows, output", "rows, raw"), "self.note(raw)", id="bound by another name now"),
        pytest.param(UNPACKED, ("= self.state", "= self.state()"), "self.note(output)", id="bound as before"),
        pytest.param(UNPACKED, ("rows, output = self.state", "rows, raw = self.raw"), "self.note(output)", id="other"),
        pytest.param(
            UNPACKED.replace("    self", "    output = output or self.empty\n    self"),
            ("    rows, output = self.state\n    output = output or self.empty\n", "    rows, raw = self.state\n"),
            "self.note(output)",
            id="bound twice",
        ),
        pytest.param(
            UNPACKED.replace("rows)", "rows), raw"), ("rows, output", "rows, raw"), "self.note(output)", id="name taken"
        ),
        pytest.param(UNPACKED, ("rows, output", "rows, raw, _"), "self.note(output)", id="another shape"),
    ],
)
def test_reads_of_a_local_that_has_another_name_now(before: str, text: tuple[str, str], expected: str) -> None:
    assert expected in with_old_reads_renamed(before, before.replace(*text), ["output"])


LORA = "    if self.lora:\n        self.set_lora(ids)\n"
CHECK = "        if self.checks:\n            self.check(ids)\n        else:\n            self.note(ids)\n"


def test_a_new_block_that_stays_out_is_shown_with_what_is_in_it() -> None:
    plain = "def run(self):\n    ids = self.ids()\n    return ids\n"
    base = plain.replace("    return", f"{LORA}    return")
    (asked,) = merge(Triple(base, plain, base.replace(LORA, LORA + CHECK))).decisions
    assert asked.upstream == "if self.checks:\n    self.check(ids)\nelse:\n    self.note(ids)"


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
            "if ids and all(ids):\n    self.told(1, ids)\nif self.lora:\nelse:\n    self.clear(1, ids)",
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


def test_what_was_chosen_at_two_depths_is_shown_as_it_stands() -> None:
    """Two returns one below the other, the first of which stands under a condition, had looked like dead code."""
    (asked,) = read_case(CASES / "way_out_that_upstream_added_and_omni_has_otherwise").run().decisions
    assert asked.chosen == "    return EMPTY_MODEL_RUNNER_OUTPUT\nreturn self.group.finish_without_rows(rows)"


def test_a_block_of_omnis_that_went_with_what_was_in_it_is_shown_with_that() -> None:
    asked = read_case(CASES / "local_of_omni_that_nothing_reads_any_more").run().decisions
    assert asked[0].omni == "if recorder is not None:\n    self.clear(rows)"


def counted(*check: str, sets: str = "") -> str:
    lines = [*(sets,) * bool(sets), "self.start(output)", *check, "self.stop(output)"]
    return "def run(self, output):\n" + "".join(f"    {line}\n" for line in lines)


LEAVES = "    return self.nothing(output)"
NAMES = "tokens = output.rows.total_tokens"


@pytest.mark.parametrize(
    ("omni", "reasons"),
    [
        pytest.param(counted("if tokens <= 0:", "    return EMPTY", sets=NAMES), [], id="with a name for the value"),
        pytest.param(
            counted("if tokens < 0:", "    return EMPTY", sets=NAMES), ["removed statement changed"], id="another test"
        ),
        pytest.param(
            counted("if tokens <= 0:", "    return EMPTY", sets=NAMES.replace("total", "other")),
            ["removed statement changed"],
            id="a name for another value",
        ),
        pytest.param(
            counted("tokens -= 1", "if tokens <= 0:", "    return EMPTY", sets=NAMES),
            ["removed statement changed"],
            id="a name for two values",
        ),
        pytest.param(
            counted("if tokens <= 0:", "    return EMPTY", sets=f"{NAMES}()"),
            ["removed statement changed"],
            id="a name for what a call gave once",
        ),
        pytest.param(counted(), ["removed statement changed"], id="not at all"),
    ],
)
def test_a_changed_statement_that_omni_has_with_a_name_for_a_value(omni: str, reasons: list[str]) -> None:
    """``num_scheduled_tokens = scheduler_output.total_num_scheduled_tokens`` of vllm-ascend, which vLLM spells out."""
    base, upstream = (counted(f"if output.rows.total_tokens {test}:", LEAVES) for test in ("== 0", "<= 0"))
    result = merge(Triple(base, omni, upstream), policy=PORT)
    assert (result.text, [item.reason.kind for item in result.decisions]) == (omni, reasons)


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


def test_of_a_new_suite_around_old_statements_the_head_is_shown() -> None:
    base = f"def run(self):\n    ids = self.ids()\n{LORA}    return ids\n"
    around = base.replace(LORA, f"    try:\n{textwrap.indent(LORA, '    ')}    finally:\n        self.release()\n")
    (asked,) = merge(Triple(base, base.replace(LORA, ""), around)).decisions
    assert asked.upstream == "try:\nfinally:\n    self.release()", "what cleans up goes with it"


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


def test_of_a_block_that_upstream_has_its_inside_without_all_is_shown() -> None:
    base = "def run(self, output):\n    connection = self.connection()\n    return output\n"
    moved = "    self.transfers().handle_preemptions(connection.metadata)\n"
    mine = base.replace("    return", f"    if connection.metadata is not None:\n    {moved}    return")
    (asked,) = merge(Triple(base, mine, base.replace("    return", f"{moved}    return"))).decisions
    assert asked.reason.kind == "added block left"
    assert (asked.omni, asked.chosen) == (f"if connection.metadata is not None:\n{moved}".rstrip(), moved.strip())
    assert asked.upstream == moved.strip()


def step(statement: str) -> str:
    return f"def run(self, a, b, c):\n    {statement}\n    return c\n"


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "merged", "asked"),
    [
        pytest.param(
            "out = self.finish(a)",
            "out = self.finish(a), self.stage",
            "out = self.attach(self.finish(a))",
            "out = self.attach(self.finish(a)), self.stage",
            [],
            id="a tuple is no operand of what is put around its first part",
        ),
        pytest.param(
            "out = self.finish(a)",
            "out = self.finish(a) + self.rest(b)",
            "out = self.attach(self.finish(a))",
            "out = self.attach(self.finish(a) + self.rest(b))",
            [],
            id="a sum is one",
        ),
        pytest.param(
            "out = a, b",
            "out = a, c",
            "out = self.attach((a, b))",
            "out = self.attach((a, c))",
            [],
            id="and so is another tuple in the place of the base's",
        ),
        pytest.param(
            "self.give(a, key=b)",
            "self.give(a, key=b, own=1)",
            "self.give(a, key=b, own=2)",
            "self.give(a, key=b, own=1)",
            ["both changed a part"],
            id="a keyword that both gave, with other values, stands once",
        ),
        pytest.param(
            "self.give(a, key=b)",
            "self.give(a, key=b, own=1)",
            "self.give(a, key=b, new=2)",
            "self.give(a, key=b, new=2, own=1)",
            [],
            id="keywords of each",
        ),
        pytest.param(
            'out = {"a": 1, "b": 2}',
            'out = {"a": 1, "b": 2, "c": 3}',
            'out = {"b": 2, "a": 5}',
            'out = {"a": 1, "b": 2, "c": 3}',
            ["both changed a part"],
            id="no key that all have is lost to another order",
        ),
        pytest.param(
            "out = [a, b]",
            "out = [a, b, c]",
            "out = [b, a]",
            "out = [a, b, c]",
            ["both changed a part"],
            id="no element stands twice for another order",
        ),
        pytest.param(
            "self.give(a, k0=0, k1=1, k2=2)",
            "self.give(a, k1=1, k2=2)",
            "self.give(a, k0=0, k2=2, k1=1)",
            "self.give(a, k2=2, k1=1)",
            [],
            id="no keyword that all have is lost to another order",
        ),
        pytest.param(
            "(a, b, c) = self.state",
            "(a, b) = self.state",
            "(a, b, c, d) = self.state",
            "(a, b, d) = self.state",
            [],
            id="behind a name that omni took out upstream's stands by itself",
        ),
        pytest.param(
            "(a, b, c) = self.state",
            "(a, own, b,  # omni's\n    ) = self.state",
            "(a, b, c,  # the last\n    d) = self.state",
            "(a, own, b,  # omni's\n    d) = self.state",
            [],
            id="and remarks stay with their names",
        ),
        pytest.param(
            "self.give(a, b, c)",
            "self.give(a, b)",
            "self.give(a, b, c, d)",
            "self.give(a, b)",
            ["both changed a part"],
            id="but an argument without a name is what its place makes it",
        ),
        pytest.param(
            "self.give(a, k0=0, k1=1)",
            "self.give(a, k0=0)",
            "self.give(a, k0=0, k1=5, k2=2)",
            "self.give(a, k0=0)",
            ["both changed a part"],
            id="a keyword that omni took out and upstream gave another value",
        ),
    ],
)
def test_of_a_statement_that_both_changed_nothing_is_lost_or_doubled(
    base: str, omni: str, upstream: str, merged: str, asked: list[str]
) -> None:
    result = merge(Triple(step(base), step(omni), step(upstream)))
    assert (result.text, result.parses) == (step(merged), True)
    assert [decision.reason.kind for decision in result.decisions] == asked


@pytest.mark.parametrize(
    ("last", "stays"), [("", False), ("    finally:\n        self.close()\n", True)], ids=["alone", "with a finally"]
)
def test_the_else_of_a_try_goes_with_the_last_except(last: str, stays: bool) -> None:
    """The body of the ``except`` is taken for the ``pass`` that omni removed."""
    base = "def run(self):\n    pass\n    pass\n"
    upstream = f"def run(self):\n    try:\n        pass\n    except ValueError:\n        pass\n    else:\n{LOG}{last}"
    result = merge(Triple(base, "def run(self):\n    pass\n    x = 1\n", upstream))
    assert (result.parses, "else:" in result.text, "try:" in result.text) == (True, False, stays)
    assert not stays or result.text.index("self.log()") < result.text.index("finally:")


LOG = "        self.log()\n"


def test_what_binds_a_merge_does_so_where_omni_has_changed_nothing() -> None:
    base = "def run(self, a):\n    keep(a)\n    self.first(a)\n"
    upstream = "def run(self, a):\n    self.first(a)\n    self.second(a)\n"
    pinned = merge(Triple(base, base, upstream), policy=PORT, pinned={"keep(a)"}).text
    assert pinned == base + "    self.second(a)\n"
    assert merge(Triple(base, base, upstream), policy=TOUCH_UP).text == base


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
        pytest.param("    self.begin(rows)\n", "", 5, id="with nothing before it"),
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


def test_what_omni_does_not_have_in_an_else_is_told_behind_the_condition() -> None:
    head = f"def run(self, rows):\n{EXTRA}    if self.lora:\n        self.set_lora(extra)\n"
    left_out = "    else:\n        self.clear_lora(extra{})\n"
    base, upstream = (head + left_out.format(more) + RUNS + ENDS for more in ("", ", 1"))
    (asked,) = merge(Triple(base, head + OWN + ENDS, upstream), policy=PORT).decisions
    assert (asked.line, asked.is_last) == (5, False)


CHECKED = "    if self.compressed:\n        self.rows.fill_(127)\n        self.spare.fill_(127)\n"
LOOP = "    if not capturing:\n        for k in range(8):\n" + "".join(
    f"            self.tables[k].slots_{n}.fill_(-1)\n" for n in range(8)
)


def gone_past(block: str, *, loop_first: bool) -> str:
    """A method with ``block`` between two short statements, and a long loop in front of them or behind."""
    near = f"    padded = mode == FULL\n{block}    built = self.build(rows=a)\n"
    return "def f(self, a):\n    self.start(a)\n" + (LOOP + near if loop_first else near + LOOP) + "    self.stop(a)\n"


@pytest.mark.parametrize(
    "grown",
    [
        pytest.param("    elif self.placed:\n        self.rows[:a].fill_(0)\n", id="a branch"),
        pytest.param("        self.third.fill_(127)\n", id="a statement"),
    ],
)
def test_a_removed_block_that_has_grown_stays_out_when_another_goes_past_it(grown: str) -> None:
    upstream = gone_past(CHECKED + grown, loop_first=True)
    result = merge(Triple(gone_past(CHECKED, loop_first=False), gone_past("", loop_first=False), upstream))
    assert "compressed" not in result.text
    assert [item.reason.kind for item in result.decisions] == ["removed statement changed"]
    assert grown.strip().split("\n")[-1].strip() in result.decisions[0].upstream


def test_another_block_with_its_condition_comes_in_when_it_is_new() -> None:
    upstream = gone_past("    if self.compressed:\n        self.other(a)\n", loop_first=True)
    result = merge(Triple(gone_past(CHECKED, loop_first=False), gone_past("", loop_first=False), upstream))
    assert "self.other(a)" in result.text


def with_a_local(*steps: str, sets: str = "total = self.start()") -> str:
    """A method with steps in it, and before them the statement that ``sets`` a local which omni has taken out."""
    return "def run(self, rows):\n" + "".join(
        f"    {line}\n" for line in (sets, "self.go(rows)", *steps, "return 1") if line
    )


@pytest.mark.parametrize(
    "added",
    [
        "total += 1",
        "total = self.padded(total)",
        "total, rest = self.split(total)",
        "del total",
        "self.note(total, [total for total in rows])",
        "rows.sort(key=lambda row: row.size - total)",
        "for row in rows: total += row",
        "match rows:\n        case [first]: self.note(total)",
    ],
)
def test_an_addition_that_needs_a_local_which_omni_does_not_set_stays_out(added: str) -> None:
    mine = with_a_local(sets="")
    result = merge(Triple(with_a_local(), mine, with_a_local(added)))
    assert result.text == mine
    assert [(d.reason.kind, d.reason.names) for d in result.decisions] == [
        ("addition reads what omni does not set", ("total",))
    ]


@pytest.mark.parametrize(
    "added",
    [
        "rows.sort(key=lambda total: total.size)",
        "self.note([total for total in rows])",
        "total = 1",
        "total = [total for total in rows]",
        "match rows:\n        case [total]: self.note(total)",
        "self.total += 1",
    ],
)
def test_an_addition_with_a_name_of_its_own_comes_in(added: str) -> None:
    result = merge(Triple(with_a_local(), with_a_local(sets=""), with_a_local(added, "self.note(total)")))
    assert added in result.text


@pytest.mark.parametrize("steps", [("total += 1", "self.keep(total)"), ("self.keep(total)", "del total")])
def test_what_updates_or_releases_a_local_goes_with_the_only_reader(steps: tuple[str, ...]) -> None:
    """A vetoed statement is left out with all that is there for it alone; nothing may update what nothing sets."""
    plain = "def run(self, rows):\n    self.go(rows)\n    return 1\n"
    upstream = plain.replace("    return", "".join(f"    {step}\n" for step in ("total = 0", *steps)) + "    return")

    def veto(canon: str) -> Reason | None:
        return Reason("uses refused code", ("keep",)) if "keep" in canon else None

    assert merge(Triple(plain, plain, upstream), veto=veto).text == plain


def appended(text: str, *, also: str = "") -> Merged:
    """``text`` with a last element of omni's in its brackets, upstream's merged into it, which has another one."""
    omni, upstream = (text.replace("rows", f"rows, {side}{also}") for side in ("mine", "theirs"))
    return merge(Triple(text, omni, upstream))


@pytest.mark.parametrize(
    "text",
    [
        "pack(ids, rows)\n",
        "a = self.pack(ids, rows)\n",
        "if pack(ids, rows, k=1):\n    f()\n",
        "f(g(ids, *rows))\n",
        "a = torch.max(ids, rows)\n",
        "union(ids, rows)\n",
    ],
)
def test_arguments_without_names_that_both_sides_add_at_one_place_are_a_question(text: str) -> None:
    result = appended(text)
    assert "rows, theirs, mine" in result.text
    assert [item.reason.kind for item in result.decisions] == ["both added an argument"]


@pytest.mark.parametrize(
    ("text", "also"),
    [
        pytest.param("a = [ids, rows]\n", "", id="a list"),
        pytest.param("a = (ids, rows)\n", "", id="a tuple"),
        pytest.param("a = {ids, rows}\n", "", id="a set"),
        pytest.param("a = {ids: 1, 'k': rows}\n", ": 1", id="a dictionary"),
        pytest.param("from a import (ids, rows)\n", "", id="names of an import"),
        pytest.param("def run(ids, rows):\n    pass\n", "", id="parameters"),
        pytest.param("class Run(ids, rows):\n    pass\n", "", id="bases"),
        pytest.param("pack(ids, rows)\n", "=1", id="keywords"),
        pytest.param("a = self.State(ids, rows)\n", "", id="fields of a record"),
        pytest.param("pack([ids, rows])\n", "", id="a list that is an argument"),
        pytest.param("a = max(ids, rows)\n", "", id="the largest of them"),
        pytest.param("a = self.known.union(ids, rows)\n", "", id="all of them"),
    ],
)
def test_elements_of_which_each_says_what_it_is_are_none(text: str, also: str) -> None:
    result = appended(text, also=also)
    assert f"theirs{also}" in result.text
    assert "mine" in result.text
    assert result.decisions == ()


def test_an_argument_that_both_sides_add_is_no_question() -> None:
    base = "pack(ids, rows)\nstart()\n"
    both = base.replace("rows", "rows, mine")
    assert merge(Triple(base, both, both.replace("start()", "stop()"))).decisions == ()


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("lambda a, b", "total", id="two parameters"),
        pytest.param("lambda a, b=lambda c, d: c", "total", id="one in another"),
        pytest.param("lambda", "total", id="none"),
    ],
)
def test_a_lambda_in_brackets_becomes_no_tuple(head: str, body: str) -> None:
    """Not even where the other elements of the call end in a comma behind the same word."""
    base = f"out = run(({head}: {body}), {body},)\n"
    omni, upstream = base.replace("), total", "), omni, total"), base.replace("total,)", "total, u=1)")
    called = ast.parse(merge(Triple(base, omni, upstream)).text).body[0].value  # type: ignore[attr-defined]
    assert isinstance(called.args[0], ast.Lambda)
    assert [ast.unparse(argument) for argument in called.args[1:]] == ["omni", "total"]


def method(steps: Sequence[str]) -> str:
    return "def run(self, rows):\n" + "".join(f"    {line}\n" for line in steps)


def among(lines: Sequence[str], word: str, argument: str = "rows") -> str:
    """A method with all lines, and behind every step one of a side's own."""
    own = (line.replace("step", word).replace("rows", argument) for line in lines)
    pairs = zip(lines, own, strict=True)
    return method([one for line, new in pairs for one in ((line, new) if "self.step" in line else (line,))])


def with_unread_additions(steps: list[str]) -> Triple:
    """Upstream gives every step a local, the only reader of which is refused."""
    new = [(step, f"v{k} = self.fetch_{k}()", f"self.refused_{k}(v{k})") for k, step in enumerate(steps)]
    return Triple(method(steps), method([*steps, "self.mine()"]), method([line for lines in new for line in lines]))


def with_removals_beside_edits(steps: list[str]) -> Triple:
    """Omni keeps no step's value, and upstream has edited what stands behind each of them."""
    rows = [(f"v{k} = {step}", f"self.tell_{k}(rows)", f"self.end_{k}(rows)") for k, step in enumerate(steps)]
    sides = (
        [line for row in rows for line in row],
        [line for row in rows for line in row[1:]],
        [line for made, told, end in rows for line in (made, told.replace("rows", "rows, 1"), end)],
    )
    return Triple(*map(method, sides))


def with_additions_of_both(steps: list[str]) -> Triple:
    """And every one of upstream's reads a local that nothing sets."""
    return Triple(method(steps), among(steps, "omni"), among(steps, "new", "cols"))


def with_readers_of_a_lost_local(steps: list[str]) -> Triple:
    """Each of upstream's additions reads a local that omni has taken out."""
    start = "total = self.start()"
    return Triple(method([start, *steps]), method(steps), among([start, *steps], "note", "total"))


def with_branches(steps: list[str]) -> Triple:
    """Each step has its condition."""
    lines = [line for k, step in enumerate(steps) for line in (f"if self.on_{k}:", f"    {step}")]
    return Triple(method(lines), among(lines, "omni"), among(lines, "new"))


def lines_run(triple: Triple, policy: str) -> Counter[str]:
    """How many lines of every function of the merge run to merge a unit."""
    room = str(Path(lost.__file__).parents[1])
    count: Counter[str] = Counter()

    def refuse(canon: str) -> Reason | None:
        return Reason("uses refused code", ("refused",)) if "refused" in canon else None

    def line(frame: FrameType, event: str, _: object) -> TraceFunction | None:
        if not frame.f_code.co_filename.startswith(room):
            return None
        if event == "line":
            count[f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_qualname}"] += 1
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        merge(triple, policy=POLICIES[policy], veto=refuse)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("policy", ["follow", "port"])
@pytest.mark.parametrize(
    "made",
    [
        with_unread_additions,
        with_removals_beside_edits,
        with_additions_of_both,
        with_readers_of_a_lost_local,
        with_branches,
    ],
)
def test_no_part_of_a_merge_takes_four_times_the_work_for_twice_the_text(
    made: Callable[[list[str]], Triple], policy: str
) -> None:
    """A method of thousands of lines takes seconds then, and no minutes; a function that runs few lines does not count.

    A search in something sorted takes a little more than twice the work, one in all of it four times.
    """
    once, twice = (lines_run(made([f"self.step_{k}(rows)" for k in range(n)]), policy) for n in (30, 60))
    assert once.total() > 10_000
    assert {name: (once[name], n) for name, n in twice.items() if n > max(2.7 * once[name], 1000)} == {}


def test_equal_statements_in_a_row_take_room_for_a_row_and_not_for_a_table() -> None:
    """``rows.append(None)`` a thousand times on both sides is a million pairs."""

    def peak(count: int) -> int:
        left, right = flatten("a()\n" * count + "b()\n"), flatten("c()\n" + "a()\n" * count)
        tracemalloc.start()
        try:
            assert len(common(left, right)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    once, twice = (min(peak(count) for _ in range(3)) for count in (200, 400))
    assert 0 < twice < 3 * once


def test_what_is_left_out_takes_along_what_reads_it_however_far_above() -> None:
    """The last addition loses ``first``, which the first one reads, and that one ``second``."""
    plain = with_a_local("for row in rows:", "    self.step(row)", sets="")
    base = with_a_local("for row in rows:", "    self.step(row)")
    upstream = with_a_local(
        "for row in rows:",
        "    second = self.pack(first)",
        "    self.step(row)",
        "    self.note(second)",
        "    first = self.take(total)",
    )
    result = merge(Triple(base, plain, upstream))
    assert result.text == plain


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("way", ["break", "continue", "self.note(rows); break"])
@pytest.mark.parametrize("loop", ["while self.goes_on:", "for group in self.groups:"])
@pytest.mark.parametrize(
    "omni",
    [
        pytest.param("\n    self.pack(rows)\n    self.send(rows)", id="taken away"),
        pytest.param("\n    {loop}\n        self.wait()\n    self.pack(rows)\n    self.send(rows)", id="left behind"),
        pytest.param(
            "\n    {loop}\n        def step(rows):\n            self.pack(rows)\n            self.send(rows)\n"
            "        step(rows)",
            id="of another function",
        ),
        pytest.param(
            "\n    {loop}\n        self.wait()\n    else:\n        self.pack(rows)\n        self.send(rows)",
            id="of which it is the else",
        ),
    ],
)
def test_what_leaves_a_loop_that_omni_has_no_more_stays_out(omni: str, loop: str, way: str, policy: Policy) -> None:
    """``ast`` reads a ``break`` without a loop, and Python does not import it."""
    head = "def f(self, rows):"
    base = f"{head}\n    {loop}\n        self.pack(rows)\n        self.send(rows)\n"
    upstream = base.replace("send", f"hold(rows)\n        if self.is_last(rows):\n            {way}\n        self.send")
    result = merge(Triple(base, head + omni.format(loop=loop) + "\n", upstream), policy=policy)
    assert result.parses
    assert way not in result.text
    assert [d.reason.kind for d in result.decisions if way in d.upstream] != []
    assert way in merge(Triple(base, base.replace("send(rows)", "send(rows, 1)"), upstream), policy=policy).text
