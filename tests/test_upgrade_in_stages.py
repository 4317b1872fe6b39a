"""A change of the GPU twin that cannot be applied as a whole: what it was up to an earlier revision comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from git import Repo
from sync_samples import AR, GPU_AR, OMNI_TREE, PACKED, Trees, check_upgrade, commit, dedent, lay_out, stay_at_home

from runner_sync.profile import NPU
from runner_sync.upgrade.from_gpu.merging import sound_merge
from runner_sync.upgrade.job import GpuTwin, ModuleJob
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

GPU = OMNI_TREE[AR].replace("platforms.npu.worker.npu_model_runner", "worker.gpu_model_runner").replace("NPU", "GPU")
LATER = PACKED.replace("self.note(out)", "self.note(out, rows)")
REBUILT = LATER.replace("self.build(rows)", "Later(self.build, rows).made()")


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    monkeypatch.setattr(sound_merge, "TRIES", 1)
    return Trees(tmp_path)


def upgraded(
    trees: Trees, *twins: str, tags: tuple[str, ...] = ("v0.20.0", "v0.21.0", "v0.22.0"), gpu: str = GPU
) -> tuple[str, str]:
    """The NPU module after a port of what its twin gained through ``twins``, and the questions."""
    for number, twin in enumerate(twins):
        lay_out(trees.omni, {AR: OMNI_TREE[AR] + PACKED, GPU_AR: gpu + twin})
        commit(trees.omni)
        if number < len(tags):
            Repo(trees.omni).create_tag(tags[number])
    options = trees.upgrade(trees.ascend_new, omni_base="v0.20.0", vllm_base="0.20.0", upstream=False, verify=False)
    result = check_upgrade(options)
    text = next((change.after or "" for change in result.changes if change.path == AR), "")
    return text, "\n".join(item.reason for item in result.report.reviews)


def test_a_refused_change_comes_up_to_the_last_revision_at_which_it_applies(trees: Trees) -> None:
    """``sample_tokens`` of 0.24.0, whose body moved into a helper behind a closure."""
    text, questions = upgraded(trees, PACKED, LATER, REBUILT)
    assert "self.note(out, rows)" in text
    assert "out = self.build(rows)" in text
    assert "cannot be applied" in questions
    assert "its change up to vllm-omni v0.21.0 was ported" in questions


@pytest.mark.parametrize("between", [pytest.param((LATER,), id="one"), pytest.param((LATER, REBUILT), id="two")])
def test_revisions_that_npu_may_be_aligned_with_are_tried_first(
    between: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound_merge, "TRIES", 1)
    npu, gpu = dedent(OMNI_TREE[AR] + PACKED), [dedent(GPU + twin) for twin in (PACKED, *between, REBUILT)]
    *olds, new = (ModuleRevision(f"0.{number}", text, GPU_AR) for number, text in enumerate(gpu))
    twin = GpuTwin(new=new, bases=tuple(GpuBase(old, lambda: None) for old in olds))
    module = next(module for module in NPU.modules if module.name == "NPUARModelRunner")
    result = upgrade_module(ModuleJob(NPU, module, AR, npu, twin=twin))
    assert "self.note(out, rows)" in result.after
    assert [item for item in result.reviews if "its change up to vllm-omni 0.1 was ported" in item.reason]


def test_uses_of_a_new_mixin_come_as_the_current_twin_has_them(trees: Trees) -> None:
    """Of 0.24.0, to which omni's copy had gone on, and not of 0.23.0rc1, up to which the change applies."""
    mixin = "class SendingMixin:\n    def send(self, rows):\n        self.sent = rows\n"
    head = GPU.replace("(OmniGPUModelRunner)", "(OmniGPUModelRunner, SendingMixin)")
    head = head.replace("    from vllm_omni.w", "    from vllm_omni.sending import SendingMixin\n    from vllm_omni.w")
    lay_out(trees.omni, {"vllm_omni/sending.py": mixin})
    stages = [
        GPU + PACKED,
        head + LATER.replace("self.count(out)", "self.send(out)\n            self.count(out)"),
        head + REBUILT.replace("self.count(out)", "self.send(out, rows)\n            self.count(out)"),
    ]
    text, questions = upgraded(trees, *stages, gpu="")
    assert "self.note(out, rows)\n" in text
    assert "self.send(out, rows)\n        self.count(out)" in text
    assert "self.send(out)\n" not in text
    assert "was ported; only the statements that use the new mixin were ported" in questions


@pytest.mark.parametrize(
    ("stage", "now"),
    [
        ("self.note(out, old_form(rows))", "self.note(out, rows)"),
        ("self.note(out)\n            self.count(rows)", "self.note(out)"),
    ],
    ids=["in another form", "taken back"],
)
def test_what_the_twin_gained_and_took_back_does_not_come(trees: Trees, stage: str, now: str) -> None:
    twins = (PACKED.replace("self.note(out)", stage), REBUILT.replace("self.note(out, rows)", now))
    text, questions = upgraded(trees, PACKED, *twins)
    assert text == ""
    assert "cannot be applied" in questions
    assert "was ported" not in questions


def test_an_earlier_stage_comes_if_a_later_one_is_not_current(trees: Trees) -> None:
    later = LATER.replace("self.count(out)", "self.count(old_form(out))")
    text, questions = upgraded(trees, PACKED, LATER, later, REBUILT, tags=("v0.20.0", "v0.21.0", "v0.22.0", "v0.23.0"))
    assert "self.note(out, rows)\n        self.count(out)" in text
    assert "its change up to vllm-omni v0.21.0 was ported" in questions


@pytest.mark.parametrize("lost", [True, False])
def test_a_lock_that_names_a_lost_commit_gives_no_stages(trees: Trees, lost: bool) -> None:
    lay_out(trees.omni, {AR: OMNI_TREE[AR] + PACKED, GPU_AR: GPU + PACKED})
    commit(trees.omni)
    trees.write_lock()
    lock = trees.omni / "runner-sync.lock"
    ref = Repo(trees.omni).head.commit.hexsha[:10]
    lay_out(trees.omni, {lock.name: lock.read_text().replace(ref, "7c8ee98378" if lost else ref)})
    lay_out(trees.omni, {GPU_AR: GPU + REBUILT})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0", verify=False))
    assert "cannot be applied" in "\n".join(item.reason for item in result.report.reviews)
    assert ("no revision 7c8ee98378" in "\n".join(result.report.notes)) is lost


def test_noop_a_change_that_applies_comes_as_a_whole(trees: Trees) -> None:
    now = LATER.replace("self.count(out)", "self.count(out, rows)")
    text, questions = upgraded(trees, PACKED, LATER, now)
    assert "self.count(out, rows)" in text
    assert "was ported" not in questions


@pytest.mark.parametrize(
    ("twins", "tags"),
    [
        pytest.param((PACKED, REBUILT, REBUILT), ("v0.20.0", "v0.21.0", "v0.22.0"), id="it was as it is now"),
        pytest.param((PACKED, PACKED, REBUILT), ("v0.20.0", "v0.21.0", "v0.22.0"), id="it was as at the base"),
        pytest.param((LATER, PACKED, REBUILT), ("v0.19.0", "v0.20.0", "v0.22.0"), id="from before the base"),
        pytest.param((PACKED, LATER, REBUILT), ("v0.20.0",), id="no release is between"),
        pytest.param(
            (PACKED, PACKED.replace("self.note(out)", "self.mark(out)"), REBUILT),
            ("v0.20.0", "v0.21.0", "v0.22.0"),
            id="it called what the current twin has no more",
        ),
    ],
)
def test_noop_a_refused_change_stays_out(trees: Trees, twins: tuple[str, ...], tags: tuple[str, ...]) -> None:
    text, questions = upgraded(trees, *twins, tags=tags)
    assert text == ""
    assert "cannot be applied" in questions
    assert "was ported" not in questions
