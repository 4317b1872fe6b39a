"""What one side writes in another form than the others: ``elif``, and ``with`` of two contexts."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.merge.preparing.one_form import in_one_form
from runner_sync.model import Triple

BASE = """def run(self, rows):
    if self.fits:
        self.draft(rows)
    elif self.is_late:
        left = self.counted(rows)
        self.keep(left)
    return rows
"""
ADDED = (
    """    elif self.is_late:
        left = self.counted(rows)
        self.keep(left)
""",
    """    else:
        if self.is_late:
            left = self.counted(rows)
            self.keep(left)
        if self.ranks > 1:
            self.draft_nothing()
""",
)
EDITED = (
    "        self.keep(left)\n",
    "        self.keep(left)\n        # and nothing else\n        self.tokens = zeros(left)\n",
)
EXPECTED = """def run(self, rows):
    if self.fits:
        self.draft(rows)
    else:
        if self.is_late:
            left = self.counted(rows)
            self.keep(left)
            # and nothing else
            self.tokens = zeros(left)
        if self.ranks > 1:
            self.draft_nothing()
    return rows
"""


@pytest.mark.parametrize(
    ("omni", "upstream"), [pytest.param(EDITED, ADDED, id="upstream"), pytest.param(ADDED, EDITED, id="omni")]
)
def test_what_a_side_adds_beside_an_elif_leaves_the_others_in_it(
    omni: tuple[str, str], upstream: tuple[str, str]
) -> None:
    result = merge(Triple(BASE, BASE.replace(*omni), BASE.replace(*upstream)))
    assert result.text == EXPECTED
    assert result.decisions == ()


@pytest.mark.parametrize(
    "upstream",
    [
        pytest.param((ADDED[0], ADDED[1].replace("is_late", "is_early")), id="another condition"),
        pytest.param((ADDED[0], ADDED[1].rsplit("        if ", 1)[0]), id="nothing beside it"),
        pytest.param(("self.draft(rows)", "self.drafted(rows)"), id="no else"),
    ],
)
def test_an_elif_that_upstream_has_not_in_the_other_form_stays_one(upstream: tuple[str, str]) -> None:
    triple = Triple(BASE, BASE.replace(*EDITED), BASE.replace(*upstream))
    assert in_one_form(triple) == triple


def test_an_elif_that_omni_has_under_another_condition_stays_one() -> None:
    triple = Triple(BASE, BASE.replace("elif self.is_late", "elif self.is_late and rows"), BASE.replace(*ADDED))
    assert in_one_form(triple) == triple


def test_the_clauses_behind_an_elif_go_with_it() -> None:
    more = '        self.keep(left)\n    else:\n        self.say("""a\n  b""")\n'
    base, inner = (
        BASE.replace("        self.keep(left)\n", more),
        more.replace("    else", "        else").replace("self.", "    self."),
    )
    upstream = BASE.replace(ADDED[0], ADDED[1].replace("            self.keep(left)\n", inner))
    made = in_one_form(Triple(base, base.replace("self.draft(", "self.note("), upstream))
    assert made.base == upstream.replace("        if self.ranks > 1:\n            self.draft_nothing()\n", "")
    assert made.omni == made.base.replace("self.draft(", "self.note(")


NESTED = """def run(self, rows):
    with timer("run"):
        with self.lock():
            self.update(rows)
            self.prepare(rows)
        self.process(rows)
    return rows
"""
FOLDED = """def run(self, rows):
    with timer("run"), self.lock():
        self.update(rows)

        self.prepare(rows, self.limit)
        self.process(rows)
    return rows
"""


MINE = NESTED.replace('"run"', '"Run"').replace(
    "self.update(rows)\n", "self.update(rows)\n            self.mine(rows)\n"
)


COPY_AND_PORT = pytest.mark.parametrize("policy", [pytest.param(FOLLOW, id="a copy"), pytest.param(PORT, id="a port")])


@COPY_AND_PORT
def test_two_contexts_that_upstream_made_one_with_become_one(policy: Policy) -> None:
    result = merge(Triple(NESTED, MINE, FOLDED), policy=policy)
    assert result.text.replace("\n\n", "\n") == FOLDED.replace('"run"', '"Run"').replace("\n\n", "\n").replace(
        "self.update(rows)\n", "self.update(rows)\n        self.mine(rows)\n"
    )
    assert result.decisions == ()


@COPY_AND_PORT
def test_two_contexts_on_lines_of_their_own_are_around_what_upstream_put_into_the_one(policy: Policy) -> None:
    omni = MINE.replace('timer("Run")', 'timer(\n        "Run",\n    )')
    result = merge(Triple(NESTED, omni, FOLDED), policy=policy)
    assert result.text.replace("\n\n", "\n") == omni.replace("prepare(rows)", "prepare(rows, self.limit)").replace(
        "        self.process", "            self.process"
    )


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(NESTED.replace("self.lock()", "self.other()"), FOLDED, id="omni has another second context"),
        pytest.param(NESTED.replace("        with", "        self.note()\n        with"), FOLDED, id="not first in it"),
        pytest.param(
            NESTED,
            FOLDED.replace("with timer", "with (  # both\n        timer").replace("k():", "k()\n    ):"),
            id="a comment",
        ),
        pytest.param(FOLDED, NESTED, id="omni has the one"),
    ],
)
def test_a_with_of_two_contexts_that_omni_has_not_as_two_stays_one(omni: str, upstream: str) -> None:
    triple = Triple(NESTED, omni, upstream)
    assert in_one_form(triple) == triple
