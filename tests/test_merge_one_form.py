"""A ``with`` of two contexts that one side writes as two."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.merge.preparing.one_form import in_one_form
from runner_sync.model import Triple

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
