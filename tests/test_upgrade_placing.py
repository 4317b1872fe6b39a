"""What a question shows as chosen is what stands in the file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import Hunk, ReviewItem
from runner_sync.upgrade.placing import drop_undone_hunks, place, relocate, restate, show_as_written

TEXT = """\
def run(self, rows):
    out = Output(
        rows=rows,
        total=len(rows),
    )
    return out
"""
MERGED = "out = Output(rows = rows, total = len(rows),)"


def item(chosen: str, *, line: int = 2, in_file: bool = True) -> ReviewItem:
    return ReviewItem("R1", "run", "runner.py", line, line, "both changed it", 0.5, "", "", "", chosen, in_file)


def test_a_statement_that_was_laid_out_anew_is_shown_as_it_stands_on_all_its_lines() -> None:
    (found,) = show_as_written([item(MERGED)], TEXT)
    assert found.chosen == "out = Output(\n    rows=rows,\n    total=len(rows),\n)"
    assert (found.line, found.end_line) == (2, 5)


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(item("return out", line=6), id="as it stands"),
        pytest.param(item(MERGED.replace("len(rows)", "total")), id="another statement"),
        pytest.param(item(MERGED, line=6), id="another line"),
        pytest.param(item(MERGED, in_file=False), id="not in the file"),
        pytest.param(item("", line=6), id="nothing was chosen"),
        pytest.param(item("def run(self, rows): ...", line=1), id="the head of a method"),
    ],
)
def test_everything_else_is_left(kept: ReviewItem) -> None:
    assert show_as_written([kept], TEXT) == [kept]


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        pytest.param(item(MERGED), "out = Output(\n    rows=rows,\n)", id="the statement that was completed"),
        pytest.param(item("return out", line=6), "return out", id="another one"),
        pytest.param(item("out = 1"), "out = 1", id="what is not in the text"),
        pytest.param(item(""), "", id="what was left out"),
    ],
)
def test_a_question_shows_a_completed_statement_as_it_is_now(asked: ReviewItem, chosen: str) -> None:
    now = "# more\n" + TEXT.replace("        total=len(rows),\n", "")
    (found,) = restate([asked], old=TEXT, new=now)
    assert (found.chosen, found.line) == (chosen, asked.line + (1 if asked.line < 6 else 0))
    assert restate([asked], old=TEXT, new=TEXT) == [asked]
    assert restate([asked], old=TEXT, new="def run(:")[0].chosen == asked.chosen


PASSAGE = """\
def run(self, rows):
    rows = self.pad(rows)
    out = Output(rows=rows, drafts=self.drafts)
    out.total = len(rows)
    return out
"""
APART = PASSAGE.replace(", drafts=self.drafts)\n", ")\n    out.drafts = self.drafts\n")
CHOSEN = "out = Output(rows=rows, drafts=self.drafts)\nout.total = len(rows)"


def test_a_passage_that_a_later_step_changes_is_shown_as_it_is_now_on_all_its_lines() -> None:
    """The last statement of a port stood in no range once a keyword had become a statement of its own above it."""
    (found,) = restate([item(CHOSEN, line=3)], old=PASSAGE, new=APART)
    assert found.chosen == "out = Output(rows=rows)\nout.drafts = self.drafts\nout.total = len(rows)"
    placed = place(found, APART.split("\n"), 10)
    assert (placed.line, placed.end_line) == (12, 14)


@pytest.mark.parametrize(
    ("now", "lines"),
    [
        pytest.param(APART.replace("    out.total = len(rows)\n", ""), (3, 4), id="its end is gone"),
        pytest.param(PASSAGE.replace("len(rows)", "len(\n        rows\n    )"), (3, 6), id="its end takes more lines"),
        pytest.param(PASSAGE.replace("    out = ", "    # made\n    out = "), (4, 5), id="it moved"),
    ],
)
def test_a_passage_reaches_from_its_first_line_to_its_last(now: str, lines: tuple[int, int]) -> None:
    (found,) = restate([item(CHOSEN, line=3)], old=PASSAGE, new=now)
    placed = place(found, now.split("\n"), 1)
    assert (placed.line, placed.end_line) == lines


LAID_OUT = """\
def run(self):
    if not self.ready:
        return self.attach(EMPTY)
    return self.attach(self.forward(a, b))
    self.dump(tokens = a)
"""
WRAPPED = LAID_OUT.replace("(self.forward(a, b))", "(\n        self.forward(a, b),\n    )").replace(" = ", "=")


@pytest.mark.parametrize(
    ("old", "new", "lines", "moved"),
    [
        pytest.param(LAID_OUT, WRAPPED, (2, 4), (2, 6), id="wrapped, with the next statement in the same change"),
        pytest.param(WRAPPED, LAID_OUT, (2, 6), (2, 4), id="unwrapped"),
        pytest.param(WRAPPED, LAID_OUT, (7, 7), (5, 5), id="the statement behind it"),
        pytest.param(LAID_OUT, WRAPPED, (5, 5), (7, 7), id="the same, wrapped"),
        pytest.param(
            "(a, b,) = state\nrun()", "(\n    a,\n    b,\n) = state\nrun( )", (1, 1), (1, 1), id="a bracket first"
        ),
        pytest.param(
            "(\n    a,\n    b,\n) = state\nrun( )", "(a, b,) = state\nrun()", (1, 4), (1, 1), id="its lines joined"
        ),
    ],
)
def test_lines_that_were_laid_out_anew_are_found_by_their_letters(
    old: str, new: str, lines: tuple[int, int], moved: tuple[int, int]
) -> None:
    """A question of 0.26.0rc1 on 0.27.1rc1 ended in the middle of the `return` that ruff had wrapped."""
    asked = replace(item("return EMPTY", line=lines[0]), end_line=lines[1])
    (found,) = relocate([asked], old=old, new=new)
    assert (found.line, found.end_line) == moved


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(item(CHOSEN, line=3, in_file=False), id="not in the file"),
        pytest.param(item(CHOSEN.replace("len(rows)", "total"), line=3), id="the text has another passage"),
        pytest.param(item(CHOSEN, line=4), id="at another line"),
        pytest.param(item(PASSAGE.rstrip().rpartition("\n")[2].strip(), line=5), id="nothing in it changed"),
    ],
)
def test_what_is_no_changed_passage_is_shown_as_before(asked: ReviewItem) -> None:
    (found,) = restate([asked], old=PASSAGE, new=APART)
    assert found.chosen == asked.chosen


def test_a_question_about_statements_apart_reaches_to_the_last_one() -> None:
    unit = ["def run(self):", "    if a:", "        return self.last(1)", "    b = 2", "    return self.last(b)"]
    asked = ReviewItem("R1", "run", "r.py", 3, 5, "", 0.6, "", "", "", "return self.last(1)\nreturn self.last(b)")
    assert (place(asked, unit, 1).line, place(asked, unit, 1).end_line) == (3, 5)


LAID_OUT = TEXT.replace("rows=rows,\n        total=len(rows),", "rows=rows, total=len(rows),")


def hunk(line: int, end: int | None = None) -> Hunk:
    return Hunk(line, end or line, "upstream", "vllm-ascend 0.2.0")


@pytest.mark.parametrize(
    ("before", "made", "text", "made_at", "left"),
    [
        pytest.param(TEXT, LAID_OUT, TEXT, hunk(3), [], id="a layout that was taken back"),
        pytest.param(TEXT, LAID_OUT, LAID_OUT, hunk(3), [hunk(3)], id="one that stays"),
        pytest.param(
            TEXT, LAID_OUT.replace("len", "max"), TEXT.replace("len", "max"), hunk(3), [hunk(3, 4)], id="a change"
        ),
        pytest.param("# Rows.\n" + TEXT, LAID_OUT, TEXT, hunk(1), [hunk(1)], id="something went in front of its line"),
        pytest.param(TEXT + "# end\n", LAID_OUT, TEXT, hunk(6), [hunk(7)], id="something went behind its line"),
    ],
)
def test_a_change_that_formatting_undid_is_no_hunk(
    before: str, made: str, text: str, made_at: Hunk, left: list[Hunk]
) -> None:
    """A keyword of vllm-omni 0.28.0rc1 that upstream writes on three lines was a hunk of one line, as before."""
    (found,) = drop_undone_hunks([[made_at]], before=before, made=made, text=text)
    assert [one.line for one in found] == [one.line for one in left]
