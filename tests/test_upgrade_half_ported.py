"""Halves of a feature: which locals of the GPU twin a port brought without what reads them."""

from __future__ import annotations

import pytest

from runner_sync.model import Triple
from runner_sync.upgrade.half_ported import half_ported

OLD = "def run(self, rows):\n    self.note(rows)\n    return self.finish(rows)\n"
NEW = (
    "def run(self, rows):\n    plan = self.plan_of(rows)\n    if plan.is_long:\n        self.note(rows)\n"
    "    self.reserve(rows, plan)\n    return self.finish(rows)\n"
)
HALF = NEW.replace("    self.reserve(rows, plan)\n", "")
INLINE = OLD.replace("self.note(rows)", "self.note(self.plan_of(rows))")


@pytest.mark.parametrize(
    ("mine", "result", "foreign", "found"),
    [
        pytest.param(OLD, HALF, "", {"plan"}, id="a reader is missing"),
        pytest.param(OLD, NEW, "", set(), id="all of it came"),
        pytest.param(OLD, OLD, "", set(), id="nothing of it came"),
        pytest.param(OLD, NEW.replace("rows, plan", "own, plan"), "", set(), id="a reader in words of NPU's"),
        pytest.param(OLD, HALF, "self.reserve(rows, plan)", set(), id="the reader is a third party's"),
        pytest.param(INLINE, HALF, "", set(), id="NPU has the value in place"),
        pytest.param(HALF, HALF, "", set(), id="NPU knows the name"),
    ],
)
def test_half_ported(mine: str, result: str, foreign: str, found: set[str]) -> None:
    assert half_ported(Triple(OLD, mine, NEW), result, {foreign}) == found
