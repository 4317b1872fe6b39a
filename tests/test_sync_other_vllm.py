"""An upgrade says when omni's shared code is written for another vLLM than the runners are to run on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, ASCEND_NEW, VLLM, VLLM_TREE, Trees, commit, dedent, lay_out, stay_at_home

from runner_sync import sync


@pytest.mark.parametrize(
    ("version", "is_ascend_new", "is_told"),
    [
        pytest.param("0.19.0", True, True, id="an earlier one"),
        pytest.param("0.20.1", True, False, id="the same but for the patch"),
        pytest.param("0.19.0", False, False, id="nothing is upgraded"),
    ],
)
def test_the_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_ascend_new: bool, is_told: bool
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {"PKG-INFO": f"Metadata-Version: 2.1\nName: vllm-omni\nVersion: {version}\n"})
    commit(trees.omni)
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: ASCEND_NEW[ASCEND]} if is_ascend_new else {})
    commit(trees.ascend_old)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    assert bool(planned.changes) == is_ascend_new
    told = [note for note in planned.report.notes if note.startswith("this vllm-omni is for vLLM")]
    assert bool(told) == is_told
    assert all("for vLLM 0.19.0, but the upgraded runners run on 0.20.0" in note for note in told)


CONFIG = """\
class VllmConfig:
    def __init__(self):
        self.size = {size}
        {more}
"""
RUNNER = "from vllm.config import VllmConfig\n\n\n" + dedent(VLLM_TREE[VLLM]).replace(
    "(self, config):\n", "(self, config: VllmConfig):\n        self.config: VllmConfig = config\n"
)
READER = """\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _finish(self, logits, total):
        if self.config.{name}:
            return None
        return super()._finish(logits, total)
"""


def _vllm(folder: Path, versions: dict[str, str]) -> None:
    """A vLLM checkout with one tag per version, the last one checked out; its configuration has more in some."""
    for version, more in versions.items():
        lay_out(folder, {VLLM: RUNNER, "vllm/config.py": CONFIG.format(size=1, more=more)})
        lay_out(folder, {"PKG-INFO": f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n"})
        commit(folder)
        subprocess.run(["git", "-C", str(folder), "tag", version], check=True)


@pytest.mark.parametrize(
    ("version", "versions", "name", "is_told"),
    [
        pytest.param(
            "0.21.0", {"0.21.0": "self.later = 1", "0.20.0": ""}, "later", True, id="what only the newer one has"
        ),
        pytest.param(
            "0.19.0", {"0.19.0": "self.gone = 1", "0.20.0": ""}, "gone", True, id="what only the older one has"
        ),
        pytest.param("0.21.0", {"0.21.0": "self.later = 1", "0.20.0": ""}, "size", False, id="what both have"),
        pytest.param("0.21.0", {"0.21.0": "", "0.20.0": ""}, "later", False, id="what none has: a subclass may"),
        pytest.param("0.20.1", {"0.20.0": ""}, "later", False, id="the same but for the patch"),
    ],
)
def test_what_the_vllm_of_the_omni_tree_has_and_the_targets_lacks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    versions: dict[str, str],
    name: str,
    is_told: bool,
) -> None:
    """An attribute of an object of vLLM's class is only missed if one of the two vLLMs has it."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {"PKG-INFO": f"Metadata-Version: 2.1\nName: vllm-omni\nVersion: {version}\n"})
    lay_out(trees.omni, {AR: READER.format(name=name)})
    commit(trees.omni)
    commit(trees.ascend_old)
    _vllm(trees.vllm, versions)
    told = ["RS308"] if is_told else []
    upgraded = sync.upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD")).report
    verified = sync.verify(trees.check(ascend=trees.ascend_old))
    assert [f.code for f in upgraded.findings if f.code == "RS308"] == told
    assert [f.code for f in verified.findings if f.code == "RS308"] == told


@pytest.mark.parametrize("command", ["upgrade", "verify"])
def test_a_vllm_of_the_omni_tree_that_cannot_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {"PKG-INFO": "Metadata-Version: 2.1\nName: vllm-omni\nVersion: 0.21.0\n"})
    commit(trees.omni)
    commit(trees.ascend_old)
    report = (
        sync.upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD")).report
        if command == "upgrade"
        else sync.verify(trees.check(ascend=trees.ascend_old))
    )
    said = [note for note in report.notes if "vllm" in note.lower() and "0.21.0" in note and "offline" in note.lower()]
    assert len(said) == 1, report.notes


@pytest.mark.parametrize(
    ("version", "named", "gone", "why"),
    [
        pytest.param("0.20.0", "0.18.0", "of_18", "which --vllm-base names", id="the named one"),
        pytest.param("0.21.0", None, "of_21", "which this vllm-omni is for", id="omni's, newer than the target"),
        pytest.param("0.18.0", None, "of_18", "which this vllm-omni is for", id="omni's, older than vllm-ascend's"),
    ],
)
def test_the_named_vllm_or_the_one_of_the_omni_tree_is_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, named: str | None, gone: str, why: str
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {"PKG-INFO": f"Metadata-Version: 2.1\nName: vllm-omni\nVersion: {version}\n"})
    lay_out(trees.omni, {AR: READER.format(name=gone)})
    lay_out(trees.ascend_old, {"Dockerfile": "ARG VLLM_TAG=v0.19.0\n"})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {**ASCEND_NEW, "Dockerfile": "ARG VLLM_TAG=v0.20.0\n"})
    commit(trees.ascend_old)
    _vllm(trees.vllm, {**{f"0.{n}.0": f"self.of_{n} = 1" for n in (18, 19, 21)}, "0.20.0": ""})
    report = sync.verify(trees.check(ascend=trees.ascend_old, vllm_base=named))
    assert any(note.endswith(why) for note in report.notes), report.notes
    assert f"VllmConfig.{gone}" in {finding.symbol for finding in report.findings}


@pytest.mark.parametrize("named", ["0.19.0", None])
def test_a_named_vllm_is_compared_with_without_another_vllm_ascend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {AR: READER.format(name="gone")})
    _vllm(trees.vllm, {"0.19.0": "self.gone = 1", "0.20.0": ""})
    report = sync.verify(trees.check(ascend=trees.ascend_old, vllm_base=named))
    assert ("RS308" in {finding.code for finding in report.findings}) == (named is not None)
