"""Conditions of which both sides changed different operands."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.merge import FOLLOW, PORT, merge, settle_for
from runner_sync.merge.phrases.operands import find_added_guards, with_operands
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


@pytest.mark.parametrize(
    ("base", "side", "added"),
    [
        pytest.param("if a and b:", "if a and b and c:", ["c"], id="at the end"),
        pytest.param("elif a or b:", "elif (a and c) or b:", ["c"], id="to one operand"),
        pytest.param("if a and b or c:", "if x and a and b and y or c:", ["x", "y"], id="two"),
        pytest.param("if a:", "if a and b:", ["b"], id="to the only operand"),
        pytest.param("if a and b:", "if a and b or c:", [], id="more cases"),
        pytest.param("if a and b:", "if a(1) and b and c:", [], id="one changed, too"),
        pytest.param("if a and b:", "if a and c:", [], id="one replaced"),
        pytest.param("if a and b:", "if a:", [], id="one removed"),
        pytest.param("while a and b:", "while a and b and c:", [], id="a loop"),
        pytest.param("if a and b:", "elif a and b and c:", [], id="another statement"),
    ],
)
def test_operands_that_a_side_only_added_with_and(base: str, side: str, added: list[str]) -> None:
    assert find_added_guards(base, side) == added


def _unit(test: str, suite: str = "ids = None; rows = self.rows[:n]", *, more: str = "") -> str:
    body = "".join(f"        {line}\n" for line in suite.split("; "))
    rest = (
        "    else:\n        ids = self.ids[:n]\n        rows = None\n    self.note(ids, rows)\n    return self.end()\n"
    )
    return f"def run(self):\n    if {test}:\n{body}{more}{rest}"


OWN = "self.images and not self.audio"
OLD = f"{OWN} or self.given"
NEW = f"({OWN} and not self.raw) or self.given"
GIVEN = "    elif self.given:\n        ids = None\n        rows = self.rows[:n]\n"
PREPARED = "ids, rows = self._prepare(n); more = {**more, **self._images(n)}"


def test_what_upstream_added_for_its_own_suite_does_not_guard_another_one_of_omnis() -> None:
    """``requires_raw_input_tokens`` in vllm-ascend's ``_dummy_run``, and vllm-omni's ``_prepare_mm_inputs``."""
    omni = _unit(OWN, PREPARED, more=GIVEN)
    result = merge(Triple(_unit(OLD), omni, _unit(NEW)))
    assert result.text == omni
    (item,) = result.decisions
    assert (item.reason.kind, item.reason.names) == ("guard of another suite", ("not self.raw",))
    assert (item.line, item.end_line) == (2, 4)
    assert item.omni == item.chosen == textwrap.dedent("\n".join(omni.split("\n")[1:4]))
    assert item.upstream == f"if {NEW}:\n    ids = None\n    rows = self.rows[:n]"


def test_omnis_condition_stays_where_the_texts_alone_could_be_merged() -> None:
    omni = _unit(f"mine and {OLD}", PREPARED, more=GIVEN)
    result = merge(Triple(_unit(OLD), omni, _unit(NEW)))
    assert result.text == omni
    assert [item.reason.kind for item in result.decisions] == ["guard of another suite"]


@pytest.mark.parametrize(
    ("suite", "own"),
    [
        pytest.param("ids = None; self.embed(n)", "ids = None; self.embed(n)", id="the same"),
        pytest.param("ids = None; self.embed(n)", "ids = None; self._prepare(n)", id="one statement is the same"),
        pytest.param("ids = None", "ids = None; self._prepare(n)", id="one more"),
        pytest.param("self.embed(n, rows)", "self.embed(n, rows, images)", id="an edited statement"),
    ],
)
def test_what_upstream_added_guards_a_suite_like_upstreams(suite: str, own: str) -> None:
    result = merge(Triple(_unit(OLD, suite), _unit(OWN, own), _unit(NEW, suite)))
    assert result.text == _unit(f"{OWN} and not self.raw", own)
    assert "guard of another suite" not in [item.reason.kind for item in result.decisions]


@pytest.mark.parametrize(
    ("new", "own", "merged"),
    [
        pytest.param(
            NEW, PREPARED.replace("(n)", "(self.raw)", 1), f"{OWN} and not self.raw", id="it is about what omni uses"
        ),
        pytest.param(NEW, PREPARED.replace("_images", "rows"), f"{OWN} and not self.raw", id="it guards the same call"),
        pytest.param(OLD.replace("audio", "audio()"), PREPARED, f"{OWN}()", id="an operand changed"),
        pytest.param(NEW.replace("audio", "audio()"), PREPARED, f"{OWN}() and not self.raw", id="and added"),
    ],
)
def test_other_changes_of_a_condition_hold_for_any_suite(new: str, own: str, merged: str) -> None:
    suite = "ids = None; rows = self.rows(n)"
    omni = _unit(OWN, own, more=GIVEN.replace("[:n]", "(n)"))
    result = merge(Triple(_unit(OLD, suite), omni, _unit(new, suite)))
    assert result.text == omni.replace(OWN, merged)
    assert [item.reason.kind for item in result.decisions] == ["both changed a condition"]


def test_a_guard_comes_with_a_side_that_wins_all_conflicts_and_with_a_port() -> None:
    omni = _unit(OWN, PREPARED, more=GIVEN)
    for policy in (settle_for(FOLLOW, "upstream"), PORT):
        result = merge(Triple(_unit(OLD), omni, _unit(NEW)), policy=policy)
        assert result.text == omni.replace(OWN, f"{OWN} and not self.raw")
