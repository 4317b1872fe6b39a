"""A worker follows a class that upstream moved to another module: ``worker_v1.py`` became ``worker.py`` in 0.13."""

from __future__ import annotations

import pytest
from sync_samples import ASCEND_NEW, Trees, commit, keys, lay_out

from runner_sync import sync, write
from runner_sync.naming import module_name

OMNI = "vllm_omni/platforms/npu/worker/npu_ar_worker.py"
NOW = "vllm_ascend/worker/worker.py"
THEN = "vllm_ascend/worker/worker_v1.py"
OWN = """\
from {module} import NPUWorker


class NPUARWorker(NPUWorker):
    def init_device(self):
        self.device = self._init_device()
        self.model_runner = NPUARModelRunner(self.config, self.device)
"""
UPSTREAM = """\
class NPUWorker:
    def init_device(self):
        self.device = self._init_device()
{more}        self.model_runner = NPUModelRunner(self.config, self.device)
"""
GAIN = "        self.prepare_workspace(self.device)\n"


def move(trees: Trees, *, imported: str = THEN, kept: bool = False) -> None:
    """Commit a vllm-ascend with ``THEN``, then one with ``NOW`` in its place, and an omni that imports ``imported``."""
    lay_out(trees.omni, {OMNI: OWN.format(module=module_name(imported))})
    (trees.ascend_old / NOW).unlink()
    lay_out(trees.ascend_old, {THEN: UPSTREAM.format(more="")})
    commit(trees.ascend_old)
    if not kept:
        (trees.ascend_old / THEN).unlink()
    lay_out(trees.ascend_old, {**ASCEND_NEW, NOW: UPSTREAM.format(more=GAIN)})
    commit(trees.ascend_old)


def merged(trees: Trees, base: str | None) -> str:
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, ascend_base=base, omni_base=trees.itself, verify=False))
    return next((change.after or "" for change in planned.changes if change.path == OMNI), "")


@pytest.mark.parametrize("base", ["HEAD~1", None])
def test_a_copy_gets_what_the_moved_class_gained(trees: Trees, base: str | None) -> None:
    move(trees)
    commit(trees.omni)
    assert GAIN in merged(trees, base)


def test_a_module_that_the_target_still_has_is_no_former_place(trees: Trees) -> None:
    move(trees, kept=True)
    commit(trees.omni)
    assert GAIN not in merged(trees, "HEAD~1")


def test_a_package_that_the_target_has_is_no_former_place(trees: Trees) -> None:
    """omni may import the class from the package, beside which an older tree had a module of the same name."""
    package = {"vllm_ascend/worker/__init__.py": "from vllm_ascend.worker.worker import NPUWorker\n"}
    lay_out(trees.omni, {OMNI: OWN.format(module="vllm_ascend.worker")})
    beside = {"vllm_ascend/worker.py": UPSTREAM.format(more=GAIN)}
    lay_out(trees.ascend_old, {**package, **beside, NOW: UPSTREAM.format(more="")})
    commit(trees.ascend_old)
    (trees.ascend_old / "vllm_ascend/worker.py").unlink()
    lay_out(trees.ascend_old, {**ASCEND_NEW, NOW: UPSTREAM.format(more=GAIN)})
    commit(trees.ascend_old)
    commit(trees.omni)
    assert GAIN in merged(trees, "HEAD~1")


def test_a_module_that_omni_does_not_import_is_no_former_place(trees: Trees) -> None:
    move(trees, imported=NOW)
    commit(trees.omni)
    assert GAIN not in merged(trees, "HEAD~1")


def test_the_lock_names_the_former_place(trees: Trees) -> None:
    move(trees)
    commit(trees.omni)
    planned = sync.lock(trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base=trees.itself))
    assert planned.lock is not None
    write.write([planned.lock], trees.omni)
    assert THEN in (trees.omni / "runner-sync.lock").read_text("utf-8")
    assert GAIN in merged(trees, None)
    options = trees.check(ascend=trees.ascend_old, select=("RS101",))
    assert ("RS101", "NPUWorker.init_device") in keys(sync.check(options))
