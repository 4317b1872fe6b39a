"""The benchmarks' own arithmetic: conflict markers, peers, planted truth, tables, plots, measured processes."""

from __future__ import annotations

import ast
import shutil
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from conftest import PINS
from packaging.version import Version

from benchmarks import (
    breakages,
    chunks,
    confidence,
    corpus,
    debts,
    deltas,
    engine,
    followed,
    kinds,
    peers,
    planted,
    planted_ports,
    plots,
    process,
    programs,
    rebases,
    scoring,
    speed,
    tables,
    told,
    upstreams,
)
from benchmarks.chunks import Conflict
from benchmarks.debts import get_vllm_version
from benchmarks.spread import spread
from runner_sync.errors import InputError
from runner_sync.model import Finding, ReviewItem, Triple

BASE = """\
    def f(self):
        a = 1
        b = 2
        c = 3
        return a
"""
OMNI = BASE.replace("b = 2", "b = 20")
UPSTREAM = BASE.replace("b = 2", "b = 200")
CLEAN = BASE.replace("def f(self)", "def f(self, x)")


# --- conflict markers


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a\nb\n", ("a\nb\n",)),
        ("a\n<<<<<<< o\nb\n=======\nc\n>>>>>>> u\nd\n", ("a\n", Conflict("b\n", "c\n"), "d\n")),
        ("<<<<<<< found\nb\n||||||| expected\nx\n=======\n>>>>>>> replacement\n", (Conflict("b\n", ""),)),
        ("Title\n=======\ntext\n", ("Title\n=======\ntext\n",)),
        ("a <<<<<<< b\n", ("a <<<<<<< b\n",)),
    ],
    ids=["no conflict", "two sides", "three sides, one empty", "noop: a ruler in prose", "noop: marker inside a line"],
)
def test_markers_are_read(text: str, parts: tuple[chunks.Part, ...]) -> None:
    assert chunks.read(text) == parts


def test_settled_spans_are_lines_of_the_settled_text() -> None:
    parts = ("a\n", Conflict("b\nc\n", ""), "d\n", Conflict("e\n", "f\n"))
    lines = chunks.settle(parts, "omni").split("\n")
    assert [lines[start - 1 : end] for start, end in chunks.find_conflict_spans(parts, "omni")] == [["b", "c"], ["e"]]
    assert chunks.find_conflict_spans(parts, "upstream") == [(3, 3)]


# --- peers


@pytest.mark.parametrize(("side", "option"), [("omni", "--ours"), ("upstream", "--theirs")])
def test_settling_is_what_git_itself_would_take(side: chunks.ConflictSide, option: str) -> None:
    triple = Triple(BASE, OMNI, UPSTREAM)
    whole = chunks.settle(peers.merge_file([triple])[0], side)
    assert whole == chunks.settle(peers.merge_file([triple], option)[0], side)
    assert whole == (OMNI if side == "omni" else UPSTREAM)


def _scratch_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[peers.Tool]:
    monkeypatch.setattr(programs, "mergiraf", lambda _root: (None, "not wanted here"))
    return peers.list_tools(tmp_path)


def test_every_tool_at_hand_merges_what_does_not_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = OMNI.replace("def f(self)", "def f(self, x)")
    tools = [tool for tool in _scratch_tools(tmp_path, monkeypatch) if tool.merge is not None]
    assert len(tools) >= 4
    for tool in tools:
        assert tool.merge is not None
        merged = tool.merge([Triple(BASE, OMNI, CLEAN), Triple(BASE, OMNI, BASE)])
        assert [chunks.settle(parts, "omni") for parts in merged] == [wanted, OMNI], tool.name


def test_what_is_not_to_be_had_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = [tool for tool in _scratch_tools(tmp_path, monkeypatch) if tool.merge is None]
    assert {tool.name: tool.absent for tool in absent}["git merge-file, then mergiraf"] == "not wanted here"
    assert all(tool.absent for tool in absent)


# --- scores


def _problem(before: str, truth: str) -> corpus.Problem:
    runner = corpus.Runner("m.py", "Up", f"class C:\n{before}", f"class C:\n{truth}", "class Up:\n    pass\n", "")
    return corpus.Problem("X", (runner,))


def test_nothing_done_leaves_all_and_the_truth_leaves_none() -> None:
    problem = _problem(BASE, CLEAN)
    assert scoring.score_nothing(problem).effort_left == 1
    assert scoring.score_nothing(problem).precision is None
    assert scoring.score_outputs("t", problem, [scoring.ToolOutput(f"class C:\n{CLEAN}")]).effort_left == 0


def test_wrong_lines_are_silent_unless_a_conflict_shows_them() -> None:
    problem, made = _problem(BASE, CLEAN), f"class C:\n{UPSTREAM}"
    assert scoring.score_outputs("t", problem, [scoring.ToolOutput(made)]).silent == 2
    shown = frozenset(scoring.iter_shown_lines(chunks.read(CONFLICT)))
    assert shown == {"b = 20", "b = 200"}
    assert scoring.score_outputs("t", problem, [scoring.ToolOutput(made, shown=shown)]).silent == 1


CONFLICT = (
    BASE[: BASE.index("        b")]
    + "<<<<<<< omni\n        b = 20\n=======\n        b = 200\n>>>>>>> upstream\n"
    + BASE[BASE.index("        c") :]
)


def test_a_conflict_in_a_head_shows_the_head_alone() -> None:
    text = "<<<<<<< o\nif a:\n=======\nif b:\n>>>>>>> u\n    x = 1\n"
    assert set(scoring.iter_shown_lines(chunks.read(text))) == {"if a:", "if b:"}


# --- planted upgrades


def _delta(omni: str, base: str = BASE) -> list[deltas.Insertion]:
    return list(deltas.find_insertions(base, omni))


def test_an_insertion_is_lifted_out_and_set_back() -> None:
    omni = BASE.replace("        c = 3\n", "        if b:\n            b = 3  # omni\n        c = 3\n")
    (found,) = _delta(omni)
    assert found == deltas.Insertion("b = 2", 0, ("if b:", "    b = 3  # omni"))
    assert deltas.plant(BASE, [found]) == omni


@pytest.mark.parametrize(
    ("omni", "base"),
    [
        (BASE, BASE),
        (BASE.replace("        c = 3\n", "        # why\n        c = 3\n"), BASE),
        (OMNI, BASE),
        ("def f(\n    a,\n    b: int = 1,\n):\n    pass\n", "def f(\n    a,\n):\n    pass\n"),
        ("if a:\n    b()\nelse:\n    c()\n", "if a:\n    b()\n"),
    ],
    ids=["nothing", "a comment", "an edit", "a parameter", "half of an if"],
)
def test_noop_what_is_no_whole_insertion(omni: str, base: str) -> None:
    assert _delta(omni, base) == []


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("x = 1\n", 0),
        ("b = 2\nb = 2\n", 0),
        ("with x:\n    b = 2\n    c = 3\n", -4),
        ("if a:\n    b = 2\nelse:\n    c = 3\n", -4),
        ("if a:\n    b = 2\n", -8),
    ],
    ids=["anchor gone", "anchor twice", "deeper lines follow", "an else follows", "left of the margin"],
)
def test_noop_no_safe_place(text: str, depth: int) -> None:
    assert deltas.plant(text, [deltas.Insertion("b = 2", depth, ("n = 1",))]) is None


def test_a_planted_upgrade_is_followed_at_another_indentation() -> None:
    upstream = BASE.replace("        b = 2\n        c = 3\n", "        with x:\n            b = 2\n            c = 3\n")
    omni = BASE.replace("        c = 3\n", "        self.omni(b)\n        c = 3\n")
    inserted = tuple(_delta(omni))
    old, new = (planted.Version(ref, f"class NPUModelRunner:\n{text}") for ref, text in (("o", BASE), ("n", upstream)))
    made = planted.build(deltas.Delta("r", "f", inserted), old, new, step=1)
    assert made is not None
    assert "            self.omni(b)\n            c = 3\n" in made.truth
    results = {outcome.tool: outcome for outcome in planted.score_tools(made)}
    assert results["runner-sync"].done
    assert not results["git merge-file, omni side"].done


def test_noop_an_upstream_that_only_changed_layout_is_no_upgrade() -> None:
    old, new = (planted.Version("v", f"class NPUModelRunner:\n{text}") for text in (BASE, BASE + "        # end\n"))
    delta = deltas.Delta("r", "f", (deltas.Insertion("b = 2", 0, ("n = 1",)),))
    assert planted.build(delta, old, new, step=1) is None


def test_an_exchange_is_lifted_out_and_made_at_another_indentation() -> None:
    (found,) = deltas.find_exchanges(BASE, OMNI)
    assert deltas.exchange(BASE, [found]) == OMNI
    deeper = "    def f(self):\n        with x:\n" + "".join(f"    {line}\n" for line in BASE.split("\n")[1:] if line)
    expected = "    def f(self):\n        with x:\n" + "".join(f"    {line}\n" for line in OMNI.split("\n")[1:] if line)
    assert deltas.exchange(deeper, [found]) == expected
    assert deltas.exchange(BASE + deeper, [found]) is None, "it stands there twice"
    assert deltas.exchange(BASE.replace(found.old[0], "gone = 1"), [found]) is None


@pytest.mark.parametrize(
    "omni",
    [BASE, BASE.replace("b = 2", "b = 2  # why"), BASE.replace("        c = 3\n", "        n = 1\n        c = 3\n")],
    ids=["nothing", "a comment", "an insertion"],
)
def test_noop_what_is_no_exchange(omni: str) -> None:
    assert list(deltas.find_exchanges(BASE, omni)) == []


def test_noop_an_exchange_that_takes_the_head_of_what_stands_below() -> None:
    base = "    def f(self):\n        if a:\n            b = 1\n        with c:\n            d = 1\n            e = 1\n"
    omni = base.replace("        with c:\n            d = 1\n", "            d = 2\n")
    assert list(deltas.find_exchanges(base, omni)) == []
    assert len(list(deltas.find_exchanges(base, base.replace("with c:", "with d:")))) == 1


def test_a_planted_edit_is_carried_unless_upstream_made_it_too() -> None:
    delta = deltas.Delta("r", "f", (), tuple(deltas.find_exchanges(BASE, OMNI)))
    upstream = BASE + "        self.more()\n"
    old, new = (planted.Version(ref, f"class NPUModelRunner:\n{text}") for ref, text in (("o", BASE), ("n", upstream)))
    made = planted.build(delta, old, new, step=1, kind="edits")
    assert made is not None
    assert made.truth == OMNI + "        self.more()\n"
    assert {outcome.tool: outcome.done for outcome in planted.score_tools(made)}["runner-sync"]
    assert planted.build(delta, old, new, step=1, kind="additions") is None
    too = planted.Version("n", new.text + "".join(f"{line}\n" for line in OMNI.split("\n") if line not in BASE))
    assert planted.build(delta, old, too, step=1, kind="edits") is None


def test_a_plant_is_scored_in_one_spelling_of_types() -> None:
    text = "def f(a: Optional[X] = None) -> Union[A, B, None]:\n    pass\n"
    assert planted._normalise_hints(text).startswith("def f(a: X | None=None) -> A | B | None:")


# --- ablations


def test_markers_only_keeps_marked_blocks_and_drops_the_rest() -> None:
    ruler = "        # ------------ Omni-new ------------\n"
    omni = OMNI.replace("        c = 3\n", f"{ruler}        marked = 1\n{ruler}        c = 3\n        plain = 1\n")
    kept = engine.keep_marked(BASE, omni)
    assert "marked = 1" in kept
    assert "plain" not in kept
    assert "b = 2\n" in kept


def test_an_ablation_of_nothing_is_an_error() -> None:
    with pytest.raises(InputError, match="mend this ablation"):
        engine._replace_member(chunks, "gone", None)
    with pytest.raises(InputError, match="no variant 'x'"):
        engine.run("x", "P1")


# --- results


def test_a_section_is_replaced_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "2026-01-02.md"
    tables.write_section(path, "quality", "one")
    tables.write_section(path, "speed", "two")
    tables.write_section(path, "quality", r"three \1")
    text = path.read_text()
    assert text.startswith("# Benchmarks, 2026-01-02\n")
    assert "one" not in text
    assert text.index(r"three \1") < text.index("two")


@pytest.mark.parametrize(
    "picture",
    [
        plots.draw_bars("a < b", "u", {"P1": {"x": 0.5, "y": 7.0}, "P2": {"x": 1.0}}, top=1.2, line=1),
        plots.draw_lines("t", "u", {"s": [(50, 1.0), (600, 4.0)]}, label="n"),
    ],
    ids=["bars", "lines"],
)
def test_plots_are_well_formed(picture: str) -> None:
    root = ET.fromstring(picture)
    shapes = [node.tag.rpartition("}")[2] for node in root.iter()]
    assert shapes.count("rect") >= 5 or "polyline" in shapes
    if "7.0" in picture:
        assert all(float(node.get("y", "0")) >= 0 for node in root.iter() if node.tag.endswith("rect"))


# --- measured processes


def _job(code: str, name: str = "j") -> process.Job:
    return process.Job(name, (sys.executable, "-S", "-c", code))


def test_memory_is_of_one_process_and_not_of_the_largest_so_far(tmp_path: Path) -> None:
    big, _ = process.run_once(_job("x = bytearray(80 << 20)"), tmp_path)
    small, why = process.run_once(_job("pass"), tmp_path)
    assert why == ""
    assert big.mib > small.mib + 60


def test_what_is_timed_may_keep_its_bytecode_as_an_installed_tool_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    asks = _job("import sys; sys.exit(2 * sys.dont_write_bytecode)")
    _, why = process.run_once(asks, tmp_path)
    assert why == ""


def test_what_cannot_run_is_absent_with_its_own_words(tmp_path: Path) -> None:
    jobs = [_job("raise SystemExit(1)", "findings"), _job("import sys; sys.exit('no such command')\n", "gone")]
    jobs[1] = process.Job("gone", jobs[1].command, good=(0,))
    figures = process.measure(jobs, 1, say=lambda _: None, scratch=tmp_path)
    assert figures["gone"].absent == "no such command"
    assert figures["findings"].absent == ""
    assert figures["findings"].seconds > 0


def test_a_target_that_was_not_measured_is_neither_met_nor_missed() -> None:
    floors = {name: process.Figures(name, 1.0, 1.0, 50.0) for name in (speed.FLOOR, speed.BARE, speed.OFFLINE_BARE)}
    told = process.Figures("upgrade, base told", 3.0, 3.0, 300.0)
    check = process.Figures("check, lock only", absent="no such command")
    rows = {what: met for what, _, met in speed._list_targets({**floors, told.name: told, check.name: check}, [50])}
    assert rows["upgrade, base told ≤ 2 × libcst"] == "no"
    assert rows["check, lock only ≤ 1.5 × ast"] == "absent"
    assert rows["upgrade, peak memory ≤ 400 MiB"] == "yes"


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("git") is None, reason="git is the peer")
@pytest.mark.parametrize("case_id", ["P1", "P2", "P3", "P4"])
def test_git_leaves_what_the_corpus_records(case_id: str) -> None:
    """The recorded figures were made by another program. Where the upstream side of P4 breaks one method, this harness
    lets omni's stand, which is kinder to git than the record."""
    (case,) = corpus.select_cases([case_id])
    rows = scoring.score_tool(peers.Tool("git", peers.merge_file), corpus.load_problem(case), chunks.SIDES)
    for side, row in zip(chunks.SIDES, rows, strict=True):
        recorded = case.left_by_git[side]
        if row.broken:
            assert row.effort_left < recorded
        else:
            assert row.effort_left == pytest.approx(recorded, abs=0.002)


# --- other kinds of truth


def test_methods_are_counted_by_what_is_left_of_them() -> None:
    rows = [kinds.Method("tool", 4, left) for left in (0, 0, 2, 3, 4, 4, 4, 6)]
    *_, row, _ = kinds._format_methods(rows).split("\n")
    assert [cell.strip() for cell in row.split("|")[1:-1]] == ["tool", "8", "2", "1", "1", "3", "1", "0.72"]


@pytest.mark.parametrize(("value", "place"), [(0.0, 0), (0.25, 1), (0.5, 1), (0.75, 2), (1.0, 3), (1.5, 4)])
def test_every_effort_is_in_one_class(value: float, place: int) -> None:
    bounds = ((0, 0), (0, 0.5), (0.5, 1), (1, 1), (1, float("inf")))
    assert [kinds._count_between([value], low, high) for low, high in bounds] == [int(k == place) for k in range(5)]


@pytest.mark.parametrize(
    ("sides", "truth", "counts"),
    [
        (("a()\n", "b()\n", "b()\n"), "def f():\n    b()\n", (2, 2)),
        (("a()\n", "b()\n", "b()\n"), "def f():\n    a()\n", (2, 0)),
        (("a()\n", "b()\n", "a()\nb()\n"), "def f():\n    a()\n", (2, 1)),
        (("a()\n", "a()\nb()\n", "a()\n"), "def f():\n    c()\n", (1, 1)),
        (("if a:\n    b()\n", "", ""), "", (2, 2)),
        (("a( 1 )\n", "", "a( 1 )\n"), "def f():\n    a(1)\n", (1, 1)),
    ],
    ids=["people chose the same", "the other", "both, and they one", "what all have", "left out by both", "layout"],
)
def test_an_item_agrees_with_what_people_released(
    sides: tuple[str, str, str], truth: str, counts: tuple[int, int]
) -> None:
    omni, upstream, chosen = sides
    item = ReviewItem("R1", "R.f", "runner.py", 1, 1, "why", 0.5, "", omni, upstream, chosen)
    assert confidence.count_agreement(item, truth) == counts


def test_a_break_is_the_same_one_when_an_upgrade_moves_it() -> None:
    before = "`f` (runner.py:12) takes the keyword `a`."
    assert kinds._drop_digits(before) == kinds._drop_digits(before.replace("12", "345"))
    assert kinds._drop_digits(before) != kinds._drop_digits(before.replace("`a`", "`b`"))


def test_the_kinds_name_releases_that_the_tests_know() -> None:
    """Every pair is two releases and goes forward, so that nothing is scored against itself."""
    known = msgspec.toml.decode((kinds.HERE / "kinds.toml").read_bytes(), type=kinds._Kinds)
    assert len(known.port) >= 9
    assert len(known.fix) >= 20
    assert all(Version(port.before) < Version(port.after) for port in known.port)
    assert any(not port.seen for port in known.port)
    assert any(not fix.seen for fix in known.fix)


def test_rebases_are_of_releases_that_the_tests_know_and_go_forward() -> None:
    assert all(omni in PINS["vllm-omni"] and get_vllm_version(omni) in PINS["vllm"] for omni in rebases.RELEASES)
    assert all(Version(before) < Version(after) for before, after in pairwise(rebases.RELEASES))


def test_a_rebase_counts_what_is_mended_and_what_is_new() -> None:
    told = frozenset({("RS304", "a"), ("RS304", "b"), ("RS301", "c")})
    row = rebases.Rebase("1", "2", told, told - {("RS304", "a")}, frozenset(), frozenset({("RS302", "d")}), 4)
    assert rebases._count(row) == (3, 1, 3, 1, 4)


def test_what_check_told_is_counted_by_method() -> None:
    body = "class A:\n" + "".join(f"    def {name}(self):\n        return 1\n" for name in "fgh")
    changed = body.replace("return 1", "return 2", 2) + "    def new(self):\n        n()\n"
    before, after = {"a.py": body}, {"a.py": changed}
    named = Finding("RS203", "error", "a.py", 1, 1, "A", "new", "A has no new.")
    about = [Finding("RS101", "warning", "a.py", 1, 1, f"A.{name}", name, "It changed.") for name in ("f", "h")]
    row = told.compare("P0", before, after, [named, *about])
    assert told._count(row) == (4, 2, 2, 2, 0, 0, 2, 1)
    assert (row.silent, row.left_alone) == (("A.g",), ("A.h",))


def test_what_check_tells_is_asked_of_hand_made_upgrades_of_known_releases() -> None:
    assert len(told.load_cases()) == 10
    for case in told.load_cases():
        assert {case.omni_before, case.omni_after} <= PINS["vllm-omni"].keys()
        assert case.ascend in PINS["vllm-ascend"]


# --- planted ports


METHOD = """\
    def f(self):
        a = load(self.first_thing)
        # why
        for b in a:
            use_it(b, self.second_thing)
            c = b
        return a
"""


@pytest.mark.parametrize(
    ("lines", "rest"),
    [
        (range(2, 3), METHOD.replace("        a = load(self.first_thing)\n", "")),
        (range(4, 7), METHOD.split("        # why")[0] + "        return a\n"),
        (range(5, 7), None),
    ],
)
def test_a_passage_is_taken_out_with_the_remarks_above_it(lines: range, rest: str | None) -> None:
    assert planted_ports._remove_lines(METHOD, lines) == rest


def test_a_passage_stands_once_in_each_and_is_no_whole_suite() -> None:
    other = METHOD.replace("        return a\n", "        c = b\n        return a\n").replace(
        "        a = load", "        x()\n        a = load"
    )
    mine, others = (list(planted_ports._iter_runs(text)) for text in (METHOD, other))
    assert list(planted_ports._match_runs(mine, others)) == [
        (range(2, 3), range(3, 4)),
        (range(2, 7), range(3, 8)),
        (range(4, 7), range(5, 8)),
        (range(5, 6), range(6, 7)),
    ]


def test_a_change_is_taken_back_at_another_indentation() -> None:
    older = METHOD.replace("use_it(b, self.second_thing)", "use_it(b)")
    npu = METHOD.replace("\n        ", "\n            ").replace(
        "def f(self):\n", "def f(self):\n        if self.on:\n"
    )
    ((new, old),) = planted_ports._iter_hunks(older, METHOD)
    assert planted_ports._revert_hunk(npu, new, old) == npu.replace("use_it(b, self.second_thing)", "use_it(b)")
    assert planted_ports._revert_hunk(npu + npu, new, old) is None
    assert list(planted_ports._iter_hunks(METHOD, METHOD)) == []


@pytest.mark.slow
@pytest.mark.corpus
def test_planted_ports_come_to_their_place() -> None:
    """The same few in every run: most come out as people have them, and none otherwise without a word."""
    found = [row for plant in planted_ports.draw_plants(12, seed=1)[:16] for row in planted_ports.score_tools(plant)]
    mine = [row for row in found if row.tool == "runner-sync"]
    assert len(mine) == 16
    assert sum(row.done for row in mine) >= 12
    assert all(row.done or row.doubts for row in mine)


# --- planted breaks

PLANTED_IN = """\
class A:
    def f(self, a, b=1, *, c=2):
        if a:
            return a, b
        return b, c

    def g(self, *a, **k):
        return a
"""
CHANGES = [
    ("f", breakages._require_parameter, "def f(self, a, b=1, *, c=2, planted_name):"),
    ("f", breakages._insert_first_parameter, "def f(self, planted_name, a, b=1, *, c=2):"),
    ("f", breakages._return_more, "return (a, b, None)"),
    ("f", lambda text, function: breakages._drop_parameter(text, function, name="b"), "def f(self, a, *, c=2):"),
    ("f", lambda text, function: breakages._drop_parameter(text, function, name="c"), "def f(self, a, b=1):"),
    ("f", lambda text, function: breakages._drop_parameter(text, function, name="d"), None),
    ("g", breakages._return_more, None),
    ("g", lambda text, function: breakages._drop_parameter(text, function, name="a"), None),
]


@pytest.mark.parametrize(("name", "change", "line"), CHANGES)
def test_a_change_is_planted(name: str, change: breakages._Change, line: str | None) -> None:
    functions = [node for node in ast.walk(ast.parse(PLANTED_IN)) if isinstance(node, ast.FunctionDef)]
    planted_in = change(PLANTED_IN, next(function for function in functions if function.name == name))
    if line is None:
        assert planted_in is None
    else:
        assert planted_in is not None
        assert line in planted_in
        assert planted_in.count("def ") == 2


# A model is whatever was loaded, so what a runner calls on one is nobody's to check; torch has an `inference_mode`,
# too, which the runner means; and vllm-ascend's worker makes omni's call of `init_workspace_manager` word for word. A
# plant leaves that call as it is, where vllm-ascend would have changed it along with the function.
UNTOLD = {"compute_logits", "inference_mode", "init_workspace_manager"}


@pytest.mark.slow
@pytest.mark.corpus
def test_planted_breaks_are_told() -> None:
    """Three of each kind, the same in every run: none may pass in silence, and nothing else be told."""
    ground = breakages.Ground("0.30.0", "0.30.0rc2")
    told = [ground.verify(plant) for plant in breakages.draw(ground, 3)]
    assert len(told) >= 18
    assert {t.name for t in told if not t.here and not t.elsewhere} <= UNTOLD
    assert [finding for t in told for finding in t.besides] == []


@pytest.mark.slow
@pytest.mark.corpus
def test_what_people_completed_later_was_asked_for() -> None:
    """In the releases with an NPU connector to come; helpers that went along with their callers are the rest."""
    found = {row.omni: row for row in debts.make_rows()}
    rows = [found[omni] for omni in ("0.21.0rc1", "0.22.0", "0.24.0", "0.26.0")]
    assert sum(row.told for row in rows) >= 0.8 * sum(row.paid for row in rows) > 0
    assert all(row.told <= row.paid and row.came <= row.findings for row in found.values())


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("variant", engine.VARIANTS)
def test_every_ablation_runs(variant: str) -> None:
    """Each takes out one part by exchanging a function; one that no longer fits would fail, or measure nothing."""
    row = engine.measure(variant, "P3")
    assert row.case == "P3"
    assert row.parses
    assert row.work == 244


# --- the commit that people followed


def _version(ref: str, **methods: str) -> upstreams.Version:
    body = "".join(f"    def {name}(self):\n        {line}\n" for name, line in methods.items())
    return upstreams.Version(ref, f"class NPUModelRunner:\n{body}")


@pytest.mark.parametrize(
    ("copies", "ref"),
    [
        ([("f", "    def f(self):\n        two()\n        own()\n")], "b"),
        ([("f", "    def f(self):\n        one()\n"), ("g", "    def g(self):\n        other()\n")], "a"),
        ([("g", "    def g(self):\n        other()\n")], "c"),
    ],
    ids=["an addition of omni's is in no revision", "all copies count together", "of equals the newest"],
)
def test_the_followed_commit_is_the_nearest(copies: list[tuple[str, str]], ref: str) -> None:
    versions = [
        _version("a", f="one()", g="other()"),
        _version("b", f="two()", g="other()"),
        _version("c", f="three()", g="other()"),
    ]
    assert followed.find_nearest(copies, versions).ref == ref


def test_work_is_spread_in_the_order_of_the_items_and_its_errors_arrive() -> None:
    assert spread(msgspec.json.decode, [b"[1]", b"2", b"[]"]) == [[1], 2, []]
    with pytest.raises(msgspec.DecodeError, match="truncated"):
        spread(msgspec.json.decode, [b"1", b"["])
