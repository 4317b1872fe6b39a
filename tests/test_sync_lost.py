"""A runner that is gone, or whose class is: ``check`` and ``upgrade`` refuse alike what nobody meant to lose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sync_samples import AR, BASE, GPU_AR, OMNI_TREE, Trees, commit, dedent, lay_out, stay_at_home
from verify_samples import TextTree

from runner_sync import lock, sync, write
from runner_sync.config import Config
from runner_sync.errors import InputError
from runner_sync.model import Source
from runner_sync.sync.notes import run_notes
from runner_sync.sync.trees import inputs


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


def test_a_runner_that_was_deleted_is_not_made_anew_before_that_is_committed(trees: Trees) -> None:
    """From the GPU twin alone: what people had ported and left out by hand would be gone."""
    commit(trees.omni)
    (trees.omni / AR).unlink()
    restore = f"git checkout HEAD -- {AR}"
    said = rf"^{AR} is deleted and git has it: bring it back with `{restore}`, or commit that it is gone\.$"
    options = trees.check(ascend=trees.ascend_new, select=("RS4",))
    with pytest.raises(InputError, match=said):
        sync.upgrade(trees.upgrade(trees.ascend_new))
    with pytest.raises(InputError, match=said):
        sync.check(options)
    commit(trees.omni)
    assert sync.check(options)


def test_a_gpu_twin_that_was_deleted_is_missed_before_that_is_committed(trees: Trees) -> None:
    """Nothing was ported, and nothing said so; after the commit it is plain that there is no twin."""
    commit(trees.omni)
    (trees.omni / GPU_AR).unlink()
    options = trees.check(ascend=trees.ascend_new, select=("RS4",))
    for run in (lambda: sync.upgrade(trees.upgrade(trees.ascend_new)), lambda: sync.check(options)):
        with pytest.raises(InputError, match=rf"^{GPU_AR} is deleted and git has it: bring it back with `git checkout"):
            run()
    commit(trees.omni)
    assert sync.check(options)
    assert sync.upgrade(trees.upgrade(trees.ascend_new, verify=False))


@pytest.mark.parametrize("module", ["vllm_omni.platforms.npu.worker.npu_ar_model_runner", ".npu_ar_model_runner"])
def test_a_runner_that_the_lock_records_is_not_made_anew(trees: Trees, module: str) -> None:
    """Somebody imports it, so that it did not go on purpose; `lock` is for where it did."""
    wanted = f"from {module} import NPUARModelRunner\n"
    lay_out(trees.omni, {BASE: wanted + dedent(OMNI_TREE[BASE])})
    trees.write_lock()
    (trees.omni / AR).unlink()
    commit(trees.omni)
    options = trees.upgrade(trees.ascend_old, omni_base="HEAD", vllm_base="0.20.0", verify=False)
    with pytest.raises(InputError, match=f"records {AR}, and .* has no such runner: bring it back"):
        sync.upgrade(options)
    trees.write_lock()
    assert AR in {change.path for change in sync.upgrade(options).changes}


@pytest.mark.parametrize(("path", "name"), [(AR, "NPUARModelRunner"), (GPU_AR, "GPUARModelRunner")])
def test_a_renamed_class_is_found_by_the_line_that_the_refusal_names(trees: Trees, path: str, name: str) -> None:
    trees.edit(path, f"class {name}(", f"class {name}V2(")
    options = trees.upgrade(trees.ascend_new, verify=False)
    with pytest.raises(InputError) as refused:
        sync.upgrade(options)
    (line,) = re.findall(r"`(extend-classes = .*)`", str(refused.value))
    (trees.omni / "runner-sync.toml").write_text(line.replace("NEW_NAME", f"{name}V2"), "utf-8")
    npu = "NPUARModelRunnerV2" if path == AR else "NPUARModelRunner"
    units = sync.upgrade(options).report.units
    assert {unit.unit for unit in units if unit.path == AR} >= {f"{npu}._sample"}
    assert "RS203" in {f.code for f in sync.check(trees.check(ascend=trees.ascend_old, select=("RS203",))).findings}


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_new_lock_records_nothing_of_a_file_that_is_gone_and_says_so(trees: Trees, path: str) -> None:
    """One that named it would be refused by the next `check`, which asks for a new lock."""
    trees.write_lock()
    (trees.omni / path).unlink()
    planned = sync.lock(trees.upgrade(trees.ascend_old))
    assert planned.lock is not None
    entries = lock.load(planned.lock.after or "").entries
    assert path not in {entry.path for entry in entries} | {entry.gpu.path for entry in entries if entry.gpu}
    assert [
        note
        for note in planned.report.notes
        if f"no longer recorded, because the tree does not have it: {path}" in note
    ]
    write.write([planned.lock], trees.omni)
    assert sync.check(trees.check()).inputs


@pytest.mark.parametrize(
    ("ref", "vllm", "says"),
    [
        pytest.param("1a2b3c", "0.27.1", "is for vLLM 0.27.1", id="an older vLLM"),
        pytest.param("1a2b3c", "0.30.0", "", id="the same"),
        pytest.param("1a2b3c", None, "", id="one that nobody knows"),
        pytest.param("0.30.0rc2", "0.27.1", "", id="the vllm-ascend that is recorded"),
        pytest.param("0.26.0rc1", "0.27.1", "vllm-ascend 0.26.0rc1 is older than 0.30.0rc2", id="an older release"),
    ],
)
def test_a_step_back_is_told_by_the_vllm_where_vllm_ascend_does_not_tell(ref: str, vllm: str | None, says: str) -> None:
    version = ref if "." in ref else None
    ascend = TextTree(Source("vllm-ascend", "path", ref, version=version), {})
    given = inputs.Inputs(
        omni=ascend,
        root=None,
        config=Config(),
        lock=lock.Lock(inputs={"vllm-ascend": "0.30.0rc2", "vllm": "0.30.0"}),
        ascend=ascend,
        vllm=TextTree(Source("vllm", "path", "vllm", version=vllm), {}),
    )
    notes = run_notes.note_going_back(given)
    assert len(notes) == bool(says)
    assert says in "".join(notes)
