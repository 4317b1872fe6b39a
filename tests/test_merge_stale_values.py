"""A line of omni's that reads a local which upstream's version of its setter no longer sets."""

from __future__ import annotations

import pytest
from merge_samples import kinds

from runner_sync.merge import PORT, merge
from runner_sync.model import Triple

FIRST = "def run(self, rows):\n    for k, row in enumerate(rows):\n        self.first(k, row)\n"
LOOP = "    for k, row in enumerate(self.others):\n        size = self.sizes[k]\n        self.second(row, size)\n"
ZIPPED = "    for row, size in zip(self.others, self.sizes):\n        self.second(row, size)\n"
OWN = "        self.mark[row] = k\n"
ASKED = "reads an older value"


def test_a_loop_variable_left_by_another_loop_is_asked_about() -> None:
    result = merge(Triple(FIRST + LOOP, FIRST + LOOP + OWN, FIRST + ZIPPED))
    assert result.text == FIRST + ZIPPED + OWN
    assert [item.reason.names for item in result.decisions if item.reason.kind == ASKED] == [("k",)]


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(FIRST + LOOP + OWN.replace("= k", "= size"), FIRST + ZIPPED, id="omni reads what is still set"),
        pytest.param(
            FIRST + LOOP + "        k = self.own(row)\n" + OWN, FIRST + ZIPPED, id="omni sets the local itself"
        ),
        pytest.param(
            FIRST + LOOP + OWN, FIRST + ZIPPED + "        k = self.at(row)\n", id="upstream sets it in another way"
        ),
        pytest.param(FIRST + LOOP + OWN, FIRST + LOOP.replace("size)", "size, k)"), id="the loop still sets it"),
        pytest.param(FIRST + LOOP + OWN, FIRST.replace("k", "n") + ZIPPED, id="nothing sets it: an unknown name"),
    ],
)
def test_any_other_local_is_not(omni: str, upstream: str) -> None:
    assert ASKED not in kinds(merge(Triple(FIRST + LOOP, omni, upstream)))


def test_a_port_asks_about_the_passage_anyway() -> None:
    assert ASKED not in kinds(merge(Triple(FIRST + LOOP, FIRST + LOOP + OWN, FIRST + ZIPPED), policy=PORT))
