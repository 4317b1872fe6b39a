"""How the work of the rules on target trees grows with the guards of one method."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from verify_samples import find, npu, world


def with_conditions(number: int) -> str:
    return f"    if a.x{number} and self.batch is not None:\n        self.batch.add(self.nope{number})\n"


def with_early_returns(number: int) -> str:
    return f"    if self.batch is None:\n        return None\n    self.batch.add({number}, self.nope{number})\n"


def with_tests_for_a_class(number: int) -> str:
    return f"    if isinstance(a, str):\n        a.x{number}.y(1)\n"


def with_spread_dictionaries(number: int) -> str:
    return f"    options = {{'key': {number}}}\n    helper(1, **options)\n"


def calls_made(step: Callable[[int], str], count: int) -> int:
    """How many calls of Python functions the rules make on a method of ``count`` steps."""
    trees = world(npu=npu("def m(self, a):\n    return a\n\ndef many(self, a):\n" + "".join(map(step, range(count)))))
    made = 0

    def note(_frame: FrameType, event: str, _: object) -> None:
        nonlocal made
        made += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        find(trees)
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize(
    "step", [with_conditions, with_early_returns, with_tests_for_a_class, with_spread_dictionaries]
)
def test_twice_the_guards_take_no_four_times_the_work(step: Callable[[int], str]) -> None:
    """What the second half of a method adds is less than twice what the first adds."""
    few, once, twice = (calls_made(step, count) for count in (1, 40, 80))
    assert once > few + 4_000
    assert twice - once < 2 * (once - few)
