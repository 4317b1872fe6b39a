"""The score of a replay, against counts made by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from runner_sync.score import (
    Score,
    changed_lines,
    normalise,
    normalise_part,
    score_kept,
    score_module,
    score_texts,
    unparse_methods,
)
from runner_sync.sync.replaying import Case, Replayed, row
from runner_sync.upgrade.job import ModuleResult

BEFORE = "a = 1\nb = 2\nc = 3\n"
TRUTH = "a = 1\nb = 20\nc = 3\nd = 4\n"
"""Three changed lines: ``b`` goes out and comes in, ``d`` comes in."""


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        pytest.param(TRUTH, Score(work=3, done=3, left=0, hit=3), id="all of the work"),
        pytest.param(BEFORE, Score(work=3, done=0, left=3, hit=0), id="none of it"),
        pytest.param(
            "a = 1\nb = 20\nc = 3\n", Score(work=3, done=2, left=1, hit=2), id="the edit but not the addition"
        ),
        pytest.param("a = 1\nb = 21\nc = 3\nd = 4\n", Score(work=3, done=3, left=2, hit=2), id="a wrong edit"),
        pytest.param("a = 1\nb = 20\nd = 4\n", Score(work=3, done=4, left=1, hit=3), id="a deletion too many"),
    ],
)
def test_score_of_a_module(tool: str, expected: Score) -> None:
    assert score_module(BEFORE, tool, TRUTH) == expected


def test_layout_and_comments_never_count() -> None:
    tool = "a=1 # one\n\nb = (\n  20\n)\nc = 3;d = 4"
    assert score_module(BEFORE, tool, TRUTH) == Score(3, 3, 0, 3)
    assert normalise(tool) == TRUTH


def test_a_module_that_does_not_parse_leaves_all_of_the_work() -> None:
    broken = score_module(BEFORE, "a = (\n", TRUTH)
    assert broken == Score(work=3, done=0, left=3, hit=0)
    assert broken.effort_left == 1.0


@pytest.mark.parametrize(
    ("score", "effort_left", "recall", "precision"),
    [
        (Score(10, 8, 4, 6), 0.4, 0.6, 0.75),
        (Score(0, 0, 0, 0), 0.0, 1.0, 1.0),
        (Score(0, 2, 2, 0), 1.0, 1.0, 0.0),
        (Score(4, 0, 4, 0), 1.0, 0.0, 1.0),
        (Score(4, 8, 6, 3), 1.5, 0.75, 0.375),
    ],
)
def test_shares(score: Score, effort_left: float, recall: float, precision: float) -> None:
    assert (score.effort_left, score.recall, score.precision) == (effort_left, recall, precision)


def test_scores_of_modules_add_up() -> None:
    assert Score(1, 2, 3, 4) + Score(10, 20, 30, 40) == Score(11, 22, 33, 44)


def test_overlap_is_that_of_multisets() -> None:
    """People add ``x`` twice, the tool once and a ``y``: one hit of two changes."""
    assert score_texts("", "x()\ny()\n", "x()\nx()\n") == Score(work=2, done=2, left=2, hit=1)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\n", "a\n", Counter()),
        ("a\nb\n", "a\n", Counter({("-", "b"): 1})),
        ("a\n", "a\nb\nb\n", Counter({("+", "b"): 2})),
        ("", "-- a\n++ b\n", Counter({("+", "-- a"): 1, ("+", "++ b"): 1})),
        ("a\n", "a\nb\f+ c\n", Counter({("+", "b\f+ c"): 1})),
    ],
)
def test_changed_lines(old: str, new: str, expected: Counter[tuple[str, str]]) -> None:
    assert changed_lines(old, new) == expected


MODULE = """
def gone(): return 0
class Runner:
    limit = 1
    def stays(self): return 1
    async def later(self): return 2
"""


def test_methods_are_functions_of_the_module_and_its_classes() -> None:
    assert dict(unparse_methods(MODULE)) == {
        "gone": "def gone():\n    return 0\n",
        "Runner.stays": "def stays(self):\n    return 1\n",
        "Runner.later": "async def later(self):\n    return 2\n",
    }


def test_kept_counts_only_methods_that_both_ends_have() -> None:
    """``gone`` is dropped and ``new`` added by people: neither counts; ``stays`` is one line out, one line in."""
    truth = (
        "class Runner:\n    def stays(self): return 10\n    def later(self): return 2\n    def new(self): return 3\n"
    )
    assert score_kept(MODULE.replace("async ", ""), MODULE.replace("async ", ""), truth) == Score(2, 0, 2, 0)
    assert score_kept(MODULE.replace("async ", ""), truth, truth) == Score(2, 2, 0, 2)


def test_a_kept_method_that_the_tool_dropped_is_all_left() -> None:
    """The released method has two lines: two insertions are left, and two deletions were done, none right."""
    truth = "class Runner:\n    def stays(self): return 1\n"
    assert score_kept(truth, "class Runner:\n    pass\n", truth) == Score(work=0, done=2, left=2, hit=0)


@pytest.mark.parametrize(("after", "expected"), [("f(a=1, b=2)\n", True), ("f(a=1, a=2)\n", False)])
def test_a_case_parses_when_the_compiler_takes_it(after: str, expected: bool) -> None:
    """The grammar alone lets a keyword through that is given twice, and nobody could import the module."""
    case = Case("P0", "1", "1", "1", "2")
    result = ModuleResult("runner.py", "f(a=1)\n", after)
    assert row(Replayed(case, (result,), {"runner.py": "f(a=1, b=2)\n"}, 1.0)).parses is expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param("x = ( 1 )", "x = 1", id="whole statements"),
        pytest.param("with  lock:", "with lock:\n    pass", id="a head without its suite"),
        pytest.param("    x = ( 1 )", "if 1:\n    x = 1", id="a suite without its head"),
        pytest.param("else :", "if 1:\n    pass\nelse:\n    pass", id="a clause without its statement"),
        pytest.param(
            "@ torch.no_grad( )", "@torch.no_grad()\ndef _():\n    pass", id="a decorator without its function"
        ),
        pytest.param("x = (", "x = (", id="no Python"),
    ],
)
def test_a_part_is_normalised_with_what_it_lacks_around_it(part: str, expected: str) -> None:
    assert normalise_part(part) == expected
