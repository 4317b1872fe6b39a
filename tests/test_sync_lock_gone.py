"""An upgrade drops the lock entries of units that are gone, and no others."""

from __future__ import annotations

import pytest
from sync_samples import AR, BASE, GPU_AR, Trees, commit

from runner_sync import lock as locks
from runner_sync import sync
from runner_sync.sync.upgrade_options import UpgradeOptions

OLD, NEW = "_stage_of", "_phase_of"


@pytest.fixture
def renamed(trees: Trees) -> Trees:
    """A locked checkout, in which a GPU method got another name since."""
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    trees.edit(GPU_AR, OLD, NEW)
    commit(trees.omni)
    return trees


def port(trees: Trees, **rest: object) -> UpgradeOptions:
    """Options of `upgrade --gpu-only`."""
    return trees.upgrade(trees.ascend_old, vllm_base="0.20.0", upstream=False, **rest)


def run(trees: Trees, options: UpgradeOptions) -> set[str]:
    """Carry the upgrade out, and return the names of the units in the lock that it leaves."""
    planned = sync.upgrade(options)
    sync.apply(planned, options)
    return {entry.qualname for entry in locks.load((trees.omni / "runner-sync.lock").read_text("utf-8")).entries}


@pytest.mark.parametrize("is_on_both_sides", [False, True])
def test_a_rename_leaves_no_entry_of_the_old_name(renamed: Trees, *, is_on_both_sides: bool) -> None:
    if is_on_both_sides:
        renamed.edit(AR, OLD, NEW)
        commit(renamed.omni)
    recorded = run(renamed, port(renamed))
    assert f"def {OLD}" not in (renamed.omni / AR).read_text("utf-8")
    assert f"NPUARModelRunner.{OLD}" not in recorded
    assert (f"NPUARModelRunner.{NEW}" in recorded) == is_on_both_sides
    assert "NPUARModelRunner._finish" in recorded
    assert sync.check(renamed.check(select=("RS111",))).findings == ()


def test_an_upgrade_of_one_unit_keeps_the_entries_of_the_others(renamed: Trees) -> None:
    renamed.edit(AR, OLD, NEW)
    commit(renamed.omni)
    assert f"NPUARModelRunner.{OLD}" in run(renamed, port(renamed, only=("_finish",)))
    commit(renamed.omni)
    assert f"NPUARModelRunner.{OLD}" not in run(renamed, port(renamed, only=("NPUARModelRunner.*",)))


def test_entries_of_another_module_stay(renamed: Trees) -> None:
    """The profile does not name it, and `check` tells so."""
    file = renamed.omni / "runner-sync.lock"
    text = file.read_text("utf-8")
    lock = locks.load(text)
    foreign = [locks.Entry(f"{BASE}.old", "Other.run", one.upstream, one.gpu) for one in lock.entries[:1]]
    file.write_text(locks.dump(locks.merge(lock, foreign)), "utf-8")
    commit(renamed.omni)
    assert "Other.run" in run(renamed, port(renamed))


@pytest.mark.parametrize("is_whole", [True, False])
def test_an_upgrade_forgets_the_twin_of_a_method_that_the_gpu_runner_no_longer_has(
    renamed: Trees, *, is_whole: bool
) -> None:
    """NPU's own form of it stays, and half an upgrade leaves the same lock as a whole one."""
    renamed.edit(GPU_AR, NEW, OLD)
    renamed.edit(AR, 'return info.get("stage")', "return self.stage.of(info)")
    commit(renamed.omni)
    options = port(renamed)
    sync.apply(sync.upgrade(options), options)
    commit(renamed.omni)
    text = (renamed.omni / GPU_AR).read_text("utf-8")
    (renamed.omni / GPU_AR).write_text(text.partition(f"    def {OLD}")[0].rstrip() + "\n", "utf-8")
    commit(renamed.omni)
    recorded = run(renamed, port(renamed) if not is_whole else renamed.upgrade(renamed.ascend_old, vllm_base="0.20.0"))
    assert f"def {OLD}" in (renamed.omni / AR).read_text("utf-8")
    assert f"NPUARModelRunner.{OLD}" not in recorded
    assert "NPUARModelRunner._finish" in recorded
    assert sync.check(renamed.check(select=("RS201",))).findings == ()
