"""A method that omni moved out of a GPU runner is followed as if the runner still defined it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, GPU_BASE, OMNI_TREE, STAGE, Trees, check_upgrade, code_of, commit, keys, lay_out

from runner_sync import sync
from runner_sync.sync.classes.whole_classes import read_whole
from runner_sync.sync.trees.inputs import open_omni

STEPS = "vllm_omni/worker/steps.py"
SPLITS = ("same file", "other file", "grandparent", "base class")
FOLLOWED = STAGE.replace("is None", "is None or not info")
"""What the GPU runner makes of it, and NPU is to get."""


def split(root: Path, where: str) -> None:
    """Move `_stage_of` of the GPU runner into a base class."""
    text = (root / GPU_AR).read_text("utf-8")
    stage = STAGE if STAGE in text else FOLLOWED
    assert stage in text
    text, moved = text.replace(stage, ""), f"class Steps:\n{stage}"
    if where == "base class":
        file = root / GPU_BASE
        file.write_text(f"{file.read_text('utf-8')}\n{stage}", "utf-8")
        lay_out(root, {GPU_AR: text})
        return
    head, _, body = text.partition("class GPUARModelRunner(OmniGPUModelRunner):")
    if where == "same file":
        head += f"{moved}\n\n"
    elif where == "other file":
        head = f"from vllm_omni.worker.steps import Steps\n{head}"
        lay_out(root, {STEPS: moved})
    else:
        head = f"from .steps import Steps\n{head}"
        bare = {"vllm_omni/worker/bare.py": moved.replace("Steps", "Bare")}
        lay_out(root, {STEPS: "from .bare import Bare\n\n\nclass Steps(Bare):\n    pass\n", **bare})
    lay_out(root, {GPU_AR: f"{head}class GPUARModelRunner(Steps, OmniGPUModelRunner):{body}"})


def follow(root: Path, old: str, new: str) -> str:
    """Put ``new`` in place of ``old`` where the GPU runners have it; return that file."""
    (file,) = [one for one in (root / "vllm_omni/worker").glob("*.py") if old in one.read_text("utf-8")]
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    return file.relative_to(root).as_posix()


@pytest.mark.parametrize("where", SPLITS[:3])
def test_an_upgrade_across_a_split_is_the_upgrade_without_it(tmp_path: Path, where: str) -> None:
    told = []
    for is_split in (False, True):
        trees = Trees(tmp_path / str(is_split))
        commit(trees.omni)
        follow(trees.omni, STAGE, FOLLOWED)
        if is_split:
            split(trees.omni, where)
        commit(trees.omni)
        options = trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False)
        questions = sorted(item.reason for item in check_upgrade(options).report.reviews)
        told.append((code_of(trees)[AR], questions))
    assert "info is None or not info" in told[0][0], "what the GPU runner gained"
    assert told[0] == told[1]


@pytest.mark.parametrize("where", SPLITS)
def test_a_change_after_the_split_is_found_from_the_lock(tmp_path: Path, where: str) -> None:
    trees = Trees(tmp_path)
    split(trees.omni, where)
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    assert ("RS201", "GPUARModelRunner._stage_of") not in keys(sync.check(trees.check()))
    place = follow(trees.omni, STAGE, FOLLOWED)
    commit(trees.omni)
    report = sync.check(trees.check())
    assert ("RS201", "GPUARModelRunner._stage_of") in keys(report)
    (finding,) = (one for one in report.findings if one.code == "RS201")
    lines = (trees.omni / place).read_text("utf-8").split("\n")
    assert f"({place}:{lines.index('    def _stage_of(self, request):') + 1})" in finding.message
    check_upgrade(trees.upgrade(trees.ascend_old, verify=False))
    # What equals the shared base class is inherited.
    is_here = where != "base class"
    assert ("info is None or not info" in code_of(trees)[AR], "_stage_of" in code_of(trees)[AR]) == (is_here, is_here)


def test_a_port_of_what_moved_into_a_shared_base_class_goes(tmp_path: Path) -> None:
    """With the GPU runner's change it equals what it hides, as it would have before."""
    trees = Trees(tmp_path)
    commit(trees.omni)
    follow(trees.omni, STAGE, FOLLOWED)
    split(trees.omni, "base class")
    commit(trees.omni)
    options = trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False)
    reasons = [item.reason for item in check_upgrade(options).report.reviews if item.unit.endswith("._stage_of")]
    assert reasons == ["removed: it equals the method that the class inherits"]
    assert "_stage_of" not in code_of(trees)[AR]


@pytest.mark.parametrize("where", SPLITS[:3])
def test_check_tells_what_it_would_tell_without_a_split(tmp_path: Path, where: str) -> None:
    told = []
    for is_split in (False, True):
        trees = Trees(tmp_path / str(is_split))
        trees.write_lock()
        if is_split:
            split(trees.omni, where)
        told.append(keys(sync.check(trees.check())))
    assert ("RS203", "_sample") in told[0]
    assert told[0] == told[1]


MIXED = OMNI_TREE[GPU_AR].replace("(OmniGPUModelRunner)", "(OmniGPUModelRunner, Steps)")
IMPORTED = f"    from vllm_omni.worker.steps import Steps\n{MIXED}"
WITHOUT = IMPORTED.replace(MIXED[MIXED.index("        def _stage_of") :], "")
SUPER = OMNI_TREE[AR].replace("info = request", "info = super()._stage_of(request) or request")
MIXIN = f"class Steps:\n{STAGE}"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({GPU_AR: WITHOUT}, id="no such file"),
        pytest.param({GPU_AR: WITHOUT, STEPS: "class Step:\n    pass\n"}, id="no such class"),
        pytest.param({GPU_AR: WITHOUT, STEPS: "class Steps:\n  ("}, id="does not parse"),
        pytest.param({GPU_AR: WITHOUT + ")", STEPS: MIXIN}, id="is no Python itself"),
        pytest.param({GPU_AR: WITHOUT, STEPS: MIXIN.replace("_stage_of", "send")}, id="NPU hides none"),
        pytest.param({GPU_AR: IMPORTED, STEPS: MIXIN}, id="the class has its own"),
        pytest.param({GPU_AR: WITHOUT, STEPS: MIXIN, AR: SUPER}, id="NPU extends it"),
        pytest.param({GPU_AR: WITHOUT.replace("vllm_omni.worker", "vllm"), STEPS: MIXIN}, id="another package"),
        pytest.param({GPU_AR: WITHOUT, STEPS: MIXIN, AR: "class Other:\n    pass\n"}, id="no NPU class"),
    ],
)
def test_a_gpu_runner_stays_as_it_is(tmp_path: Path, files: Mapping[str, str]) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, files)
    given = open_omni(trees.check())
    assert read_whole(given.omni, GPU_AR, given) == (trees.omni / GPU_AR).read_text("utf-8")


def test_a_mixin_that_npu_has_too_is_no_part_but_what_npu_hides_of_it_counts(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    npu = OMNI_TREE[AR].replace("(OmniNPUModelRunner)", "(OmniNPUModelRunner, Steps)")
    npu = f"    from vllm_omni.worker.steps import Steps\n{npu}"
    lay_out(trees.omni, {GPU_AR: WITHOUT, AR: npu, STEPS: f"{MIXIN}\n    def send(self, rows):\n        return rows\n"})
    given = open_omni(trees.check())
    text = read_whole(given.omni, GPU_AR, given)
    assert text is not None
    assert "class GPUARModelRunner(OmniGPUModelRunner, Steps):" in text
    assert "def _stage_of" in text
    assert "def send" not in text
