"""The merge, case by case: each folder of ``fixtures/merge`` is base, omni, upstream and what is expected.

``case.toml`` of a folder may name a policy, heritage, foreign or pinned statements, a vetoed word, and the reasons of
the decisions, in order (``"kind"`` or ``"kind: names"``); without it a case must not ask anything. ``known-gaps`` has
cases whose result is not yet the ideal one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from merge_samples import CASES, GAPS, folders, read_case

from runner_sync.compose.layout import format_changes
from runner_sync.merge import (
    FOLLOW,
    PORT,
    Kind,
    Merged,
    Policy,
    Reason,
    UnparsableText,
    merge,
    rename_alike,
    with_old_reads_renamed,
)
from runner_sync.merge.placing import emit
from runner_sync.merge.placing.emit import heads_first
from runner_sync.merge.preparing.renames import with_omni_names_of_values
from runner_sync.merge.weave import Strand
from runner_sync.model import Triple
from runner_sync.statements import flatten

HERITAGE = "a statement that is in no case"
"""With a heritage a merge also looks at what upstream left alone, so that a second run is none that returns at once."""


def laid_out(text: str) -> str:
    """``text`` in the layout that an upgrade writes it in."""
    head = {0: "", 4: "class _:\n", 8: "class _:\n    def _(self):\n"}.get(len(text) - len(text.lstrip()), "")
    return format_changes("", head + text, path="unit.py", root=None)[0].removeprefix(head)


def check_merge(folder: Path, expected: str) -> Merged:
    """The result is ``expected`` and parses, asks what the case says, and a second run changes nothing."""
    case = read_case(folder)
    result = case.run()
    assert expected == result.text or expected == laid_out(result.text)
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
    assert rename_alike(MINE, others)[1] == (named or other)
    assert rename_alike(MINE, others)[2] == MINE


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


ONE = "def run(self, rows):\n    total = rows.total\n    logits = self.step(total)\n    return self.finish(logits)\n"
OWN = ONE.replace("    logits", "    self.seen = 1\n    logits")


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize(
    ("upstream", "fits"),
    [
        ("def run(self, rows): return self.other(rows)\n", False),
        ("@abstractmethod\ndef run(self, rows): ...\n", False),
        ("def run(self, rows):\n    return self.other(rows)\n", True),
        ("async def run(self, rows):\n    return self.other(rows)\n", True),
        ("def run(self, rows):\n    def run(): return rows\n    return self.other(run)\n", True),
        ("def run(self, rows):\n    return self.other(rows)\n\n\ndef other(self, rows): ...\n", True),
    ],
    ids=["one line", "a stub", "short", "async", "with one inside", "two upstream"],
)
def test_a_merge_of_one_definition_is_one_definition(upstream: str, fits: bool, policy: Policy) -> None:
    assert merge(Triple(ONE, OWN, upstream), policy=policy).parses is fits


def test_a_merge_of_statements_may_have_several_definitions() -> None:
    base = "x = 1\ndef run(self): return 1\n"
    result = merge(Triple(base, base + "y = 2\n", base.replace("run", "go") + "def end(self): return 3\n"))
    assert result.parses


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


MOVING = """\
def f(self):
    conn = self.conn
    ids = self.ids
    size = self.size
    if size:
        self.count(size)
    return g(conn, ids, size)
"""


def moving(old: str, new: str) -> str:
    """The method without the first statement, and with ``new`` in place of ``old``."""
    return MOVING.replace("    conn = self.conn\n", "").replace(old, new)


@pytest.mark.parametrize(
    ("upstream", "pinned", "left"),
    [
        pytest.param(
            moving("    return", "    cache = {}\n    conn = self.conn\n    return"),
            "conn = self.conn",
            MOVING.replace("    return", "    cache = {}\n    return"),
            id="moved within the suite",
        ),
        pytest.param(
            moving("    return", "    cache = {}\n    conn = self.conn\n    return"),
            "",
            moving("    return", "    cache = {}\n    conn = self.conn\n    return"),
            id="not pinned",
        ),
        pytest.param(
            moving("self.count(size)", "self.count(size)\n        conn = self.conn"),
            "conn = self.conn",
            MOVING.replace("self.count(size)", "self.count(size)\n        conn = self.conn"),
            id="another suite has it",
        ),
        pytest.param(
            moving("    return", "    cache = {}\n    conn = self.other\n    return"),
            "conn = self.conn",
            MOVING.replace("    return", "    cache = {}\n    conn = self.other\n    return"),
            id="another value",
        ),
        *(
            pytest.param(
                moving("    return", f"{between}    conn = self.conn\n{behind}    return"),
                "conn = self.conn",
                MOVING.replace("    return", f"{between}    conn = self.conn\n{behind}    return"),
                id=between_id,
            )
            for between, behind, between_id in (
                ("    self.conn = self.made\n", "", "upstream sets what it reads in between"),
                ("    self.open_connection()\n", "", "upstream newly calls something in between"),
                ("    if not ids:\n        return None\n", "", "behind a new exit"),
                ("    conn = self.conn\n    size = 0\n", "", "twice"),
            )
        ),
    ],
)
def test_what_omni_has_from_a_third_party_does_not_come_again_where_upstream_moved_it(
    upstream: str, pinned: str, left: str
) -> None:
    """``sample_tokens`` of omni 0.22.0 read ``self.kv_connector_output``, emptied it, and then read it again."""
    result = merge(Triple(MOVING, MOVING, upstream), policy=PORT, pinned={pinned, "keep(a)"})
    assert result.text == left


@pytest.mark.parametrize(("between", "is_read_again"), [("", False), ("    self.prepare()\n", True)])
def test_two_statements_that_upstream_moved_together_stay_together(between: str, is_read_again: bool) -> None:
    taking = "    conn = self.conn\n    self.conn = None\n"
    base = MOVING.replace("    conn = self.conn\n", taking)
    upstream = moving("    return", f"    cache = {{}}\n{between}{taking}    return")
    result = merge(Triple(base, base, upstream), policy=PORT, pinned={"conn = self.conn", "self.conn = None"})
    assert result.text.startswith(base.partition("    return")[0])
    assert (result.text.count(taking) == 2) == is_read_again
    assert result.text.count("conn = self.conn") == 1 + is_read_again


CHECKED = "    if self.compressed:\n        self.rows.fill_(127)\n        self.spare.fill_(127)\n"
LOOP = "    if not capturing:\n        for k in range(8):\n" + "".join(
    f"            self.tables[k].slots_{n}.fill_(-1)\n" for n in range(8)
)


def gone_past(block: str, *, loop_first: bool) -> str:
    """A method with ``block`` between two short statements, and a long loop in front of them or behind."""
    near = f"    padded = mode == FULL\n{block}    built = self.build(rows=a)\n"
    return "def f(self, a):\n    self.start(a)\n" + (LOOP + near if loop_first else near + LOOP) + "    self.stop(a)\n"


BRANCH = "    elif self.placed:\n        self.rows[:a].fill_(0)\n"


@pytest.mark.parametrize(
    ("grown", "kind"),
    [
        pytest.param(BRANCH, "branch of a removed condition", id="a branch"),
        pytest.param("        self.third.fill_(127)\n", "addition to a removed block", id="a statement"),
        pytest.param(f"        self.third.fill_(127)\n{BRANCH}", "addition to a removed block", id="both"),
    ],
)
def test_a_removed_block_that_has_grown_stays_out_when_another_goes_past_it(grown: str, kind: Kind) -> None:
    upstream = gone_past(CHECKED + grown, loop_first=True)
    result = merge(Triple(gone_past(CHECKED, loop_first=False), gone_past("", loop_first=False), upstream))
    assert "compressed" not in result.text
    assert [item.reason.kind for item in result.decisions] == [kind]
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
