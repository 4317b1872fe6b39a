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
def test_two_contexts_that_have_lines_of_their_own_become_one(policy: Policy) -> None:
    base, omni = (text.replace("self.lock()", "self.lock(\n            1,\n        )") for text in (NESTED, MINE))
    upstream = FOLDED.replace("self.lock()", "self.lock(1)")
    result = merge(Triple(base, omni, upstream), policy=policy)
    assert result.text == upstream.replace('"run"', "'Run'").replace(
        "self.update(rows)\n", "self.update(rows)\n        self.mine(rows)\n"
    )
    assert result.decisions == ()


@COPY_AND_PORT
def test_two_contexts_of_which_upstream_exchanged_the_first_become_one(policy: Policy) -> None:
    """vllm-ascend 5def28dcd3, which no longer measures the time of ``set_ascend_forward_context``."""
    upstream = FOLDED.replace('timer("run")', 'self.record("run")')
    mine = NESTED.replace("self.update(rows)\n", "self.update(rows)\n            self.mine(rows)\n")
    result = merge(Triple(NESTED, mine, upstream), policy=policy)
    assert result.text == upstream.replace("self.update(rows)\n", "self.update(rows)\n        self.mine(rows)\n")
    assert result.decisions == ()


@COPY_AND_PORT
def test_two_contexts_with_a_comment_are_around_what_upstream_put_into_the_one(policy: Policy) -> None:
    omni = MINE.replace('timer("Run")', 'timer(\n        "Run",  # mine\n    )')
    result = merge(Triple(NESTED, omni, FOLDED), policy=policy)
    assert result.text.replace("\n\n", "\n") == omni.replace("prepare(rows)", "prepare(rows, self.limit)").replace(
        "        self.process", "            self.process"
    )


def test_a_second_context_that_upstream_joined_with_a_new_one_stays_in_the_first() -> None:
    upstream = NESTED.replace("with self.lock()", "with self.step(), self.lock()")
    triple = Triple(NESTED, MINE, upstream)
    assert in_one_form(triple).omni == MINE


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
