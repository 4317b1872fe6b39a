"""`check` reports a changed GPU helper where NPU has its code in place: with a lock, or an older one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from inlined_samples import NPU
from sync_samples import AR, GPU_AR, Trees, commit, lay_out, stay_at_home

from runner_sync import sync
from runner_sync.model import Finding

GPU = """\
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner


class GPUARModelRunner(OmniGPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)
        return self._build(rows, ids)

    def _build(self, rows, ids):
        hidden = self.on_host(rows.hidden)
        payloads = []
        for row in rows:
            payloads.append(self.flatten(row.payload))
        return self._finish_build(ids, hidden, payloads)

    def _finish_build(self, ids, hidden, payloads):
        self.accumulate(ids, payloads)
        return self.pack(ids, hidden, payloads)
"""

HELD = GPU.replace(
    """        return self._finish_build(ids, hidden, payloads)

    def _finish_build(self, ids, hidden, payloads):
""",
    "",
)
"""The twin with one helper, all of which NPU has in place."""

CHANGED = HELD.replace("self.accumulate(ids, payloads)", "if ids:\n            self.accumulate(ids, payloads)")


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


def start(trees: Trees, npu: str = NPU, gpu: str = HELD, *, locked: bool = True) -> None:
    """Commit the runners and, in a second commit, their lock, with or without the GPU texts."""
    lay_out(trees.omni, {GPU_AR: gpu, AR: npu})
    commit(trees.omni)
    if locked:
        trees.write_lock()
    else:
        options = trees.upgrade(trees.ascend_old, gpu=False)
        sync.apply(sync.lock(options), options)
    commit(trees.omni, "Lock")


def change(trees: Trees, files: dict[str, str]) -> None:
    lay_out(trees.omni, files)
    commit(trees.omni)


def drifted(trees: Trees, **options: object) -> list[Finding]:
    return [one for one in sync.check(trees.check(**options)).findings if one.code == "RS201"]


def forget_helpers(trees: Trees) -> None:
    """Make the lock one of an earlier version."""
    lock = trees.omni / "runner-sync.lock"
    lock.write_text(re.sub(r"^helpers = .*\n", "", lock.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    commit(trees.omni)


@pytest.mark.parametrize("since", [None, "HEAD~1"])
def test_a_changed_helper_is_reported_at_the_unit_that_has_its_code(trees: Trees, since: str | None) -> None:
    start(trees)
    change(trees, {GPU_AR: CHANGED})
    (finding,) = drifted(trees, changed_since=since)
    assert finding.unit == "NPUARModelRunner._output"
    assert finding.message.startswith(
        "`GPUARModelRunner._build` (vllm_omni/worker/gpu_ar_model_runner.py:9), which the GPU twin "
        "`GPUARModelRunner._output` calls and this unit has in place, changed since "
    )


@pytest.mark.parametrize("locked", [True, False], ids=["a lock of an earlier version", "a lock without GPU texts"])
def test_a_branch_that_changes_a_helper_is_told_without_a_record_of_it(trees: Trees, locked: bool) -> None:
    start(trees, locked=locked)
    if locked:
        forget_helpers(trees)
    change(trees, {GPU_AR: CHANGED})
    (finding,) = drifted(trees, changed_since="HEAD~1")
    assert "changed since the branch began, and this unit did not" in finding.message


CALLED = NPU.replace(
    "        hidden =",
    "        return self._build(rows, ids)\n\n    def _build(self, rows, ids):\n        hidden =",
)
OTHER = """\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)
        return self.device_queue.take(ids)
"""
REMARKED = HELD.replace("        payloads = []\n", "        # all of them\n        payloads = [ ]\n")
MOVED = HELD.replace("        return self._build(rows, ids)\n", "        return self._send(rows, ids)\n") + (
    "\n    def _send(self, rows, ids):\n        return self.queue.put(rows, ids)\n"
)


@pytest.mark.parametrize("since", [None, "HEAD~1"])
@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(OTHER, HELD, CHANGED, id="NPU does something else"),
        pytest.param(NPU, MOVED, MOVED.replace("if row", "if"), id="nothing changed"),
        pytest.param(NPU, MOVED, MOVED.replace("self.accumulate(ids,", "self.accumulate(rows,"), id="not called"),
        pytest.param(NPU, HELD, REMARKED, id="comments and layout"),
    ],
)
def test_a_helper_that_is_not_in_place_or_has_the_same_code_is_not_reported(
    trees: Trees, npu: str, was: str, now: str, since: str | None
) -> None:
    start(trees, npu, was)
    change(trees, {GPU_AR: now})
    assert drifted(trees, changed_since=since) == []


@pytest.mark.parametrize("since", [None, "HEAD~1"])
def test_a_helper_that_npu_has_as_well_is_reported_as_its_own_unit(trees: Trees, since: str | None) -> None:
    start(trees, CALLED)
    change(trees, {GPU_AR: CHANGED})
    assert [finding.unit for finding in drifted(trees, changed_since=since)] == ["NPUARModelRunner._build"]


def test_a_branch_that_changes_the_unit_too_only_asks_to_record_that(trees: Trees) -> None:
    start(trees)
    change(trees, {GPU_AR: CHANGED, AR: NPU.replace("self.accumulate(ids", "self.accumulate_rows(ids")})
    (finding,) = drifted(trees)
    assert (finding.severity, "this unit was edited since, too" in finding.message) == ("info", True)


def test_the_ignore_comment_accepts_one_text_of_the_helper(trees: Trees) -> None:
    start(trees)
    change(trees, {GPU_AR: CHANGED})
    (finding,) = drifted(trees)
    (comment,) = re.findall(r"`(# runner-sync: ignore[^`]*)`", finding.fix)
    trees.edit(AR, "    def _output", f"    {comment}\n    def _output")
    assert drifted(trees) == []
    change(trees, {GPU_AR: CHANGED.replace("if ids:", "if ids and payloads:")})
    assert len(drifted(trees)) == 1


def test_an_upgrade_ports_and_records_the_change_of_a_helper(trees: Trees) -> None:
    start(trees)
    change(trees, {GPU_AR: CHANGED})
    options = trees.upgrade(trees.ascend_old, verify=False)
    sync.apply(sync.upgrade(options), options)
    assert "        if ids:\n            self.accumulate(ids, payloads)\n" in (trees.omni / AR).read_text("utf-8")
    assert drifted(trees) == []
    again = sync.upgrade(replace(options, allow_dirty=True))
    assert (again.changes, again.lock) == ((), None)


@pytest.mark.parametrize("helpers_known", [True, False])
def test_lock_does_not_take_what_a_helper_gained_for_ported(trees: Trees, helpers_known: bool) -> None:
    start(trees)
    recorded = (trees.omni / "runner-sync.lock").read_text("utf-8")
    if not helpers_known:
        forget_helpers(trees)
    change(trees, {GPU_AR: CHANGED})
    planned = sync.lock(trees.upgrade(trees.ascend_old))
    assert planned.lock is None or planned.lock.after == recorded
    assert (planned.lock is None) == helpers_known


def test_lock_records_the_port_of_a_helper_that_was_made_by_hand(trees: Trees) -> None:
    start(trees)
    ported = NPU.replace(
        "        self.accumulate(ids, payloads)", "        if ids:\n            self.accumulate(ids, payloads)"
    )
    change(trees, {GPU_AR: CHANGED, AR: ported})
    options = trees.upgrade(trees.ascend_old)
    sync.apply(sync.lock(options), options)
    assert drifted(trees) == []
