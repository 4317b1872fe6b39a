"""Conditions of which both sides changed different operands."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.merge.phrases.operands import with_operands
from runner_sync.model import Triple


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "merged"),
    [
        pytest.param(
            "a and not b or c", "a and not b", "(a and not b and not d) or c", "a and not b and not d", id="if"
        ),
        pytest.param("a and b", "a and b and c", "a(1) and b", "a(1) and b and c", id="one added, one changed"),
        pytest.param("a and b and c", "b and c", "a and b", "b", id="two removed"),
        pytest.param("a or b", "a and x or b", "a or b or c", "(a and x) or b or c", id="the other way round"),
        pytest.param("a or b and c", "x or b and c", "a or b and c and d", "x or (b and c and d)", id="nested"),
        pytest.param(
            '(a if b else "c") or d',
            '(a if b else "c") or d or e',
            '(a if b else "c") or d(1)',
            '(a if b else "c") or d(1) or e',
            id="brackets",
        ),
    ],
)
def test_changes_of_different_operands_both_come(base: str, omni: str, upstream: str, merged: str) -> None:
    """``if self.supports_mm_inputs and …`` of ``_dummy_run``, in vllm-omni 0.28.0rc1 and vllm-ascend 0.29.0rc1."""
    for word in ("if", "elif", "while"):
        sides = (f"{word} {test}:" for test in (base, omni, upstream))
        assert with_operands(*sides) == f"{word} {merged}:"


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param("if a or b:", "if a:", "if a or b and c:", id="one removed what the other changed"),
        pytest.param("if a or b:", "if x or b:", "if y or b:", id="both changed one operand"),
        pytest.param("if a or b:", "if a or b or c:", "if a or b or d:", id="both added at one place"),
        pytest.param("if a or b:", "if a:", "if b:", id="nothing would be left but what each kept"),
        pytest.param("if a or b:", "if a:", "if a or b or c:", id="one removed, one added"),
        pytest.param("if a:", "if a and b:", "if a or c:", id="the base has no operands"),
        pytest.param("if a or b:", "while a:", "if a or b or c:", id="another statement"),
        pytest.param("if a or b:  # both", "if a:", "if (a and c) or b:", id="a comment"),
        pytest.param("with a or b:", "with a:", "with (a and c) or b:", id="no condition"),
        pytest.param("if a or b or c:", "if a or x or y or z:", "if a or b or c(1):", id="two became three"),
    ],
)
def test_other_changes_are_no_merge_of_operands(base: str, omni: str, upstream: str) -> None:
    assert with_operands(base, omni, upstream) is None


def test_a_condition_with_both_changes_is_asked_about() -> None:
    unit = "def run(self):\n    {}\n        self.embed()\n    self.note(a, b)\n    return self.end()\n"
    sides = ("if a and not b or c:", "if a and not b:", "if (\n        (a and not b and not d)\n        or c\n    ):")
    result = merge(Triple(*map(unit.format, sides)))
    assert result.text == unit.format("if a and not b and not d:")
    assert [item.reason.kind for item in result.decisions] == ["both changed a condition"]
    assert merge(Triple(*map(unit.format, sides)), policy=PORT).text == result.text
