"""What a question shows as chosen is what stands in the file."""

from __future__ import annotations

import pytest

from runner_sync.model import ReviewItem
from runner_sync.upgrade.placing import as_written, restated

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
    (found,) = as_written([item(MERGED)], TEXT)
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
    assert as_written([kept], TEXT) == [kept]


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
    (found,) = restated([asked], old=TEXT, new=now)
    assert (found.chosen, found.line) == (chosen, asked.line + (1 if asked.line < 6 else 0))
    assert restated([asked], old=TEXT, new=TEXT) == [asked]
    assert restated([asked], old=TEXT, new="def run(:")[0].chosen == asked.chosen
