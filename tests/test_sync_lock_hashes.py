"""After every run, the hashes of the lock are those of the texts that the run wrote."""

from __future__ import annotations

from itertools import permutations

import pytest
from sync_samples import AR, ASCEND, ASCEND_OLD, GPU_AR, Trees, commit, dedent, lay_out

from runner_sync import lock as locks
from runner_sync import sync
from runner_sync.verify.runners import locked
from runner_sync.verify.runners.reading import Reading

HALVES = {"gpu": {"upstream": False}, "upstream": {"gpu": False}}
BLOCK = """\
        if self.timer.is_wanted:
            self.wait_for_device()
            output.spent = self.timer.spent()

"""
THEIRS = f"""
    def _report(self, total):
        output = self.model.report(total)
        self.note(output)
{BLOCK}        return output
"""
OWN = f"""
    def _report(self, total):
        payload = self.stage.payload(total)
        for row in payload:
            self.stage.send(row)
        output = self.stage.output(payload)
        self.stage.end(output)
{BLOCK}        self.stage.begin(output)
        return output
"""
GAINED = ("self.stage.send(row)\n", "self.stage.send(row)\n            self.count(row)\n")


@pytest.fixture
def overridden(trees: Trees) -> Trees:
    """A locked checkout with an override that both halves of an upgrade change.

    The new vllm-ascend drops a block that the override has, too, and the GPU twin has a new line.
    """
    for path in (AR, GPU_AR):
        lay_out(trees.omni, {path: (trees.omni / path).read_text("utf-8") + OWN})
    commit(trees.omni)
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + THEIRS})
    commit(trees.ascend_old)
    trees.write_lock()
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + THEIRS.replace(BLOCK, "")})
    commit(trees.ascend_old)
    trees.edit(GPU_AR, *GAINED)
    commit(trees.omni)
    return trees


def read_lock(trees: Trees) -> dict[str, locks.Entry]:
    lock = locks.load((trees.omni / "runner-sync.lock").read_text("utf-8"))
    return {entry.qualname: entry for entry in lock.entries}


def find_stale(trees: Trees) -> list[tuple[str, str]]:
    """Return the unit and the key of each recorded hash that is not the text's, or that is missing."""
    found = []
    for name, entry in read_lock(trees).items():
        npu = Reading(entry.path, (trees.omni / entry.path).read_text("utf-8"))
        expected = dict(locked.hash_own(name, npu, label="Omni-new"))
        if entry.gpu is not None:
            gpu = Reading(entry.gpu.path, (trees.omni / entry.gpu.path).read_text("utf-8"))
            # Only for a twin as it was synced: its later text is what `check` reports.
            if locked.digest_now(gpu, entry.gpu.qualname) == entry.gpu.digest:
                expected |= dict(locked.hash_gpu(entry.gpu.qualname, gpu))
        found += [(name, key) for key, value in expected.items() if entry.extra.get(key) != value]
    return found


def run(trees: Trees, **rest: object) -> None:
    options = trees.upgrade(trees.ascend_old, vllm_base="0.20.0", verify=False, allow_dirty=True, **rest)
    sync.apply(sync.upgrade(options), options)


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("order", [*permutations(HALVES)])
def test_half_an_upgrade_records_what_it_changed(
    overridden: Trees, order: tuple[str, ...], *, is_committed: bool
) -> None:
    for half in order:
        run(overridden, **HALVES[half])
        assert find_stale(overridden) == []
        if is_committed:
            commit(overridden.omni)
    text = (overridden.omni / AR).read_text("utf-8")
    assert "self.timer" not in text
    assert "self.count(row)" in text
    assert sync.check(overridden.check(select=("RS110", "RS201"))).findings == ()


def test_a_twin_that_moved_on_is_reported_after_half_an_upgrade(overridden: Trees) -> None:
    """The other half changed the unit, which is no port of what the twin gained."""
    run(overridden, **HALVES["upstream"])
    (finding,) = sync.check(overridden.check(select=("RS201",))).findings
    assert (finding.severity, finding.unit) == ("warning", "NPUARModelRunner._report")


def test_an_edit_that_nobody_settled_stays_one(overridden: Trees) -> None:
    before = read_lock(overridden)
    overridden.edit(AR, 'info.get("stage")', "info.get(self.stage)")
    commit(overridden.omni)
    run(overridden, **HALVES["upstream"])
    assert find_stale(overridden) == [("NPUARModelRunner._stage_of", key) for key in locked.OWN_KEYS]
    after = read_lock(overridden)
    assert after["NPUARModelRunner._stage_of"] == before["NPUARModelRunner._stage_of"]
