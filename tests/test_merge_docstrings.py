"""A docstring that both sides changed."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.merge.phrases.diff3 import diff3, merge_lines
from runner_sync.model import Triple

SUMMARY, ROWS, LIMIT = "Run a step.", "rows: what to run.", "limit: the most rows.\n            None for all."
OWN, NEW = "own: what omni adds.", "step: its number."


def write(*lines: str) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f'def run(self, rows, limit):\n    """{SUMMARY}\n\n    Args:\n{body}    """\n    return rows\n'


@pytest.mark.parametrize(
    ("omni", "upstream", "merged"),
    [
        pytest.param((ROWS, OWN, LIMIT), (ROWS, LIMIT, NEW), (ROWS, OWN, LIMIT, NEW), id="a line of each"),
        pytest.param(
            (ROWS, "limit: how many."), (ROWS, LIMIT, NEW), (ROWS, "limit: how many.", NEW), id="behind omni's"
        ),
        pytest.param(
            (ROWS, LIMIT, OWN), (ROWS, "limit: how many."), (ROWS, "limit: how many.", OWN), id="omni's behind"
        ),
        pytest.param((ROWS,), (ROWS, LIMIT, NEW), (ROWS, NEW), id="behind what omni removed"),
        pytest.param(
            ("rows: mine.", LIMIT), ("rows: new.", LIMIT, NEW), ("rows: mine.", LIMIT, NEW), id="one line of both"
        ),
    ],
)
def test_the_lines_of_a_docstring_are_merged_and_omnis_stand_where_both_changed_one(
    omni: tuple[str, ...], upstream: tuple[str, ...], merged: tuple[str, ...]
) -> None:
    """``_dummy_run`` of vllm-omni 0.16.0: upstream describes ``profile_seq_lens`` behind a line that omni changed."""
    result = merge(Triple(write(ROWS, LIMIT), write(*omni), write(*upstream)))
    assert (result.text, result.decisions) == (write(*merged), ())


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["a copy", "a port"])
def test_the_summary_that_omni_wrote_stays(policy: Policy) -> None:
    sides = (write(ROWS), write(ROWS).replace(SUMMARY, "Run omni's step."), write(ROWS).replace(SUMMARY, "Do a step."))
    assert merge(Triple(*sides), policy=policy).text == sides[1]


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["a copy", "a port"])
def test_a_docstring_that_both_added_is_omnis(policy: Policy) -> None:
    base = "def run(self, rows):\n    self.prepare(rows)\n    return rows\n"
    omni, upstream = (base.replace("    self", f'    """{told}"""\n    self') for told in ("Run mine.", "Other words."))
    result = merge(Triple(base, omni, upstream.replace("(rows)\n", "(rows, 1)\n")), policy=policy)
    assert (result.text, result.decisions) == (omni.replace("(rows)\n", "(rows, 1)\n"), ())


def test_a_port_leaves_the_docstring_that_omni_wrote() -> None:
    omni = write(ROWS, OWN)
    assert merge(Triple(write(ROWS), omni, write(NEW, ROWS)), policy=PORT).text == omni


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "merged"),
    [
        pytest.param("ab", "ab", "axb", "axb", id="upstream's change"),
        pytest.param("ab", "ayb", "ab", "ayb", id="omni's change"),
        pytest.param("a", "x", "ay", "xy", id="a change and an addition behind it"),
        pytest.param("a", "ya", "x", "yx", id="and in front of it"),
        pytest.param("", "x", "y", None, id="two additions"),
        pytest.param("a", "x", "y", None, id="two changes"),
        pytest.param("a", "x", "", None, id="a change and a removal"),
        pytest.param("a", "x", "x", "x", id="one change by both"),
    ],
)
def test_a_piece_is_merged_if_one_side_has_the_lines_of_the_base(
    base: str, omni: str, upstream: str, merged: str | None
) -> None:
    assert merge_lines(list(base), list(omni), list(upstream)) == (None if merged is None else list(merged))
    preferred = diff3(list(base), list(omni), list(upstream), merge_lines, prefer="omni")
    assert preferred == list(omni if merged is None else merged)
