"""A runner that is gone, or whose class is: ``check`` and ``upgrade`` refuse alike what nobody meant to lose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sync_samples import AR, BASE, GPU_AR, OMNI_TREE, Trees, commit, dedent, lay_out, stay_at_home

from runner_sync import sync
from runner_sync.errors import InputError


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
