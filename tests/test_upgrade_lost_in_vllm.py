"""Attributes that vLLM set and sets no more, in copies of what vllm-ascend still has."""

from __future__ import annotations

import pytest
from step_samples import MODULE, port_step

from runner_sync.upgrade.job import Hierarchy, Inherited

SETS = "        self.wide_rows = self.widen()\n"
START = f"    def start(self):\n        self.rows = 1\n{SETS}"
READS = "        if self.wide_rows:\n            self.count_wide(rows)\n"
STEP = f"""\
    def _step(self, rows):
        first = self.prepare(rows)
{READS}        kept = self.keep(first, rows)
        self.count_what_was_kept(kept)
        return self.fetch(rows, kept)
"""
OLD = f"{START}\n{STEP}"
GONE = OLD.replace(SETS, "").replace(READS, "")
GONE_STEP = STEP.replace(READS, "")
QUESTION = "self.wide_rows is read here, but nothing sets it any more"


def asked(
    *, vllm: str = GONE, target: dict[str, str] | None = None, gpu: str = GONE_STEP, npu: str = STEP, ascend: str = STEP
) -> list[str]:
    """The questions about what nothing sets; ``vllm`` is the new one, ``target`` the methods of the one to run on."""
    methods = {"start": START.replace(SETS, ""), "_step": GONE_STEP} if target is None else target
    hierarchy = Hierarchy(inherited={MODULE.name: Inherited(vllm=methods)})
    result = port_step(npu, ascend, vllm=(OLD, vllm), twin=(STEP, gpu), hierarchy=hierarchy)
    assert ("self.wide_rows:" in result.after) == (READS in npu)
    return [item.reason for item in result.reviews if "sets it any more" in item.reason]


def test_what_vllm_sets_no_more_is_asked_about_where_a_copy_still_reads_it() -> None:
    assert asked() == [QUESTION]


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param({"target": {"start": START, "_step": STEP}}, id="the vLLM to run on sets it"),
        pytest.param({"target": {}}, id="the vLLM to run on is not at hand"),
        pytest.param({"ascend": f"{STEP}\n    def widened(self):\n{SETS}"}, id="vllm-ascend sets it"),
        pytest.param({"npu": f"{STEP}\n    def widened(self):\n{SETS}"}, id="omni sets it"),
        pytest.param({"npu": GONE_STEP}, id="nothing here reads it"),
    ],
)
def test_what_is_set_or_unread_is_not_asked_about(setting: dict[str, str]) -> None:
    assert asked(**setting) == []
