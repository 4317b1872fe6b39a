"""A method of the GPU twin that was taken apart before this upgrade, while NPU still has all of it in one."""

from __future__ import annotations

import pytest
from sync_samples import AR, GPU_AR, GPU_TWIN, NPU_TWIN

from runner_sync.profile import NPU
from runner_sync.upgrade.job import GpuTwin, Hierarchy, Inherited, ModuleJob, ModuleResult
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

MODULE = next(module for module in NPU.modules if module.name == "NPUARModelRunner")
NPU_CLASS, GPU_CLASS = (text[: text.index("    def ")] for text in (NPU_TWIN, GPU_TWIN))
COMMON = "        self.check(self.state)\n" + "".join(f"        self.step_{number}(rows)\n" for number in range(4))
RUN = "    def run(self, rows):\n"
ENDING = "        kept = self.keep(first)\n        self.note(kept)\n        return self.close(kept)\n"
WHOLE = f"{RUN}{COMMON}        first = rows[0]\n{ENDING}"
STORED = "        self.state = rows[0]\n"
HALF = f"{RUN}{COMMON}{STORED}        return None\n"
TAKE = f"\n    def take(self):\n        first = self.state\n{ENDING}"


def upgraded(npu: str, *sides: str) -> ModuleResult:
    """The NPU class after an upgrade whose GPU twin had ``sides``, the last of them now."""
    *before, new = (ModuleRevision(f"0.{at}", GPU_CLASS + text, GPU_AR) for at, text in enumerate(sides))
    twin = GpuTwin(new=new, bases=tuple(GpuBase(side, lambda: None) for side in before))
    hierarchy = Hierarchy(inherited={MODULE.name: Inherited(members={"take": None})})
    return upgrade_module(ModuleJob(NPU, MODULE, AR, NPU_CLASS + npu, twin=twin, hierarchy=hierarchy))


def test_the_other_half_of_a_method_comes_with_the_port_that_takes_it_away() -> None:
    """``sample_tokens`` of the generation runner stayed out of 0.14.0, because the twin of 0.14.0rc1 had it."""
    after = upgraded(
        WHOLE, WHOLE, HALF + TAKE, HALF.replace(STORED, f"{STORED}        self.count(rows)\n") + TAKE
    ).after
    assert STORED in after
    assert "def take(self):" in after
    assert after.count("self.note(kept)") == 1


@pytest.mark.parametrize(
    ("npu", "was"),
    [
        pytest.param(WHOLE, WHOLE + TAKE, id="the base of the method has it"),
        pytest.param(HALF, WHOLE, id="npu has lost those statements itself"),
        pytest.param(
            WHOLE.replace("        self.note(kept)\n", ""),
            WHOLE.replace("        self.note(kept)\n", ""),
            id="two statements are no half",
        ),
    ],
)
def test_a_member_that_npu_has_long_done_without_stays_out(npu: str, was: str) -> None:
    now = HALF.replace(STORED, f"{STORED}        self.count(rows)\n") + TAKE
    assert "def take(" not in upgraded(npu, was, HALF + TAKE, now).after


SPLIT_LATER = HALF.replace(STORED, f"{STORED}        self.count(rows)\n") + TAKE


def test_the_other_half_stays_out_where_the_port_leaves_the_method_whole() -> None:
    own_exit = WHOLE.replace(ENDING, f"        if self.npu:\n            return self.npu_end(first)\n{ENDING}")
    after = upgraded(own_exit, WHOLE, HALF + TAKE, SPLIT_LATER).after
    assert "self.npu_end(first)" in after
    assert "def take(" not in after


def test_a_member_that_had_the_statements_beside_the_method_is_no_half_of_it() -> None:
    """At the second base both have them: the method lost them, and the member did not get them from it."""
    assert "def take(" not in upgraded(WHOLE, WHOLE, WHOLE + TAKE, SPLIT_LATER).after
