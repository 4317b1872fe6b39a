"""``lock`` lists the units of the runners, and nothing that they lack."""

from __future__ import annotations

import pytest
from sync_samples import AR, GPU_AR, Trees, commit

from runner_sync import sync
from runner_sync.units import texts

STAGE = "    def _stage_of("
HELPER = "    def _widen(self, total):\n        return total\n\n"
CALLER = '        return info.get("stage")\n', '        return self._widen(info.get("stage"))\n'


def listed(trees: Trees, path: str) -> set[str]:
    """The units that the report of a lock lists of one module."""
    planned = sync.lock(trees.upgrade(trees.ascend_old, omni_base="HEAD~1"))
    return {unit.unit for unit in planned.report.units if unit.path == path}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("", id="a hook"),
        pytest.param("    def _forward(self, total):\n        return super()._forward(total)\n\n", id="an override"),
        pytest.param(
            "    def _forward(self, total):\n        self.stream = torch.cuda.Stream()\n"
            "        return super()._forward(total)\n\n",
            id="device code",
        ),
    ],
)
def test_members_that_npu_lacks_are_none_of_its_units(trees: Trees, more: str) -> None:
    commit(trees.omni)
    trees.edit(GPU_AR, STAGE, more + STAGE)
    commit(trees.omni)
    assert listed(trees, AR) == {"NPUARModelRunner._finish", "NPUARModelRunner._stage_of"}


def test_a_helper_that_a_port_would_bring_is_no_unit_yet(trees: Trees) -> None:
    commit(trees.omni)
    trees.edit(GPU_AR, STAGE, HELPER + STAGE)
    trees.edit(GPU_AR, *CALLER)
    commit(trees.omni)
    assert listed(trees, AR) == {"NPUARModelRunner._finish", "NPUARModelRunner._stage_of"}


def test_every_unit_that_is_there_is_listed(trees: Trees) -> None:
    """Also one of which neither side has anything, and a record, which is one unit."""
    record = "from typing import NamedTuple\n\n\nclass Seen(NamedTuple):\n    total: int\n\n\n"
    text = (trees.omni / AR).read_text("utf-8")
    (trees.omni / AR).write_text(record + text + "\n    def _own(self):\n        return Seen(1)\n", "utf-8")
    for _ in range(2):
        commit(trees.omni)
    units = set(texts.unit_texts((trees.omni / AR).read_text("utf-8"), AR))
    assert listed(trees, AR) == units
    assert {"Seen", "NPUARModelRunner._own"} <= units
