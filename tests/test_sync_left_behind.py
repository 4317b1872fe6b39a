"""A port since a named revision leaves out what came before it, and the lock does not count that as ported."""

from __future__ import annotations

import pytest
from sync_samples import AR, GPU_AR, GPU_BASE, GPU_TWIN, NPU_TWIN, Trees, commit, lay_out

from runner_sync import lock as locks
from runner_sync import sync
from runner_sync.sync.upgrade_options import UpgradeOptions

COLLECT, FETCH = "NPUARModelRunner._collect", "NPUARModelRunner._fetch"
FIRST = ("        first = rows[0]\n", "        self.note(rows)\n        first = rows[0]\n")
SECOND = ("return self.cache.get(rows, total)", "return self.cache.get(rows, total + 1)")
THIRD = ("self.keep(first)", "self.keep(first, 1)")
LASTING = "\n    def _close(self, rows):\n        return self._rank(rows)\n"
RANK = "\n    def _rank(self, rows):\n        return self.cache.rank(rows)\n"


@pytest.fixture
def locked(trees: Trees) -> Trees:
    """A checkout in step, whose lock has settled that NPU has no `_rank` of its own."""
    shared = (trees.omni / GPU_BASE).read_text("utf-8") + RANK.replace("self.cache.rank(rows)", "rows")
    older = RANK.replace("rank(rows)", "rank(rows, 0)")
    lay_out(trees.omni, {GPU_BASE: shared, AR: NPU_TWIN + LASTING, GPU_AR: GPU_TWIN + LASTING + older})
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    trees.edit(GPU_AR, "rank(rows, 0)", "rank(rows)")
    commit(trees.omni)
    assert run(trees, omni_base="HEAD~1").count("not ported: _close calls _rank") == 1
    commit(trees.omni)
    return trees


def change(trees: Trees, *changes: tuple[str, str]) -> None:
    for one in changes:
        trees.edit(GPU_AR, *one)
    commit(trees.omni)


def run(trees: Trees, **rest: object) -> str:
    """Port from the GPU runners, and return the questions and notes."""
    options = trees.upgrade(trees.ascend_old, vllm_base="0.20.0", verify=False, upstream=False, **rest)
    assert isinstance(options, UpgradeOptions)
    planned = sync.upgrade(options)
    sync.apply(planned, options)
    commit(trees.omni)
    return "\n".join([*(item.reason for item in planned.report.reviews), *planned.report.notes])


def find_drifted(trees: Trees) -> list[str]:
    return [finding.unit for finding in sync.check(trees.check(select=("RS201",))).findings]


def read_refs(trees: Trees) -> dict[str, str]:
    lock = locks.load((trees.omni / "runner-sync.lock").read_text("utf-8"))
    return {entry.qualname: entry.gpu.ref for entry in lock.entries if entry.gpu} | dict(lock.inputs)


def test_what_came_before_the_named_commit_is_still_to_do(locked: Trees) -> None:
    change(locked, FIRST)
    change(locked, SECOND)
    before = read_refs(locked)
    said = run(locked, omni_base="HEAD~1")
    text = (locked.omni / AR).read_text("utf-8")
    assert SECOND[1] in text
    assert FIRST[1] not in text
    assert "left out, because it is older than HEAD~1: what the GPU runners gained in NPUARModelRunner._collect" in said
    assert find_drifted(locked) == [COLLECT]
    assert [name for name, ref in read_refs(locked).items() if ref != before[name]] == [FETCH]
    run(locked)
    assert FIRST[1] in (locked.omni / AR).read_text("utf-8")
    assert find_drifted(locked) == []


def test_a_unit_that_changed_before_and_after_gets_the_rest_later(locked: Trees) -> None:
    change(locked, FIRST)
    change(locked, THIRD)
    run(locked, omni_base="HEAD~1")
    text = (locked.omni / AR).read_text("utf-8")
    assert THIRD[1] in text
    assert FIRST[1] not in text
    run(locked)
    text = (locked.omni / AR).read_text("utf-8")
    assert text.count(THIRD[1]) == 1
    assert text.count(FIRST[1]) == 1
    assert find_drifted(locked) == []


@pytest.mark.parametrize("base", ["HEAD~1", "HEAD~3"])
def test_nothing_is_left_out_after_the_lock_or_from_before_it(locked: Trees, base: str) -> None:
    """The lock was committed after the revision that it names, and a catching-up run names an older one."""
    change(locked, FIRST)
    assert "left out, because" not in run(locked, omni_base=base)
    assert FIRST[1] in (locked.omni / AR).read_text("utf-8")
    assert find_drifted(locked) == []


def test_what_was_settled_is_not_asked_with_every_commit(locked: Trees) -> None:
    change(locked, FIRST)
    assert "not ported: _close calls _rank" not in run(locked, omni_base="HEAD~1")
    change(locked, ("self.cache.rank(rows)", "self.cache.rank(rows, 1)"))
    assert "not ported: _close calls _rank" in run(locked, omni_base="HEAD~1")


ORDER = RANK.replace("_rank", "_order")
OPEN = LASTING.replace("_close", "_open").replace("_rank", "_order")


def test_a_method_that_came_before_the_named_commit_is_still_to_come(locked: Trees) -> None:
    """The lock keeps the revision up to which an upgrade has asked what NPU lacks."""
    files = {path: (locked.omni / path).read_text("utf-8") for path in (AR, GPU_AR, GPU_BASE)}
    added = {AR: OPEN, GPU_AR: OPEN + ORDER, GPU_BASE: ORDER.replace("self.cache.rank(rows)", "rows")}
    lay_out(locked.omni, {path: text + added[path] for path, text in files.items()})
    commit(locked.omni)
    change(locked, SECOND)
    before = read_refs(locked)["vllm-omni"]
    run(locked, omni_base="HEAD~1")
    assert "def _order(" not in (locked.omni / AR).read_text("utf-8")
    assert read_refs(locked)["vllm-omni"] == before
    run(locked)
    assert "def _order(" in (locked.omni / AR).read_text("utf-8")
    assert read_refs(locked)["vllm-omni"] != before


DRAIN = "\n    def _drain(self, rows):\n        return len(self._rank(rows))\n"


def test_a_settled_override_that_new_code_calls_first_is_asked_about(locked: Trees) -> None:
    """That NPU did without it says nothing about the new code."""
    for path in (AR, GPU_AR):
        locked.edit(path, LASTING, "")
    commit(locked.omni)
    change(locked, ("return self._fetch(rows, len(kept))\n", "return self._fetch(rows, self._drain(kept))\n" + DRAIN))
    assert "not ported: _drain, which is ported, calls _rank" in run(locked)
