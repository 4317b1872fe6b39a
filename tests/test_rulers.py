"""What counts as a ruler, by who asks."""

from __future__ import annotations

import pytest

from runner_sync.rulers import get_words, is_divider, is_drawn, ruler_title


@pytest.mark.parametrize(
    ("comment", "title", "is_dividing", "has_line", "said"),
    [
        pytest.param("# ------ Omni-new ------", "Omni-new", True, True, "Omni-new", id="a ruler with a title"),
        pytest.param("# --- Omni-new ---", "Omni-new", False, False, "Omni-new", id="a short one"),
        pytest.param("# ---------", "", True, True, "", id="a bare one"),
        pytest.param("# ------", None, True, True, "", id="a bare one that is short"),
        pytest.param("# ==== Omni-new", "Omni-new", False, True, "Omni-new", id="one of four, and open"),
        pytest.param("# Omni-new ------", None, False, True, "Omni-new", id="dashes behind the words only"),
        pytest.param("########", None, False, True, "", id="drawn with something else"),
        pytest.param("# a - b -- c", None, False, False, "a - b -- c", id="dashes in a sentence"),
    ],
)
def test_three_answers(comment: str, title: str | None, is_dividing: bool, has_line: bool, said: str) -> None:
    answers = ruler_title(comment), is_divider(comment), is_drawn(comment), get_words(comment)
    assert answers == (title, is_dividing, has_line, said)
