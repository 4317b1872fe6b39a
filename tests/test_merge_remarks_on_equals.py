"""Upstream's new comments on a statement that omni has added as well, and keeps where it has it."""

from __future__ import annotations

import pytest

from runner_sync.merge import merge
from runner_sync.model import Triple

BASE = "def run(self, rows):\n    self.start()\n    self.stop()\n"
BOTH = "    if self.has_pool():\n        plan = rows.plan\n{}    self.stop()\n"
OWN = "        if plan is not None:\n            self.pool.evict(plan)\n"
OMNI = BASE.replace("    self.stop()\n", BOTH.format(OWN))
REMARK = "        # Before the slots are given\n        # to other rows.\n"
THEIRS = f"        assert plan is not None\n{REMARK}        self.pool.evict(plan)\n"
UPSTREAM = BASE.replace("    self.stop()\n", BOTH.format(THEIRS))
HERE = REMARK.replace("        #", "            #")


def test_they_come_in_above_omnis() -> None:
    merged = merge(Triple(BASE, OMNI, UPSTREAM))
    assert merged.text == OMNI.replace("            self.pool", f"{HERE}            self.pool")
    assert [item.reason.kind for item in merged.decisions] == ["both added under other conditions"]


def test_the_blank_line_above_omnis_stays_above_them() -> None:
    omni = OMNI.replace("            self.pool", "            self.note(plan)\n\n            self.pool")
    merged = merge(Triple(BASE, omni, UPSTREAM))
    assert merged.text == omni.replace("            self.pool", f"{HERE}            self.pool")


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(
            OMNI.replace(
                "            self.pool",
                "            # before the slots are given to another row\n            self.pool",
            ),
            UPSTREAM,
            id="omni says the same",
        ),
        pytest.param(
            OMNI,
            UPSTREAM.replace(f"{REMARK}        self", "        self.note(rows)\n        self"),
            id="there are none",
        ),
        pytest.param(
            OMNI.replace("evict(plan)", "drop(plan)"), UPSTREAM.replace(REMARK, ""), id="omni has another one"
        ),
    ],
)
def test_noop(omni: str, upstream: str) -> None:
    merged = merge(Triple(BASE, omni, upstream))
    assert "to other rows" not in merged.text
