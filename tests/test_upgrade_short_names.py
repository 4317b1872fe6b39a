"""A statement of the GPU twin that NPU has with a local in place of an attribute, or the attribute in place of it."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.merging.short_names import drop_named_otherwise

BASE = """def run(self, plan):
    count = plan.total
    if not plan.total:
        self.wait()
    self.begin(plan)
    return self.end(plan)
"""
NPU = BASE.replace("not plan.total", "count <= 0")
LACKING = """def run(self, plan):
    count = plan.total
    if self.is_first:
        self.start()
        self.begin(plan)
    # Ready.
    if count <= 0:
        self.leave()
    return self.end(plan)
"""
TWIN = BASE.replace("not plan.total", "plan.total <= 0")


@pytest.mark.parametrize(
    ("npu", "twin", "is_asked"),
    [
        pytest.param(NPU, TWIN, False, id="the attribute"),
        pytest.param(LACKING, TWIN, False, id="of a statement at another place"),
        pytest.param(NPU, TWIN.replace("<= 0", "<= 1"), True, id="another condition"),
        pytest.param(NPU.replace("    count =", "    count = 1\n    count ="), TWIN, True, id="a local set twice"),
        pytest.param(
            NPU.replace("    if", "    plan = self.cut(plan)\n    if"), TWIN, True, id="of another object now"
        ),
        pytest.param(NPU.replace("    if", "    plan.total = 1\n    if"), TWIN, True, id="set below"),
        pytest.param(NPU.replace("plan.total", "plan.count()"), TWIN, True, id="of a call"),
        pytest.param(NPU.replace("    return", "    if count <= 0:\n        pass\n    return"), TWIN, True, id="twice"),
    ],
)
def test_a_changed_condition(npu: str, twin: str, is_asked: bool) -> None:
    asked = merge(Triple(BASE, npu, twin), policy=PORT).decisions
    assert bool(drop_named_otherwise(asked, npu, twin)) == is_asked


@pytest.mark.parametrize(
    ("mine", "theirs", "is_asked"),
    [
        ("rows = cut(rows, plan.total)", "rows = cut(rows, count)", False),
        ("rows = cut(rows, plan.total)", "rows = cut(rows, size)", True),
        ("rows = cut(rows, plan.total)", "rows = cut(rows, count=count)", True),
    ],
)
def test_two_versions_of_an_addition(mine: str, theirs: str, is_asked: bool) -> None:
    npu, twin = (BASE.replace("    return", f"    {line}\n    return") for line in (mine, theirs))
    asked = merge(Triple(BASE, npu, twin), policy=PORT).decisions
    assert [item.reason.kind for item in asked] == ["both added versions"]
    assert bool(drop_named_otherwise(asked, npu, twin)) == is_asked
