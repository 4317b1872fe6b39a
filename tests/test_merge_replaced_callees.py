"""Calls of omni's own to a function that upstream replaced."""

from __future__ import annotations

import pytest

from runner_sync.merge import merge
from runner_sync.model import Triple

HEAD, OLD, LAST = "def run(self, rows):\n", "    scores = self.score(rows)\n", "    return scores\n"
NEW = "    scores = self.score_on(rows, self.plan)\n"
OWN = (
    "    if self.is_wide:\n        scores = self.score(rows, self.wide)\n    else:\n        scores = self.score(rows)\n"
)

TRIED = OWN.replace("if self.is_wide", "try").replace("else:", "except TypeError:")


@pytest.mark.parametrize(
    ("omni", "upstream", "asked"),
    [
        pytest.param(OWN, NEW, ["scores = self.score(rows, self.wide)"], id="the old one in omni's branch"),
        pytest.param(OWN, "    self.note(rows)\n" + OLD, [], id="not replaced"),
        pytest.param(OWN, "    self.score(self.warm)\n" + NEW, [], id="still called"),
        pytest.param(
            TRIED,
            "    self.score(self.warm)\n" + NEW,
            ["scores = self.score(rows, self.wide)"],
            id="still called, and omni's call has it as its fallback",
        ),
        pytest.param(
            TRIED, "    self.score(self.warm)\n    scores = keep(self.score(rows))\n", [], id="it is still the fallback"
        ),
        pytest.param(
            TRIED.replace("try:\n        scores =", "try:\n        wide ="),
            "    self.score(self.warm)\n" + NEW,
            [],
            id="the fallback of something else",
        ),
        pytest.param(OWN.replace("self.score(rows, self", "self.rate(rows, self"), NEW, [], id="another in the branch"),
        pytest.param(
            OWN.replace("scores = self.score(rows, self", "wide = self.score(rows, self"), NEW, [], id="set elsewhere"
        ),
    ],
)
def test_omni_s_own_call_of_what_upstream_replaced_is_asked_about(omni: str, upstream: str, asked: list[str]) -> None:
    merged = merge(Triple(HEAD + OLD + LAST, HEAD + omni + LAST, HEAD + upstream + LAST))
    kinds = [item for item in merged.decisions if item.reason.kind == "calls what was replaced"]
    assert [item.omni for item in kinds] == asked


def test_the_question_shows_the_new_call() -> None:
    merged = merge(Triple(HEAD + OLD + LAST, HEAD + OWN + LAST, HEAD + NEW + LAST))
    (item,) = [item for item in merged.decisions if item.reason.kind == "calls what was replaced"]
    assert (item.reason.names, item.upstream) == (("self.score",), NEW.strip())
