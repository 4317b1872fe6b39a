"""Omni-new markers: every form in which they stand in the releases, and what is only near to one."""

from __future__ import annotations

import time

import pytest

from runner_sync.errors import InputError, UnresolvedConflict
from runner_sync.markers import read_markers, ruler_style

WIDE = "#  ----------------------- Omni-new ------------------------"
TIGHT = "# -----------------------Omni-new------------------------"
BEGIN = "# ---------- Omni-new begin ----------"
DASHES = "# ----------------------------------------------------------"


def body(*lines: str) -> str:
    """A function with ``lines`` as its body (line 1 is ``def f():``)."""
    return "def f():\n" + "".join(f"    {line}\n" if line else "\n" for line in lines)


def kinds(text: str, **options: str) -> list[tuple[int, str]]:
    return [(marker.line, marker.kind) for marker in read_markers(text, **{"label": "Omni-new", **options}).lines]


def regions(text: str) -> list[tuple[int, int]]:
    return [(region.start, region.end) for region in read_markers(text, label="Omni-new").regions]


def problems(text: str) -> list[tuple[str, int, int]]:
    return [(problem.kind, problem.line, problem.end_line) for problem in read_markers(text, label="Omni-new").problems]


@pytest.mark.parametrize(
    ("comment", "kind", "note"),
    [
        (WIDE, "toggle", ""),
        (TIGHT, "toggle", ""),
        ("#---------Omni-new---------", "toggle", ""),
        ("# ---------------- Omni-new", "toggle", ""),
        ("# ============ Omni-new ============", "toggle", ""),
        ("# ---------- omni-NEW ----------", "toggle", ""),
        ("# --- Omni-new ---", "toggle", ""),
        ("# ---------- Omni-new: kv ----------", "toggle", "kv"),
        ("# ---------- Omni-new (kv) ----------", "toggle", "kv"),
        ("# ---------- Omni-new begin ----------", "open", ""),
        ("# ---------- Omni-new start: kv ----------", "open", "kv"),
        ("# ---------- /Omni-new ----------", "close", ""),
        ("# ---------- end of Omni-new ----------", "close", ""),
        (DASHES, "bare", ""),
        ("# Omni-new", "loose", ""),
        ("# Omni-new: reset it", "loose", "reset it"),
        ("# (NOTE) Omni-new: ids stay", "loose", "ids stay"),
        ("# NOTE: Omni-specific, wraps", "loose", "wraps"),
        ("# [Omni] KV first", "loose", "KV first"),
        ("# OMNI: for the drafter", "loose", "for the drafter"),
        ("# Omni: step id", "loose", "step id"),
        ("# Omni-specific: cache it", "loose", "cache it"),
        ("# Omni-Specific", "loose", ""),
    ],
)
def test_marker_forms(comment: str, kind: str, note: str) -> None:
    (marker,) = read_markers(body(comment, "pass"), label="Omni-new").lines
    assert (marker.line, marker.column, marker.text) == (2, 4, comment)
    assert (marker.kind, marker.note) == (kind, note)


@pytest.mark.parametrize(
    "line",
    [
        "# Omni's worker does not pass here",
        "# OmniOutput is unpacked",
        "# the Omni-specific part",
        "# Omni prefix cache",
        "# -- Omni stage --",
        "# ------- short",
        "# ------------ Payload helpers ------------",
        f's = "{WIDE}"',
        "# Omni-newer",
        "# Omni-specification",
        "# omnibus: all",
    ],
)
def test_near_misses_are_no_markers(line: str) -> None:
    assert kinds(body(line, "pass")) == []


def test_markers_inside_a_string_are_text() -> None:
    assert kinds(f'x = """\n{WIDE}\n# [Omni] a\n"""\n') == []


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # Omni-specific",
        "f(a, # Omni-Specific",
        "x = 1 # Omni-new: why",
        's = "#" # [Omni] b',
        "y: int #Omni-new",
    ],
)
def test_markers_behind_code_are_trailing(line: str) -> None:
    text = body(line, *([")"] if line.startswith("f(") else []))
    assert kinds(text) == [(2, "trailing")]
    assert read_markers(text, label="Omni-new").marked == {2}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((WIDE, "a = 1", WIDE), [(2, 4)]),
        ((WIDE, "a = 1", TIGHT), [(2, 4)]),
        ((WIDE, "a = 1", DASHES), [(2, 4)]),
        ((WIDE, "a = 1", WIDE, WIDE, "b = 1", WIDE), [(2, 4), (5, 7)]),
        ((WIDE, "a = 1", DASHES, "", WIDE, "b = 1", DASHES), [(2, 4), (6, 8)]),
        (("with a:", f"    {WIDE}", "    b = 1", f"    {WIDE}", "c = 1"), [(3, 5)]),
        (("if a:", f"    {WIDE}", "    b = 1", f"    {WIDE}", "else:", f"    {WIDE}", "    c = 1", f"    {WIDE}"),
         [(3, 5), (7, 9)]),
        ((WIDE, "if a:", "    b = 1", WIDE, "c = 1"), [(2, 5)]),
        (("f(", f"    {WIDE}", "    a=1,", f"    {WIDE}", ")"), [(3, 5)]),
        ((DASHES, "# Section", DASHES, "a = 1"), []),
        ((WIDE, "a = 1", WIDE, DASHES, "# Section", DASHES, "b = 1"), [(2, 4)]),
        ((WIDE, "a = 1", WIDE, "b = 1", DASHES[:-8], "c = 1"), [(2, 4)]),
        ((BEGIN, "a = 1", "# ---------- Omni-new end ----------", "b = 1", BEGIN.replace("Omni-new begin", "-" * 14)),
         [(2, 4)]),
        ((WIDE, "a = 1", WIDE, "if b:", f"    {DASHES}", "    c = 1"), [(2, 4)]),
        ((WIDE, "a = 1", DASHES, "b = 1", DASHES, "c = 1"), [(2, 4)]),
    ],
    ids=["same", "other layout", "bare close", "two", "two bare", "first in a block", "two branches", "around a block",
         "in a call", "heading", "heading behind a block", "bare one of another width",
         "bare one behind an explicit end", "bare one in another suite", "bare one behind a bare end"],
)  # fmt: skip
def test_rulers_pair_within_their_block(lines: tuple[str, ...], expected: list[tuple[int, int]]) -> None:
    assert regions(body(*lines)) == expected
    assert problems(body(*lines)) == []


def test_a_region_may_enclose_methods() -> None:
    text = f"class A:\n    {WIDE}\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n    {WIDE}\n"
    assert regions(text) == [(2, 8)]
    assert problems(text) == []
    assert kinds(text) == [(2, "open"), (8, "close")]


@pytest.mark.parametrize(
    ("text", "found", "paired"),
    [
        (body(WIDE, "a = 1"), [("unbalanced", 2, 2)], []),
        (body("a = 1", WIDE), [("unbalanced", 3, 3)], []),
        (body(WIDE, "a = 1", WIDE, "b = 1", WIDE), [("unbalanced", 6, 6)], [(2, 4)]),
        # What is left of two blocks that bare rulers end, or the first of which does not, when one ruler goes.
        (body(WIDE, "a = 1", WIDE, "b = 1", DASHES), [("unbalanced", 6, 6)], [(2, 4)]),
        (body(WIDE, "a = 1", WIDE, "b = 1", DASHES, WIDE, "c = 1", DASHES), [("unbalanced", 6, 6)], [(2, 4), (7, 9)]),
        (body("# ---------- Omni-new end ----------", "a = 1"), [("unbalanced", 2, 2)], []),
        (body(BEGIN, "a = 1", BEGIN, "b = 1", DASHES),
         [("unbalanced", 2, 2)], [(4, 6)]),
        (body(WIDE, "# only a comment", "", WIDE, "a = 1"), [("empty", 2, 5)], [(2, 5)]),
        (body(WIDE, "if a:", f"    {WIDE}", "    b = 1", f"    {WIDE}", WIDE, "c = 1"),
         [("nested", 4, 6)], [(2, 7), (4, 6)]),
        (body("with a:", f"    {WIDE}", "    b = 1", WIDE, "c = 1"), [("crosses-block", 3, 5)], [(3, 5)]),
        # One ruler to many at either end: what is whole between them is not inside of a block.
        (
            body("with a:", f"    {WIDE}", "    b = 1", "with c:", f"    {WIDE}", "    d = 1", f"    {WIDE}", WIDE),
            [("unbalanced", 3, 3), ("unbalanced", 9, 9)],
            [(6, 8)],
        ),
        (body("a = 1", WIDE) + "\n" + body("b = 1", WIDE, "c = 1").replace("f()", "g()"),
         [("crosses-function", 3, 7)], [(3, 7)]),
        # One stray ruler in a method never swallows the region of the methods behind it.
        (f"class A:\n    def f(self):\n        a\n        {WIDE}\n\n    {WIDE}\n    def g(self): pass\n    {WIDE}\n",
         [("unbalanced", 4, 4)], [(6, 8)]),
        # Three without a partner: no pairing is more likely than another.
        (body(WIDE, "if a:", f"    {WIDE}", "    if b:", f"        {WIDE}", "        c = 1"),
         [("unbalanced", 2, 2), ("unbalanced", 4, 4), ("unbalanced", 6, 6)], []),
    ],
    ids=["open at the end", "close at the end", "third", "bare third", "bare third and more", "explicit end",
         "two begins", "empty", "nested", "two depths", "whole ones between", "two functions", "stray in a method",
         "three strays"],
)  # fmt: skip
def test_problems_are_named(text: str, found: list[tuple[str, int, int]], paired: list[tuple[int, int]]) -> None:
    assert problems(text) == found
    assert regions(text) == paired


def test_a_region_over_two_functions_marks_nothing() -> None:
    text = body("a = 1", WIDE) + "\n" + body("b = 1", WIDE, "c = 1").replace("f()", "g()")
    assert read_markers(text, label="Omni-new").marked == frozenset()


def test_marked_lines() -> None:
    text = body("# ---------- Omni-new: kv ----------", "a = 1", DASHES, "b = 1", "c = 1  # Omni-specific: why")
    found = read_markers(text, label="Omni-new")
    assert found.marked == {2, 3, 4, 6}


def test_another_profile_has_another_label() -> None:
    text = body("# ---------- XPU-new ----------", "a = 1", DASHES, "b = 1  # XPU-specific", WIDE, "# OMNI: x")
    assert kinds(text, label="XPU-new") == [(2, "open"), (4, "close"), (5, "trailing")]


@pytest.mark.parametrize("text", ["def f():\n    x = (\n", "x = '''\n", "if x:\n        a\n    b\n"])
def test_text_without_tokens_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"a/r\.py:\d+: does not parse"):
        read_markers(text, path="a/r.py", label="Omni-new")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((WIDE, WIDE, TIGHT), WIDE),
        ((TIGHT, WIDE, TIGHT), TIGHT),
        ((DASHES, DASHES, TIGHT), TIGHT),
        (("# ---------- Omni-new: kv ----------", WIDE), WIDE),
        ((f"a = '\u2028{TIGHT}\u2028{TIGHT}\u2028'", WIDE), WIDE),
    ],
)
def test_new_rulers_follow_the_file(lines: tuple[str, ...], expected: str) -> None:
    assert ruler_style(body(*lines, "pass"), label="Omni-new") == expected


def test_a_file_without_rulers_gets_the_usual_one() -> None:
    ruler = ruler_style("x = 1\n", label="Omni-new")
    assert regions(f"def f():\n    {ruler}\n    x = 1\n    {ruler}\n") == [(2, 4)]


def test_a_conflict_is_what_is_told_of_a_file_that_has_one() -> None:
    text = "def f():\n<<<<<<< a\n    x = 1\n=======\n  x = 2\n>>>>>>> b\n"
    with pytest.raises(UnresolvedConflict, match=r"runner\.py:2: holds an unresolved merge conflict"):
        read_markers(text, path="runner.py", label="Omni-new")


@pytest.mark.parametrize("comment", ["# -------- a{}b", "# -------- Omni-new: a{}b", "# [Omni] a{}b", "# ---{}b"])
def test_long_comments_are_read_in_no_time(comment: str) -> None:
    """The time for a comment grew with the third power of the blanks in it: a minute for 5,000."""
    text = body(comment.format(" " * 50_000), "pass")
    started = time.process_time()
    read_markers(text, label="Omni-new")
    ruler_style(text, label="Omni-new")
    assert time.process_time() - started < 1
