"""Modules that are started from a GPU runner or worker, and workers, which follow vLLM's own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_NEW,
    BASE,
    GPU_AR,
    OMNI_TREE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    stay_at_home,
)

from runner_sync import sync


@pytest.mark.parametrize("is_imported", [True, False])
def test_a_module_without_twin_is_started_where_another_one_imports_it(
    is_imported: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / AR).unlink()
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import NPUARModelRunner\n" if is_imported else ""
    lay_out(trees.omni, {BASE: wanted + dedent(OMNI_TREE[BASE])})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    started = [change for change in result.changes if change.path == AR]
    assert bool(started) == is_imported
    for change in started:
        assert "class NPUARModelRunner" in (change.after or "")
        assert [item.reason for item in result.report.reviews if item.path == AR]


def test_a_started_module_imports_nothing_from_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is meant to define for others is the twin's, and not that of vllm-ascend, which has fields of its own."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / AR).unlink()
    record = "class ExecuteModelState:\n    pass\n\n\n"
    head, cls, body = dedent(OMNI_TREE[GPU_AR]).partition("class ")
    keep = "\n    def _keep(self):\n        return ExecuteModelState()\n"
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import NPUARModelRunner\n"
    lay_out(
        trees.omni,
        {GPU_AR: head + record + cls + body + keep, BASE: wanted + dedent(OMNI_TREE[BASE])},
    )
    lay_out(trees.ascend_new, {ASCEND: dedent(ASCEND_NEW[ASCEND]).replace("class NPU", f"{record}class NPU", 1)})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    (started,) = [change.after or "" for change in result.changes if change.path == AR]
    assert "from vllm_omni.worker.gpu_ar_model_runner import ExecuteModelState\n" in started
    assert "npu_ar_model_runner import" not in started


def test_a_module_of_another_folder_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    config = f"""\
    [[extend-modules]]
    name = "NPUTalkerModelRunner"
    paths = ["vllm_omni/platforms/npu/talker/npu_talker_model_runner.py"]
    upstreams = [{{ project = "vllm-ascend", path = "{ASCEND}", name = "NPUModelRunner" }}]
    gpu = {{ project = "vllm-omni", path = "vllm_omni/talker/gpu_talker_model_runner.py", name = "GPUTalkerRunner" }}
    """
    (trees.omni / AR).unlink()
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import NPUARModelRunner\n"
    lay_out(trees.omni, {"runner-sync.toml": config, BASE: wanted + dedent(OMNI_TREE[BASE])})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    assert [change.path for change in result.changes if not change.before] == [AR]
    (started,) = (unit for unit in result.report.units if unit.path == AR)
    text = next(change.after or "" for change in result.changes if change.path == AR)
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)][1:]  # without the docstring
    assert started.ported == len(statements), "counted like the statements of any other unit"


WORKER = "vllm_omni/platforms/npu/worker/npu_ar_worker.py"
GPU_WORKER = "vllm_omni/worker/gpu_ar_worker.py"
VLLM_WORKER = "vllm/v1/worker/gpu_worker.py"
SET_UP = """\
    def init_device(self):
        self.device = self.choose_device()
        self.check_memory(self.device)
        self.snapshot = self.take_snapshot()
        self.seed = self.set_seed()
        self.runner = self.make_runner()
"""


def worker(name: str, body: str = SET_UP) -> str:
    return f"class {name}:\n{body}"


def test_what_vllm_changed_in_its_worker_is_not_ported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU worker took a line from vLLM and got one of omni's; NPU gets vLLM's from vllm-ascend, if it wants it."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.ascend_new, {"vllm_ascend/worker/worker.py": worker("NPUWorker")})
    commit(trees.ascend_new)
    topology = SET_UP.replace("        self.seed", "        self.check_topology()\n        self.seed")
    both = topology.replace("        self.runner", "        self.stage = self.find_stage()\n        self.runner")
    states = ((SET_UP, SET_UP), (topology, both))
    for vllm, gpu in states:
        lay_out(trees.vllm, {VLLM_WORKER: worker("Worker", vllm)})
        lay_out(trees.omni, {GPU_WORKER: worker("GPUARWorker", gpu), WORKER: worker("NPUARWorker")})
        commit(trees.vllm)
        commit(trees.omni)
    bases = {"ascend_base": "HEAD", "omni_base": "HEAD~1", "vllm_base": "HEAD~1"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, verify=False))
    text = next((change.after or "" for change in result.changes if change.path == WORKER), "")
    assert "self.stage = self.find_stage()" in text
    assert "check_topology" not in text


def test_a_worker_is_started_from_vllm_ascends_version_of_vllms_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    ascend = SET_UP.replace("self.take_snapshot()", "self.take_npu_snapshot()")
    edited = SET_UP.replace("        self.runner", "        self.stage = self.find_stage()\n        self.runner")
    lay_out(trees.vllm, {VLLM_WORKER: worker("Worker")})
    lay_out(trees.ascend_new, {"vllm_ascend/worker/worker.py": worker("NPUWorker", ascend)})
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_worker import NPUARWorker\n"
    gpu = "from vllm.v1.worker.gpu_worker import Worker\n\n\n" + worker("GPUARWorker(Worker)", edited)
    lay_out(trees.omni, {GPU_WORKER: gpu, BASE: wanted + dedent(OMNI_TREE[BASE])})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    text = next(change.after or "" for change in result.changes if change.path == WORKER)
    assert "self.stage = self.find_stage()" in text
    assert "self.take_npu_snapshot()" in text


def test_what_comes_beside_a_started_module_comes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook of the other runner, and the entries of the lock, came with the second run."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / BASE).unlink()
    options = trees.upgrade(trees.ascend_new, verify=False)
    result = check_upgrade(options)
    assert {change.path for change in result.changes} == {AR, BASE}
    assert "def _sample(" in next(change.after or "" for change in result.changes if change.path == AR)
    assert sync.upgrade(options).lock is None


def test_a_lock_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / BASE).unlink()
    planned = sync.lock(trees.upgrade(trees.ascend_new, omni_base=trees.itself))
    assert planned.changes == ()
    assert planned.lock is not None
    assert BASE not in (planned.lock.after or "")
