"""What a GPU runner gained since people aligned the NPU runner with it, as the history of the omni checkout shows."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, Trees, check_upgrade, commit, stay_at_home

from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.lock import load
from runner_sync.sync.opening import open_inputs
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.synced import window
from runner_sync.sync.synced.bases import Bases
from runner_sync.sync.trees.runners import find_modules

LEFT = "        self.left_rows = request.rows\n"
NEW = "        self.new_rows = request.rows\n"
HEAD = "    def _stage_of(self, request):\n"


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """A checkout without tags. NPU was aligned when the GPU runner had ``left_rows`` already, which NPU does without;
    ``new_rows`` came later, and last a change to both."""
    stay_at_home(monkeypatch, tmp_path)
    made = Trees(tmp_path)
    made.edit(GPU_AR, HEAD, HEAD + LEFT)
    stage = 'return info.get("stage")'
    finish = "return super()._finish(logits, total)"
    olden = {stage: 'return info["stage"]', finish: "return super()._finish(logits, total=total)"}
    for line, old in olden.items():
        made.edit(AR, line, old)
    commit(made.omni, "Imported")
    for line, old in olden.items():
        made.edit(AR, old, line)
    commit(made.omni, "Aligned")
    made.edit(GPU_AR, HEAD + LEFT, HEAD + NEW + LEFT)
    commit(made.omni, "Grown")
    for path in (AR, GPU_AR):
        made.edit(path, stage, 'return info.get("stage", 0)')
    commit(made.omni, "Both")
    return made


def log(trees: Trees) -> dict[str, str]:
    """The short hash of each commit by its subject."""
    said = subprocess.run(
        ["git", "-C", str(trees.omni), "log", "--format=%s %H"], check=True, capture_output=True, text=True
    )
    return {subject: commit[:10] for subject, commit in map(str.split, said.stdout.splitlines())}


def test_what_came_after_the_last_alignment_is_ported_and_nothing_else(trees: Trees) -> None:
    planned = check_upgrade(trees.upgrade(trees.ascend_new, vllm_base="0.20.0", verify=False))
    (change,) = [change for change in planned.changes if change.path == AR]
    assert NEW in (change.after or "")
    assert LEFT not in (change.after or "")
    aligned = log(trees)["Aligned"]
    notes = "\n".join(planned.report.notes)
    assert f"npu_ar_model_runner.py {aligned}" in notes


def test_what_a_port_may_rest_on_is_looked_for_at_earlier_alignments(trees: Trees) -> None:
    """Of the history, and of a commit that an option names."""
    sample = (
        "    def _sample(self, logits):\n        if self.model.prefer_model_sampler:\n            return logits\n\n"
    )
    trees.edit(AR, HEAD, sample + HEAD + NEW)
    commit(trees.omni, "Again")
    known = log(trees)
    for base, newest in ((None, known["Again"]), ("HEAD~1", "HEAD~1")):
        options = trees.upgrade(trees.ascend_new, omni_base=base)
        given = open_inputs(options)
        modules = find_modules(given)
        twins = Bases(options, given, modules).twins
        (found,) = (module for module in modules if module.path == AR)
        assert twins.find_bases(found)[0].side.ref == newest
        assert [one.side.ref for one in twins.find_earlier(found)] == [known["Aligned"]]


@pytest.mark.parametrize(("gpu", "oldest"), [(False, "Aligned"), (True, "Again")])
def test_an_upgrade_that_left_the_gpu_runners_out_aligns_nothing(trees: Trees, gpu: bool, oldest: str) -> None:
    """``--no-gpu`` brings lines that the twin has, too, because both are copies of vLLM's; the next upgrade ports."""
    options = trees.upgrade(trees.ascend_new, vllm_base="0.20.0", gpu=False, verify=False)
    planned = sync.upgrade(options)
    assert planned.lock is not None
    assert "gpu" not in (planned.lock.after or "")
    sample = (
        "    def _sample(self, logits):\n        if self.model.prefer_model_sampler:\n            return logits\n\n"
    )
    trees.edit(AR, HEAD, sample + HEAD + NEW)
    if not gpu:
        (trees.omni / planned.lock.path).write_text(planned.lock.after or "", "utf-8")
    commit(trees.omni, "Again")
    given = open_inputs(replace(options, gpu=True))
    modules = find_modules(given)
    (found,) = (module for module in modules if module.path == AR)
    assert Bases(options, given, modules).twins.find_bases(found)[0].side.ref == log(trees)[oldest]


def test_a_mend_with_its_helper_aligns_nothing_where_people_catch_up(trees: Trees) -> None:
    """A step takes what was left for later; in between what is new since then is ported."""
    helper = "    def _rows_of(self, request):\n        return request.rows_of_this_stage\n\n"
    called = "        self.own_rows = self._rows_of(request)\n"
    trees.edit(GPU_AR, HEAD, helper + HEAD + called)
    commit(trees.omni, "Theirs")
    trees.edit(AR, HEAD, helper + HEAD + called)
    commit(trees.omni, "Mended")
    known = log(trees)
    for is_step, oldest in ((True, known["Aligned"]), (False, known["Mended"])):
        options = trees.upgrade(trees.ascend_new, upstream=is_step)
        given = open_inputs(options)
        modules = find_modules(given)
        (found,) = (module for module in modules if module.path == AR)
        assert Bases(options, given, modules).twins.find_bases(found)[0].side.ref == oldest


@pytest.mark.parametrize(
    ("depth", "unknown"), [(1, "compare with"), (3, "compare with"), (4, "npu_model_runner.py with")]
)
def test_a_shallow_clone_that_does_not_reach_back_so_far_is_told(
    trees: Trees, tmp_path: Path, depth: int, unknown: str
) -> None:
    """The oldest commit that it has seems to make everything, and says nothing."""
    place = tmp_path / "shallow"
    clone = ["git", "clone", "-q", f"--depth={depth}", trees.omni.as_uri(), str(place)]
    subprocess.run(clone, check=True, capture_output=True)
    options = trees.upgrade(trees.ascend_new, vllm_base="0.20.0", verify=False, out=tmp_path / "out")
    planned = sync.upgrade(replace(options, omni=TreeOptions(path=place)))
    notes = "\n".join(planned.report.notes)
    assert f"{unknown} (the clone is shallow" in notes
    assert "git fetch --unshallow --tags" in notes
    assert ("that aligned each: npu_ar_model_runner.py" in notes) == (depth == 4)


def test_a_partial_clone_is_upgraded_without_the_history_that_it_lacks(trees: Trees, tmp_path: Path) -> None:
    subprocess.run(["git", "-C", str(trees.omni), "config", "uploadpack.allowFilter", "true"], check=True)
    place = tmp_path / "partial"
    clone = ["git", "clone", "-q", "--filter=blob:none", trees.omni.as_uri(), str(place)]
    subprocess.run(clone, check=True, capture_output=True)
    options = trees.upgrade(trees.ascend_new, vllm_base="0.20.0", verify=False, out=tmp_path / "out")
    notes = "\n".join(sync.upgrade(replace(options, omni=TreeOptions(path=place))).report.notes)
    assert "no history of the GPU runners was read" in notes
    assert "--refetch" in notes


LAST = 'return info.get("stage", 0)'


def told(trees: Trees, **rest: object) -> list[tuple[str, str]]:
    """Unit and message of what RS208 finds."""
    found = sync.check(trees.check(ascend=trees.ascend_new, select=("RS208",), **rest)).findings
    return [(finding.unit, finding.message) for finding in found]


@pytest.fixture
def behind(trees: Trees) -> Trees:
    """The same with a change of the GPU runner alone on top."""
    trees.edit(GPU_AR, LAST, LAST.replace("0", "1"))
    commit(trees.omni, "Alone")
    return trees


def test_check_tells_what_the_twin_exchanged_since_then(behind: Trees) -> None:
    ((unit, message),) = told(behind)
    assert unit == "NPUARModelRunner._stage_of"
    assert f"changed since vllm-omni {log(behind)['Both']}: in place of `return info.get" in message
    behind.edit(AR, LAST, LAST.replace("0", "1"))
    commit(behind.omni, "Followed")
    assert told(behind) == []


def test_check_compares_with_the_revision_that_an_option_names(behind: Trees) -> None:
    assert [unit for unit, _ in told(behind, omni_base="HEAD~1")] == ["NPUARModelRunner._stage_of"]
    assert told(behind, omni_base="HEAD") == []
    with pytest.raises(InputError, match=r"--omni-base nowhere: "):
        told(behind, omni_base="nowhere")


def test_a_lock_that_records_the_twins_tells_more_and_goes_first(behind: Trees) -> None:
    behind.write_lock()
    with pytest.raises(InputError, match=r"records the GPU runners, and RS201 reports .* --omni-base"):
        told(behind)
    assert [unit for unit, _ in told(behind, omni_base="HEAD~1")] == ["NPUARModelRunner._stage_of"]


@pytest.mark.parametrize(("since", "expected"), [("HEAD~1", 1), ("HEAD", 0)])
def test_a_branch_is_told_of_the_gpu_method_that_it_changed(behind: Trees, since: str, expected: int) -> None:
    assert len(told(behind, changed_since=since)) == expected


def test_a_tree_without_history_or_version_is_told_that_nothing_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    made = Trees(tmp_path)
    report = sync.check(made.check(ascend=made.ascend_new, select=("RS202", "RS208")))
    assert "is not looked for (RS208); name the old omni with --omni-base" in "\n".join(report.notes)
    with pytest.raises(InputError, match=r"no earlier revision of the GPU runners is at hand; .*--omni-base"):
        told(made)
    assert sync.check(made.check(ascend=made.ascend_new, select=("RS202",))).notes == ()


def clone_of(trees: Trees, place: Path, *words: str) -> Path:
    """The omni repository, cloned to ``place``."""
    subprocess.run(["git", "clone", "-q", *words, trees.omni.as_uri(), str(place)], check=True, capture_output=True)
    return place


def lock_of(trees: Trees, place: Path, **rest: object) -> sync.Upgrade:
    """What `lock` would write for the omni tree in ``place``."""
    return sync.lock(replace(trees.upgrade(trees.ascend_old, **rest), omni=TreeOptions(path=place)))


def recorded(planned: sync.Upgrade) -> dict[str, str]:
    """The GPU revision of each unit in a planned lock, as far as it has any."""
    assert planned.lock is not None
    entries = load(planned.lock.after or "").entries
    return {entry.qualname: entry.gpu.ref for entry in entries if entry.gpu is not None}


STAGE_OF = "NPUARModelRunner._stage_of"


@pytest.mark.parametrize("depth", [1, 3])
def test_a_lock_does_not_settle_what_a_shallow_clone_does_not_show(behind: Trees, tmp_path: Path, depth: int) -> None:
    place = clone_of(behind, tmp_path / "shallow", f"--depth={depth}")
    with pytest.raises(
        InputError, match=r"npu_ar_model_runner.py was last aligned .*--unshallow.* --omni-base, HEAD if"
    ):
        lock_of(behind, place)
    assert recorded(lock_of(behind, place, omni_base="HEAD"))[STAGE_OF] == log(behind)["Alone"]
    whole = clone_of(behind, tmp_path / "whole")
    assert recorded(lock_of(behind, whole))[STAGE_OF] == log(behind)["Both"]


def test_a_lock_does_not_settle_what_a_plain_folder_does_not_show(behind: Trees, tmp_path: Path) -> None:
    place = tmp_path / "plain"
    shutil.copytree(behind.omni, place, ignore=shutil.ignore_patterns(".git"))
    with pytest.raises(InputError, match=r"no history that reaches back so far\): name the old omni with --omni-base"):
        lock_of(behind, place)
    planned = lock_of(behind, place, omni_base=str(place))
    assert recorded(planned)[STAGE_OF] == str(place)
    assert planned.lock is not None
    (place / planned.lock.path).write_text(planned.lock.after or "", "utf-8")
    assert lock_of(behind, place).lock is None, "what the old lock tells needs no history"


def test_an_upgrade_of_a_shallow_clone_records_no_gpu_text(behind: Trees, tmp_path: Path) -> None:
    place = clone_of(behind, tmp_path / "shallow", "--depth=1")
    options = replace(behind.upgrade(behind.ascend_new, vllm_base="0.20.0"), omni=TreeOptions(path=place))
    planned = sync.upgrade(options)
    assert recorded(planned) == {}
    assert "the lock names no GPU text" in "\n".join(planned.report.notes)
    whole = clone_of(behind, tmp_path / "whole")
    assert planned.lock is not None
    (whole / planned.lock.path).write_text(planned.lock.after or "", "utf-8")
    again = sync.upgrade(replace(options, omni=TreeOptions(path=whole), allow_dirty=True))
    assert LAST.replace("0", "1") in "".join(change.after or "" for change in again.changes), "goes by the history"


def test_a_lock_says_of_the_history_only_what_it_took_from_it(behind: Trees) -> None:
    """What the old lock tells does not count since any commit of the history."""

    def said() -> str:
        return "\n".join(lock_of(behind, behind.omni).report.notes)

    assert "that aligned each: " in said()
    planned = lock_of(behind, behind.omni)
    assert planned.lock is not None
    (behind.omni / planned.lock.path).write_text(planned.lock.after or "", "utf-8")
    assert "that aligned each: " not in said()
    behind.edit(AR, HEAD, "    def _sample(self, logits):\n        return logits\n\n" + HEAD)
    behind.edit(GPU_AR, HEAD, "    def _sample(self, logits):\n        return logits\n\n" + HEAD)
    assert "that aligned each: " in said(), "a unit that the lock has no entry of"


@pytest.mark.parametrize("is_port", [True, False])
def test_an_edited_unit_follows_the_change_that_it_has(behind: Trees, *, is_port: bool) -> None:
    """Where the lock is all that tells of earlier GPU runners: a port by hand, and another edit."""
    shutil.rmtree(behind.omni / ".git")
    commit(behind.omni, "Squashed")
    behind.write_lock()
    commit(behind.omni, "Locked")
    behind.edit(GPU_AR, LAST.replace("0", "1"), LAST.replace("0", "2"))
    behind.edit(AR, LAST, LAST.replace("0", "2") if is_port else f"self.seen = 3\n        {LAST}")
    commit(behind.omni, "Edited")
    known = log(behind)
    assert recorded(lock_of(behind, behind.omni))[STAGE_OF] == known["Edited" if is_port else "Squashed"]


def tagged(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the checked-out commit a release; there are no earlier ones."""
    subprocess.run(["git", "-C", str(trees.omni), "tag", "v0.30.0"], check=True)
    monkeypatch.setattr(window, "find_earlier_releases", lambda *_, **__: [])


SHALLOW = r"complete the clone with git fetch --unshallow --tags"


def test_a_release_in_a_shallow_clone_is_not_locked_by_guess(
    behind: Trees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagged(behind, monkeypatch)
    place = clone_of(behind, tmp_path / "shallow", "--depth=1")
    with pytest.raises(InputError, match=rf"the clone is shallow.*{SHALLOW}, or name"):
        lock_of(behind, place)
    options = replace(behind.upgrade(behind.ascend_new, vllm_base="0.20.0"), omni=TreeOptions(path=place))
    planned = sync.upgrade(options)
    assert recorded(planned) == {}
    assert SHALLOW in "\n".join(planned.report.notes)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_lock_entry_is_not_replaced_by_a_guess_in_a_shallow_clone(
    behind: Trees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    """An entry whose commit the clone lacks is neither valid nor invalid, whether the clone shows an alignment or
    not."""
    behind.write_lock()
    commit(behind.omni, "Locked")
    behind.edit(GPU_AR, LAST.replace("0", "1"), LAST.replace("0", "2"))
    commit(behind.omni, "Regrown")
    sample = (
        "    def _sample(self, logits):\n        if self.model.prefer_model_sampler:\n            return logits\n\n"
    )
    behind.edit(AR, HEAD, sample + HEAD + NEW)
    commit(behind.omni, "Caught-up")
    tagged(behind, monkeypatch)
    alone = log(behind)["Alone"]
    assert recorded(lock_of(behind, behind.omni))["NPUARModelRunner._finish"] == alone
    place = clone_of(behind, tmp_path / "shallow", f"--depth={depth}")
    message = rf"names vllm-omni {alone}, which this shallow clone does not have: {SHALLOW}\.$"
    with pytest.raises(InputError, match=message):
        lock_of(behind, place)
    options = replace(behind.upgrade(behind.ascend_old, vllm_base="0.20.0"), omni=TreeOptions(path=place))
    with pytest.raises(InputError, match=message):
        sync.upgrade(options)
