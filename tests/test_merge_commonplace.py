"""Which ways out are one: the case of a replaced condition, which has no similar head to go by."""

from __future__ import annotations

import pytest

from runner_sync.merge import merge
from runner_sync.merge.matching.commonplace import pair_commonplace
from runner_sync.merge.matching.pairs import Pair
from runner_sync.model import Triple
from runner_sync.statements import flatten

GUARD = "if self.has_talker:\n    return\nself.run()\n"

# Another text, the place of its `return`, whether the two conditions are a pair, and whether the two `return` stay one.
WAYS_OUT = {
    "a condition that was replaced as a whole": ("if self.off:\n    return\nself.run()\n", 1, False, True),
    "the same condition": (GUARD, 1, True, True),
    "under one more condition": ("if self.has_talker:\n    if self.off:\n        return\n", 2, True, True),
    "out of a suite that is new": ("with self.pool:\n    if self.off:\n        return\n", 2, False, False),
    "of the condition behind": ("if self.has_talker:\n    pass\nif self.off:\n    return\n", 3, True, False),
}


@pytest.mark.parametrize("name", WAYS_OUT)
def test_ways_out(name: str) -> None:
    other, place, are_paired, stays = WAYS_OUT[name]
    left, right = flatten(GUARD), flatten(other)
    assert left[1].canon == right[place].canon == "return"
    ways_out = Pair(1, place, equal=True)
    pairs = [Pair(0, 0, equal=True), ways_out] if are_paired else [ways_out]
    assert (ways_out in pair_commonplace(left, right, pairs)) is stays


TAKEN_BACK = """def run(self, rows):
    with self.pool:
        if self.is_pooling:
            output = self.pooled(rows)
            return output
        logits = self.model(rows)
    return self.later(logits)
"""


def test_a_local_that_omni_gives_back_elsewhere_is_not_the_one_that_upstream_gives_back_no_more() -> None:
    mine = """def run(self, rows):
    output = Output(self.blocks)
    if not self.is_async:
        return output
    return Later(output)
"""
    upstream = TAKEN_BACK.replace(
        "output = self.pooled(rows)\n            return output", "return self.pooled(rows, 1)"
    )
    assert merge(Triple(TAKEN_BACK, mine, upstream)).text == mine


def test_a_local_that_is_given_back_in_one_suite_goes_with_upstream() -> None:
    mine = TAKEN_BACK.replace("            return", "            self.note(output)\n            return")
    upstream = TAKEN_BACK.replace("            return output\n", "            self.sent = output\n")
    assert "return output" not in merge(Triple(TAKEN_BACK, mine, upstream)).text
