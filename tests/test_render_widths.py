"""Text in terminal columns: wide characters take two, combining marks none."""

from __future__ import annotations

import pytest

from runner_sync.model import Finding
from runner_sync.render.excerpt import quote_lines
from runner_sync.render.ink import Ink
from runner_sync.render.widths import cut_columns, measure, shorten


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("漢字", 4), ("é", 1), ("e\u0301", 1), ("⚠\ufe0f", 1), ("ก\u0e31", 1), ("…", 1)]
)
def test_a_character_takes_as_many_columns_as_a_terminal_gives_it(text: str, width: int) -> None:
    assert measure(text) == width


@pytest.mark.parametrize(
    ("text", "start", "end", "part"),
    [
        ("abcdef", 1, 4, "bcd"),
        ("äbcdef", 0, 9, "äbcdef"),
        ("漢字漢字", 2, 6, "字漢"),
        ("漢字漢字", 1, 6, " 字漢"),
        ("漢字漢字", 2, 5, "字 "),
        ("漢字", 1, 3, "  "),
        ("e\u0301ab", 1, 2, "a"),
        ("\u0301ab", 0, 1, "\u0301a"),
        ("ae\u0301b", 0, 2, "ae\u0301"),
    ],
)
def test_a_part_keeps_its_columns(text: str, start: int, end: int, part: str) -> None:
    assert cut_columns(text, start, end) == part


@pytest.mark.parametrize(
    ("text", "shown"), [("abcdef", "abcdef"), ("abcdefg", "abcde…"), ("漢字漢", "漢字漢"), ("漢字漢字", "漢字 …")]
)
def test_what_is_too_wide_is_shortened(text: str, shown: str) -> None:
    assert shorten(text, 6) == shown


@pytest.mark.parametrize("lead", [0, 1, 2, 3])
@pytest.mark.parametrize("wide", [0, 20, 60])
def test_a_line_of_wide_characters_is_cropped_around_its_point(lead: int, wide: int) -> None:
    line = " " * lead + "x = '" + "漢字" * wide + "'; bad_name = '" + "漢" * wide + "'"
    start = line.index("bad_name") + 1
    finding = Finding("RS301", "error", "a.py", 1, 1, "f", "s", "m", "", start, start + len("bad_name"))
    (shown,) = quote_lines([line], finding, width=80)
    assert measure(shown.text) <= 80
    assert len(shown.caret) <= 80
    assert cut_columns(shown.text, shown.caret.index("^"), len(shown.caret)) == "bad_name"


def test_prose_is_folded_by_columns() -> None:
    text = "漢字漢字漢字 " * 12 + "`# runner-sync: ignore[RS301] 漢字`"
    folded = Ink(color=False, width=60).fold(text, indent="  ").split("\n")
    assert max(map(measure, folded)) <= 60
    assert min(map(measure, folded[:-2])) > 60 - measure("漢字漢字漢字 ")
    assert " ".join(line.strip() for line in folded) == text
