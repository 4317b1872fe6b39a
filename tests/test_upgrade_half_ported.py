"""Halves of a feature: which locals of the GPU twin a port brought without what reads them."""

from __future__ import annotations

import pytest

from runner_sync.merge import Reason
from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.half_ported import half_ported

OLD = "def run(self, rows):\n    self.note(rows)\n    return self.finish(rows)\n"
NEW = (
    "def run(self, rows):\n    plan = self.plan_of(rows)\n    if plan.is_long:\n        self.note(rows)\n"
    "    self.reserve(rows, plan)\n    return self.finish(rows)\n"
)
HALF = NEW.replace("    self.reserve(rows, plan)\n", "")
INLINE = OLD.replace("self.note(rows)", "self.note(self.plan_of(rows))")


REFUSED = NEW.replace(
    "    self.reserve(rows, plan)\n", "    if plan and self.mixin_has(rows):\n        self.reserve(rows, plan)\n"
)


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


def _without_mixin(canon: str) -> Reason | None:
    return Reason("needs an absent member", ("mixin_has",)) if "mixin_has" in canon else None


@pytest.mark.parametrize(
    ("result", "found"),
    [
        pytest.param(HALF, set(), id="what the local is for is here"),
        pytest.param(
            OLD.replace("    self.note", "    plan = self.plan_of(rows)\n    self.note"), {"plan"}, id="nothing is"
        ),
    ],
)
def test_a_suite_that_is_refused_is_a_feature_of_its_own(result: str, found: set[str]) -> None:
    """`sample_tokens` of vllm-omni 0.24.0 hands `inter_stage_outputs` on, and a mixin that NPU lacks counts it, too."""
    assert half_ported(Triple(OLD, OLD, REFUSED), result, veto=_without_mixin) == found
    assert half_ported(Triple(OLD, OLD, REFUSED), HALF) == {"plan"}
