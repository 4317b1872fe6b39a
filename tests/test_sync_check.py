"""``check`` and ``verify`` from options to report, on small trees and on real releases."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import CorpusRelease
from sync_samples import AR, ASCEND, ASCEND_NEW, BASE, GPU_AR, GPU_BASE, RULER, Trees, commit, lay_out, stay_at_home

from runner_sync import lock, sync
from runner_sync.errors import InputError
from runner_sync.model import BaseRef, Finding, Report
from runner_sync.naming import module_name
from runner_sync.profile import NPU
from runner_sync.render import render
from runner_sync.sync import inputs
from runner_sync.sync.options import CheckOptions, Progress, TreeOptions, UpgradeOptions
from runner_sync.units.texts import unit_texts


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Small trees, without network and without trees that the environment names."""
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


@pytest.fixture
def locked(trees: Trees) -> Trees:
    """The same with a lock that says: as on the old vllm-ascend."""
    trees.write_lock()
    return trees


def keys(report: Report) -> set[tuple[str, str]]:
    return {(finding.code, finding.symbol) for finding in report.findings}


def test_a_lock_that_names_a_folder_is_not_believed_when_the_folder_has_another_text(locked: Trees) -> None:
    """Replaced in place, the base would be the target: nothing to do, and never a finding."""
    lay_out(locked.ascend_old, {ASCEND: ASCEND_NEW[ASCEND]})
    with pytest.raises(InputError, match=r"runner-sync\.lock names vllm-ascend 0\.20\.0, which cannot be read"):
        sync.upgrade(locked.upgrade(locked.ascend_old))
    with pytest.raises(InputError, match=r"runner-sync\.lock was made with another NPUModelRunner\.execute_model"):
        sync.check(locked.check(ascend=locked.ascend_old))


def test_an_upgrade_without_the_gpu_runners_keeps_what_the_lock_says_of_them(trees: Trees) -> None:
    def gpu_units(text: str) -> set[str]:
        return {entry.qualname for entry in lock.load(text).entries if entry.gpu is not None}

    commit(trees.ascend_old)
    trees.write_lock()
    lay_out(trees.ascend_old, ASCEND_NEW)
    commit(trees.ascend_old)
    before = gpu_units((trees.omni / NPU.lock_file).read_text("utf-8"))
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False))
    assert before
    assert planned.lock is not None, "it names another vllm-ascend"
    assert gpu_units(planned.lock.after or "") == before


def test_an_empty_lock_is_not_called_missing(trees: Trees) -> None:
    (trees.omni / NPU.lock_file).touch()
    with pytest.raises(InputError, match="is empty; restore it from git"):
        sync.check(trees.check())


def test_without_lock_and_upstream_it_says_how_to_get_one(trees: Trees) -> None:
    with pytest.raises(InputError, match=r"no runner-sync\.lock.*runner-sync lock.*--ascend-version"):
        sync.check(trees.check())


@pytest.mark.parametrize("select", [("RS203",), ("RS4", "RS5")])
def test_rules_that_need_no_lock_run_without_one(trees: Trees, select: tuple[str, ...]) -> None:
    assert sync.check(trees.check(select=select)).command == "check"


@pytest.mark.parametrize("select", [("RS3",), ("RS101", "RS304"), ("RS202", "RS207")])
def test_what_needs_vllm_ascend_is_refused_without_one(trees: Trees, select: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"compares with vllm-ascend.*--ascend-path"):
        sync.check(trees.check(select=select))


def test_what_the_configuration_selects_is_refused_alike(trees: Trees) -> None:
    (trees.omni / "runner-sync.toml").write_text('select = ["RS101"]\n', "utf-8")
    with pytest.raises(InputError, match=r"runner-sync\.toml: select RS101 compares with vllm-ascend"):
        sync.check(trees.check())


@pytest.mark.parametrize(("option", "value"), [("select", ("RS999",)), ("ignore", ("RS2O3",))])
def test_a_code_that_no_rule_has_is_refused(trees: Trees, option: str, value: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=rf"--{option} {value[0]}: there is no such rule"):
        sync.check(trees.check(**{option: value}))


def test_from_the_lock_alone(locked: Trees) -> None:
    found = keys(sync.check(locked.check()))
    assert ("RS203", "_sample") in found
    assert not {code for code, _ in found if code.startswith(("RS11", "RS3"))}


def test_it_says_what_it_did_not_look_for(locked: Trees) -> None:
    (note,) = sync.check(locked.check()).notes
    assert note == (
        "RS101, RS102, RS104, RS105, RS202, RS207, RS3xx need a vllm-ascend, and none is named: they did not run "
        "(the lock was written with 0.20.0: --ascend-version 0.20.0)"
    )
    assert sync.check(locked.check(select=("RS203",))).notes == ()


def test_an_edit_outside_a_block_since_the_lock(locked: Trees) -> None:
    locked.edit(BASE, "self.last_hidden = hidden", "self.last_hidden = hidden[:total]")
    assert ("RS110", "OmniNPUModelRunner.execute_model") in keys(sync.check(locked.check()))


def test_an_edit_inside_a_block_is_nobodys_business(locked: Trees) -> None:
    locked.edit(BASE, "self.talker_total = total", "self.talker_total = total + 1")
    assert "RS110" not in {code for code, _ in keys(sync.check(locked.check()))}


def test_a_gpu_method_that_changed_since_the_lock(locked: Trees) -> None:
    assert "RS201" not in {code for code, _ in keys(sync.check(locked.check()))}
    locked.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    assert ("RS201", "GPUARModelRunner._stage_of") in keys(sync.check(locked.check()))


def test_a_baseline_accepts_one_text_of_a_gpu_method(locked: Trees) -> None:
    """What changes after it was accepted is a finding: else a drifted method could drift on in silence."""
    locked.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    accepted = {"baseline": locked.omni / "baseline.json", "select": ("RS201",)}
    sync.check(locked.check(update_baseline=True, **accepted))
    assert keys(sync.check(locked.check(**accepted))) == set()
    locked.edit(GPU_AR, 'return info.get("stage", 0)', 'return info.get("stage", 1)')
    assert keys(sync.check(locked.check(**accepted))) == {("RS201", "GPUARModelRunner._stage_of")}


def test_a_base_that_cannot_be_read_is_an_error(locked: Trees) -> None:
    options = locked.check(ascend=locked.ascend_new, select=("RS1",))
    with pytest.raises(InputError, match=r"vllm-ascend 0\.20\.0 is not in the cache"):
        sync.check(options)


def test_the_target_may_be_the_base(locked: Trees) -> None:
    report = sync.check(locked.check(ascend=locked.ascend_old, select=("RS1", "RS3")))
    assert keys(report) == set()
    assert [source.project for source in report.inputs] == ["vllm-omni", "vllm-ascend", "vllm"]


def git_ascend(trees: Trees) -> tuple[Path, str]:
    """A checkout of vllm-ascend with both versions, and the revision of the old one."""
    folder = trees.ascend_old
    commit(folder, "Old")
    old = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    for path in trees.ascend_new.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(trees.ascend_new)
            target.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    commit(folder, "New")
    return folder, old


def test_drift_and_breakage_against_a_checkout(trees: Trees) -> None:
    folder, old = git_ascend(trees)
    report = sync.check(trees.check(ascend=folder, ascend_base=old, vllm_base="0.20.0"))
    found = keys(report)
    assert ("RS101", "NPUModelRunner.execute_model") in found
    assert ("RS303", "_forward") in found


@pytest.mark.parametrize("said", ["", "  # runner-sync: ignore[RS302] known"])
def test_the_type_checker_does_not_repeat_what_was_silenced(trees: Trees, said: str) -> None:
    for tree, parameters in ((trees.ascend_old, "self, total"), (trees.ascend_new, "self, total, rows")):
        with (tree / ASCEND).open("a", encoding="utf-8") as file:
            file.write(f"\n    def probe({parameters}):\n        return total\n")
    with (trees.omni / AR).open("a", encoding="utf-8") as file:
        file.write(f"\n    def try_out(self, total):\n        return self.probe(total){said}\n")
    folder, old = git_ascend(trees)
    options = trees.check(ascend=folder, ascend_base=old, vllm_base="0.20.0", typecheck="ty")
    found = {(f.code, f.unit) for f in sync.verify(options).findings if f.path == AR}
    assert found == (set() if said else {("RS302", "NPUARModelRunner.try_out")})
    alone = sync.verify(replace(options, select=("RS390",))).findings
    assert [(finding.code, finding.unit) for finding in alone] == [("RS390", "NPUARModelRunner.try_out")]


def test_the_base_is_inferred_where_nobody_names_it(trees: Trees) -> None:
    folder, old = git_ascend(trees)
    report = sync.check(trees.check(ascend=folder, select=("RS101",)))
    (finding,) = report.findings
    assert finding.unit == "OmniNPUModelRunner.execute_model"
    assert old[:10] in finding.message


def test_verify_reports_what_is_new(trees: Trees) -> None:
    folder, old = git_ascend(trees)
    late = "from vllm.late import f\n        self.last_hidden = f(hidden) or self.never_set"
    trees.edit(BASE, "self.last_hidden = hidden", late)
    everything = keys(sync.verify(trees.check(ascend=folder)))
    new = keys(sync.verify(trees.check(ascend=folder, ascend_base=old, vllm_base="0.20.0")))
    assert everything - new == {("RS301", "vllm.late.f")}
    assert new == {("RS303", "_forward"), ("RS304", "never_set")}


def test_verify_of_the_trees_the_runners_were_made_for(trees: Trees) -> None:
    assert keys(sync.verify(trees.check(ascend=trees.ascend_old))) == set()


def test_verify_needs_a_target(trees: Trees) -> None:
    with pytest.raises(InputError, match=r"no vllm-ascend to follow"):
        sync.verify(trees.check())


def test_verify_looks_at_what_the_lock_names_last(locked: Trees) -> None:
    """So the next step that an upgrade prints can be taken as it stands."""
    text = (locked.omni / "runner-sync.lock").read_text("utf-8")
    lay_out(locked.omni, {"runner-sync.lock": re.sub(r"(?m)^vllm-ascend = .*$", 'vllm-ascend = "0.20.0"', text)})
    with pytest.raises(InputError, match=r"vllm-ascend 0\.20\.0 is not in the cache"):
        sync.verify(locked.check())


def test_verify_reports_breakage_only(trees: Trees) -> None:
    with pytest.raises(InputError, match=r"verify reports RS3xx only"):
        sync.verify(trees.check(ascend=trees.ascend_old, select=("RS203",)))


def test_verify_asks_which_vllm(trees: Trees) -> None:
    (trees.ascend_new / "PKG-INFO").unlink()
    options = replace(trees.check(ascend=trees.ascend_new), vllm=TreeOptions())
    with pytest.raises(InputError, match=r"cannot tell which vLLM .* --vllm-version"):
        sync.verify(options)


def test_ignore_comments_count_in_verify_too(trees: Trees) -> None:
    line = "logits, hidden = self._forward(total)"
    trees.edit(BASE, line, f"{line}  # runner-sync: ignore[RS303] the third value is for the drafter")
    report = sync.verify(trees.check(ascend=trees.ascend_new))
    assert "RS303" not in {code for code, _ in keys(report)}
    assert report.summary["ignored"] == 1


@pytest.mark.parametrize("ascend", [False, True])
def test_what_a_branch_takes_away_is_told_though_no_line_of_it_is_left(locked: Trees, ascend: bool) -> None:
    """An override of NPU's own, whose GPU twin runs on no NPU from now on, and the first of two rulers."""
    hook = "\n    def _sample(self, logits):\n        return super()._sample(logits)\n"
    block = f"\n    def note(self):\n        {RULER}\n        self.noted = 1\n        {RULER}\n        return 2\n"
    with (locked.omni / AR).open("a", encoding="utf-8") as file:
        file.write(f"{hook}{block}")
    commit(locked.omni, "Before")
    trees = {"ascend": locked.ascend_old} if ascend else {}
    options = locked.check(changed_since="main", select=("RS203", "RS401", "RS402"), **trees)
    assert sync.check(options).findings == ()
    locked.edit(AR, hook, "\n")
    assert keys(sync.check(options)) == {("RS203", "_sample")}
    locked.edit(AR, f"def note(self):\n        {RULER}\n", "def note(self):\n")
    found = sync.check(options).findings
    assert [finding.code for finding in found] == ["RS203", "RS401"]


@pytest.mark.parametrize(("path", "is_read"), [("README.md", False), (AR, True), (NPU.lock_file, True), ("", True)])
def test_a_branch_without_code_is_compared_with_no_older_tree(
    locked: Trees, path: str, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(locked.omni, {"README.md": "Omni.\n", "gone.py": ""})
    commit(locked.omni, "Before")
    if path:
        with (locked.omni / path).open("a", encoding="utf-8") as file:
            file.write("# One line more.\n")
    else:
        (locked.omni / "gone.py").unlink()
    read: list[str] = []
    before = inputs.omni_before

    def reading(given: inputs.Inputs, revision: str, progress: Progress) -> inputs.Inputs:
        read.append(revision)
        return before(given, revision, progress)

    monkeypatch.setattr(inputs, "omni_before", reading)
    assert sync.check(locked.check(changed_since="main", select=("RS4",))).findings == ()
    assert read == (["main"] if is_read else [])


@pytest.mark.parametrize(
    ("folder", "is_told"), [("platforms/npu/worker", True), ("platforms/npu/worker/deep", True), ("worker", False)]
)
def test_a_module_beside_the_runners_is_asked_for_gpu_calls(locked: Trees, folder: str, is_told: bool) -> None:
    commit(locked.omni, "Before")
    path = f"vllm_omni/{folder}/late.py"
    lay_out(locked.omni, {path: "import torch\n\n\ndef wait():\n    torch.cuda.synchronize()\n"})
    expected = [("RS402", path)] if is_told else []
    for since in (None, "main"):
        report = sync.check(locked.check(changed_since=since, select=("RS402", "RS403")))
        assert [(finding.code, finding.path) for finding in report.findings] == expected


@pytest.mark.parametrize(
    ("path", "told"),
    [
        pytest.param("my_runner.py", "", id="in the root"),
        pytest.param("vllm_omni/npu_diffusion.py", "", id="in the package"),
        pytest.param("vllm_omni/diffusion/worker/npu_diffusion.py", "", id="among what is for GPUs"),
        pytest.param("vllm_omni/worker/npu_diffusion.py", "", id="beside the twin"),
        pytest.param("vllm_omni/input/npu_diffusion.py", "", id="a folder that only has the letters"),
        pytest.param("vllm_omni/diffusion/npu/npu_diffusion.py", "vllm_omni/diffusion/npu", id="of the platform"),
        pytest.param("vllm_omni/npu_diffusion/runner.py", "vllm_omni/npu_diffusion", id="of the platform by its name"),
    ],
)
def test_a_runner_that_stands_elsewhere_makes_no_npu_code_of_what_is_beside_it(
    locked: Trees, path: str, told: str
) -> None:
    gpu = "vllm_omni/worker/gpu_diffusion_model_runner.py"
    row = ROW.format(npu=path, gpu=gpu).replace("NPUAR", "NPUDiffusion").replace("GPUAR", "GPUDiffusion")
    folders = ["", "vllm_omni/", "vllm_omni/diffusion/", "vllm_omni/diffusion/worker/", "vllm_omni/input/"]
    call = "import torch\n\ntorch.cuda.synchronize()\n"
    lay_out(
        locked.omni,
        {
            "runner-sync.toml": row,
            path: "class NPUDiffusionModelRunner:\n    pass\n",
            gpu: "class GPUDiffusionModelRunner:\n    pass\n",
            **{f"{folder}late.py": call for folder in [*folders, *([f"{told}/", f"{told}/deep/"] if told else [])]},
        },
    )
    report = sync.check(locked.check(select=("RS402", "RS403")))
    assert [f.path for f in report.findings] == ([f"{told}/deep/late.py", f"{told}/late.py"] if told else [])


def test_what_was_out_of_step_where_a_branch_began_is_no_business_of_it(locked: Trees) -> None:
    """Neither where the lines around it moved, nor where the branch brings the lock that tells of it."""
    lock_text = (locked.omni / NPU.lock_file).read_text("utf-8")
    (locked.omni / NPU.lock_file).unlink()
    locked.edit(GPU_AR, "return self.model.sample(logits)", "return self.model.sample(logits, None)")
    commit(locked.omni, "Before")
    (locked.omni / NPU.lock_file).write_text(lock_text, "utf-8")
    text = (locked.omni / AR).read_text("utf-8")
    (locked.omni / AR).write_text(f"# A remark.\n{text}", "utf-8")
    assert keys(sync.check(locked.check(select=("RS203", "RS201")))) >= {("RS203", "_sample")}
    assert sync.check(locked.check(changed_since="main", select=("RS203", "RS201"))).findings == ()


HELPER = "vllm_omni/platforms/npu/worker/sending.py"


@pytest.mark.parametrize(
    ("old", "new", "is_told"),
    [
        pytest.param(
            "return self.model.sample(logits)", "return self.model.sample(logits)  # why", False, id="comment"
        ),
        pytest.param(
            "self.model.sample(logits)", "self.model.sample(\n            logits\n        )", False, id="layout"
        ),
        pytest.param("    def _sample(", "    # Why.\n    def _sample(", False, id="comment above"),
        pytest.param("self.model.sample(logits)", "self.model.sample(logits, None)", True, id="code"),
        pytest.param("self.model.sample(logits)", "self.model.sample(logits, None)  # why", True, id="both"),
    ],
)
def test_what_a_branch_makes_of_a_gpu_method(locked: Trees, old: str, new: str, is_told: bool) -> None:
    """Its layout and comments alone are no reason to bring up what was found of it before."""
    commit(locked.omni, "Before")
    assert ("RS203", "_sample") in keys(sync.check(locked.check(select=("RS203",))))
    locked.edit(GPU_AR, old, new)
    found = keys(sync.check(locked.check(changed_since="main", select=("RS203",))))
    assert found == ({("RS203", "_sample")} if is_told else set())


@pytest.mark.parametrize(
    ("old", "new", "is_told"),
    [
        pytest.param('return info.get("stage")', 'return info.get("stage")  # why', False, id="comment"),
        pytest.param('info.get("stage")', 'info.get(\n            "stage"\n        )', False, id="layout"),
        pytest.param("    def _stage_of(", "    # Why.\n    def _stage_of(", False, id="comment above"),
        pytest.param("_stage_of(self, request)", "_stage_of(\n        self, request\n    )", False, id="head"),
        pytest.param("    def _finish(", "    def _finish_too(self): ...\n\n    def _finish(", False, id="beside it"),
        pytest.param('info.get("stage")', 'info.get("stage", None)', True, id="code"),
        pytest.param("_stage_of(self, request)", "_stage_of(self, request, /)", True, id="code of the head"),
    ],
)
def test_what_a_branch_makes_of_an_npu_method(locked: Trees, old: str, new: str, is_told: bool) -> None:
    """Its layout and comments alone are no reason to bring up what was found of it before."""
    locked.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage") or ""')
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS201",))
    locked.edit(AR, old, new)
    report = sync.check(options)
    assert report.findings == ()  # a port by hand fails nothing
    assert any("record it with" in note for note in report.notes) == is_told


def test_the_layout_of_the_very_line_is_no_reason(locked: Trees) -> None:
    locked.edit(AR, "info = request.additional_information", "info = torch.cuda.current_stream()")
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS402",))
    locked.edit(AR, "torch.cuda.current_stream()", "(torch.cuda.current_stream())  # for now")
    assert sync.check(options).findings == ()
    locked.edit(AR, "(torch.cuda.current_stream())", "torch.cuda.current_stream(0)")
    assert keys(sync.check(options)) == {("RS402", "torch.cuda")}


@pytest.mark.parametrize("remark", ["# runner-sync: review R1 the same on NPU?", f"{RULER}\n        {RULER}"])
def test_what_is_found_of_a_comment_is_the_branchs_that_touches_it(locked: Trees, remark: str) -> None:
    locked.edit(AR, "info = request.additional_information", f"{remark}\n        info = request.additional_information")
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS406", "RS401"))
    assert sync.check(options).findings == ()
    locked.edit(AR, remark, f"{remark} ")
    assert len(sync.check(options).findings) == 1


def test_a_comment_about_findings_that_a_branch_takes_away_brings_them_up(locked: Trees) -> None:
    silenced = "# runner-sync: ignore[RS203:_sample] the sampler is NPU's own\n"
    locked.edit(AR, "class NPUARModelRunner", f"{silenced}class NPUARModelRunner")
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS203",))
    assert sync.check(options).findings == ()
    locked.edit(AR, silenced, "")
    assert keys(sync.check(options)) == {("RS203", "_sample")}


def rename(trees: Trees, path: str) -> str:
    """Give a file another name, as ``git mv`` does."""
    new = f"{path[:-3]}_too.py"
    subprocess.run(["git", "-C", str(trees.omni), "mv", path, new], check=True)
    return new


ROW = """
[[extend-modules]]
name = "NPUARModelRunner"
paths = ["{npu}"]
upstreams = [{{ project = "vllm-ascend", path = "vllm_ascend/worker/model_runner_v1.py", name = "NPUModelRunner" }}]
gpu = {{ project = "vllm-omni", path = "{gpu}", name = "GPUARModelRunner" }}
"""


@pytest.mark.parametrize("path", [AR, GPU_AR])
@pytest.mark.parametrize("is_locked", [False, True])
def test_a_file_that_a_branch_renames_is_followed_or_refused(locked: Trees, path: str, is_locked: bool) -> None:
    """Without a row for its new path nothing was compared with it, and the run looked green."""
    locked.edit(GPU_AR, "return self.model.sample(logits)", "return self.model.sample(logits, None)")
    with (locked.omni / AR).open("a", encoding="utf-8") as file:
        file.write(f"\n    def note(self):\n        {RULER}\n        self.noted = 1\n        return 2\n")
    if not is_locked:
        (locked.omni / NPU.lock_file).unlink()
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS203", "RS401"))
    new = rename(locked, path)
    with pytest.raises(InputError, match=rf"^{path} is {new} since main, .*`extend-modules`"):
        sync.check(options)
    row = ROW.format(npu=new if path == AR else AR, gpu=new if path == GPU_AR else GPU_AR)
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    if is_locked:
        locked.write_lock()
    assert keys(sync.check(replace(options, changed_since=None))) >= {("RS203", "_sample"), ("RS401", "unbalanced")}
    assert sync.check(options).findings == ()
    with (locked.omni / (new if path == AR else AR)).open("a", encoding="utf-8") as file:
        file.write(f"\n    def other(self):\n        {RULER}\n        {RULER}\n        return 3\n")
    assert keys(sync.check(options)) == {("RS401", "empty")}


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_file_without_a_runner_may_have_any_name(locked: Trees, path: str) -> None:
    other = f"{path[:-3]}_helper.py"
    (locked.omni / other).write_text("def f(x):\n    y = x\n    return y\n", "utf-8")
    commit(locked.omni, "Before")
    rename(locked, other)
    assert sync.check(locked.check(changed_since="main", select=("RS203", "RS401"))).findings == ()


PATCH = "vllm_ascend/patch/patch_rows.py"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param(HELPER, "from vllm.gone import f\n", {("RS301", "vllm.gone.f")}, id="beside the runners"),
        pytest.param(
            HELPER,
            "from vllm.gone import f  # runner-sync: ignore[RS301] only on the next vLLM\n",
            set(),
            id="with a reason",
        ),
        pytest.param("vllm_omni/diffusion/sending.py", "from vllm.gone import f\n", set(), id="elsewhere"),
    ],
)
def test_verify_reads_what_stands_beside_the_runners(
    trees: Trees, path: str, text: str, expected: set[tuple[str, str]]
) -> None:
    lay_out(trees.omni, {path: text})
    report = sync.verify(trees.check(ascend=trees.ascend_old))
    assert keys(report) == expected
    assert ("from vllm.gone import f" in render(report, "text")) is bool(expected)


@pytest.mark.parametrize(
    ("tree", "path", "said"),
    [
        ("omni", HELPER, rf"{HELPER}:1: does not parse"),
        ("ascend_old", PATCH, rf"{PATCH}:1 of vllm-ascend 0\.20\.0 does not parse with Python 3"),
    ],
)
def test_what_does_not_parse_and_no_runner_needs_is_noted(trees: Trees, tree: str, path: str, said: str) -> None:
    lay_out(getattr(trees, tree), {path: "def f(:\n"})
    for run in (sync.verify, sync.check):
        report = run(trees.check(ascend=trees.ascend_old, select=("RS3",)))
        assert report.findings == ()
        assert re.search(said, report.notes[-1])


def test_an_upstream_runner_that_does_not_parse_is_no_green_run(trees: Trees) -> None:
    with (trees.ascend_old / ASCEND).open("a", encoding="utf-8") as file:
        file.write("\ndef broken(:\n")
    for run in (sync.verify, sync.check):
        with pytest.raises(InputError, match=rf"^{ASCEND}:\d+ of vllm-ascend 0\.20\.0 does not parse with Python 3"):
            run(trees.check(ascend=trees.ascend_old, select=("RS3",)))


def test_bases_without_a_target_are_half_a_question(trees: Trees) -> None:
    with pytest.raises(InputError, match=r"name also the vllm-ascend"):
        sync.check(trees.check(select=("RS4",), ascend_base="0.20.0"))


def test_findings_on_what_a_branch_touched(locked: Trees) -> None:
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS203", "RS110"))
    assert sync.check(options).findings == ()
    locked.edit(GPU_AR, "return self.model.sample(logits)", "return self.model.sample(logits, None)")
    assert keys(sync.check(options)) == {("RS203", "_sample")}
    commit(locked.omni, "Touch the hook")
    assert keys(sync.check(locked.check(changed_since="main~1", select=("RS203",)))) == {("RS203", "_sample")}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("(self, total):", "(self, total, step):", {("RS302", "_forward(step)")}, id="requires one more"),
        pytest.param("(self, total):", "(self, step=None, total=0):", {("RS307", "_forward")}, id="one in front"),
        pytest.param("(self, total):", "(self, total, step=None):", set[tuple[str, str]](), id="one that may be left"),
        pytest.param("how much there was", "how much there is", set[tuple[str, str]](), id="a comment"),
    ],
)
def test_what_a_branch_breaks_is_told_on_lines_that_it_did_not_touch(
    locked: Trees, old: str, new: str, expected: set[tuple[str, str]]
) -> None:
    """The call stands in the NPU runner; what changed is the GPU runner's method that it inherits. The gap from before
    the branch is no business of it."""
    locked.edit(AR, "return super()._finish(logits, total)", "return super()._finish(logits, total, self.gone_before)")
    commit(locked.omni, "Before")
    locked.edit(GPU_BASE, old, new)
    options = locked.check(ascend=locked.ascend_old, changed_since="main", select=("RS302", "RS304", "RS307"))
    assert keys(sync.check(options)) == expected


HELPER = "vllm_omni/platforms/npu/worker/sending.py"


@pytest.mark.parametrize("broken", ["def f(:\n", "<<<<<<< a\nx = 1\n=======\nx = 2\n>>>>>>> b\n"])
@pytest.mark.parametrize("path", [AR, GPU_BASE, HELPER])
def test_a_branch_that_repairs_a_file_is_told_so_and_passes(locked: Trees, path: str, broken: str) -> None:
    lay_out(locked.omni, {HELPER: "def f(): ...\n"})
    good = (locked.omni / path).read_text("utf-8")
    (locked.omni / path).write_text(good + broken, "utf-8")
    commit(locked.omni, "Broken")
    (locked.omni / path).write_text(good, "utf-8")
    report = sync.check(locked.check(ascend=locked.ascend_old, changed_since="main", select=("RS3",)))
    assert report.findings == ()
    assert sum("was not looked for; where it began: " in note and path in note for note in report.notes) == 1


@pytest.mark.parametrize(("top", "folder"), [("", ""), ("..", "omni/")])
def test_the_report_says_where_in_its_repository_the_tree_lies(locked: Trees, top: str, folder: str) -> None:
    """A checkout of its own, or a folder of another one; ``HEAD`` is read the same way."""
    commit((locked.omni / top).resolve())
    for omni in (TreeOptions(path=locked.omni), TreeOptions(path=locked.omni, ref="HEAD")):
        assert sync.check(replace(locked.check(), omni=omni)).folder == folder


def test_a_tree_in_no_repository_lies_nowhere(locked: Trees) -> None:
    assert sync.check(locked.check()).folder == ""


def test_changes_since_a_revision_need_git(locked: Trees) -> None:
    with pytest.raises(InputError, match=r"is no git checkout.*leave --changed-since out"):
        sync.check(locked.check(changed_since="main"))


def test_an_unknown_revision_is_named(locked: Trees) -> None:
    commit(locked.omni)
    with pytest.raises(InputError, match=r"has no revision nonesuch"):
        sync.check(locked.check(changed_since="nonesuch"))


def test_the_ratchet_from_first_writing_to_shrinking(locked: Trees, tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    first = sync.check(locked.check(baseline=file, update_baseline=True))
    assert first.findings == ()
    assert first.summary["accepted"] == sync.check(locked.check(baseline=file)).summary["accepted"] > 0
    assert json.loads(file.read_text("utf-8"))["findings"]
    assert sync.check(locked.check(baseline=file)).findings == ()
    locked.edit(AR, "    def _stage_of", "    def _sample(self, logits):\n        return None\n\n    def _stage_of")
    report = sync.check(locked.check(baseline=file))
    assert any("`_sample`" in note and "there is none" in note for note in report.notes)
    sync.check(locked.check(baseline=file, update_baseline=True))
    assert "_sample" not in file.read_text("utf-8")


def test_the_ratchet_accepts_nothing_new(locked: Trees, tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    sync.check(locked.check(baseline=file, update_baseline=True))
    before = file.read_text("utf-8")
    locked.edit(BASE, "self.last_hidden = hidden", f"self.last_hidden = hidden\n        {RULER}")
    report = sync.check(locked.check(baseline=file, update_baseline=True))
    assert "RS401" in {finding.code for finding in report.findings}
    assert file.read_text("utf-8") == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"update_baseline": True}, r"name it with --baseline FILE"),
        ({"baseline": Path("/nonexistent/accepted.json")}, r"there is no such baseline"),
        (
            {"baseline": Path("/nonexistent/accepted.json"), "update_baseline": True},
            r"there is no directory /nonexistent",
        ),
    ],
)
def test_baselines_that_cannot_be(locked: Trees, options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        sync.check(locked.check(**options))


def test_severity_and_ignore(locked: Trees) -> None:
    everything = sync.check(locked.check()).findings
    errors = sync.check(locked.check(severity="error")).findings
    assert {finding.severity for finding in errors} == {"error"}
    assert len(errors) < len(everything)
    assert "RS203" not in {code for code, _ in keys(sync.check(locked.check(ignore=("RS2",))))}


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [("ascend-path", "nowhere", "nowhere is not a folder"), ("ascend-version", "new", "'new' is no version")],
)
def test_a_tree_that_no_option_named_is_refused_with_the_key(locked: Trees, key: str, value: str, what: str) -> None:
    (locked.omni / "runner-sync.toml").write_text(f'{key} = "{value}"\n', "utf-8")
    with pytest.raises(InputError, match=rf"^\S*runner-sync\.toml: {key}: .*{what}"):
        sync.check(locked.check())


def test_a_tree_that_the_environment_named_is_refused_with_the_variable(
    locked: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_ASCEND_PATH", "nowhere")
    with pytest.raises(InputError, match=r"^VLLM_ASCEND_PATH: nowhere is not a folder"):
        sync.check(locked.check())


WORKER = "vllm_omni/platforms/npu/worker/npu_ar_worker.py"
ASCEND_WORKER = "vllm_ascend/worker/worker.py"
OF_WORKER = f"""\
from {module_name(ASCEND_WORKER)} import NPUWorker


class NPUARWorker(NPUWorker):
    def init_device(self):
        self.device = self._init_device()
"""


def test_workers_are_left_out_where_the_target_has_not_what_they_follow(trees: Trees) -> None:
    """vllm-ascend 0.12 had ``worker_v1.py``; a runner without its upstream is refused."""
    lay_out(trees.omni, {WORKER: OF_WORKER})
    commit(trees.ascend_old)
    trees.write_lock()
    lay_out(trees.ascend_old, ASCEND_NEW)
    (trees.ascend_old / ASCEND_WORKER).unlink()
    commit(trees.ascend_old)
    for base in (None, "HEAD~1"):
        report = sync.check(trees.check(ascend=trees.ascend_old, select=("RS10",), ascend_base=base))
        assert f"has no {ASCEND_WORKER}: what follows it was not compared with it" in " ".join(report.notes)
        assert ("RS101", "NPUModelRunner.execute_model") in keys(report)
    (trees.ascend_old / ASCEND).unlink()
    commit(trees.ascend_old)
    with pytest.raises(InputError, match=rf"has no {ASCEND}: give a tree that the runners can follow"):
        sync.check(trees.check(ascend=trees.ascend_old, select=("RS10",)))


def test_workers_are_compared_with_no_base_where_the_base_has_not_what_they_follow(trees: Trees) -> None:
    lay_out(trees.omni, {WORKER: OF_WORKER})
    worker = (trees.ascend_old / ASCEND_WORKER).read_text("utf-8")
    (trees.ascend_old / ASCEND_WORKER).unlink()
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {**ASCEND_NEW, ASCEND_WORKER: worker})
    commit(trees.ascend_old)
    report = sync.check(trees.check(ascend=trees.ascend_old, select=("RS10",), ascend_base="HEAD~1"))
    assert ("RS101", "NPUModelRunner.execute_model") in keys(report)
    assert not any(ASCEND_WORKER in note for note in report.notes)
    assert not any(finding.path == WORKER and finding.code.startswith("RS10") for finding in report.findings)


ANOTHER_UPSTREAM = f"""
[[modules]]
name = "NPUARModelRunner"
paths = ["{AR}"]
upstreams = [{{ project = "vllm", path = "vllm/v1/worker/gpu_model_runner.py", name = "GPUModelRunner" }}]
gpu = {{ project = "vllm-omni", path = "{GPU_AR}", name = "GPUARModelRunner" }}
"""


def test_runners_on_another_upstream_are_held_against_their_gpu_twin(trees: Trees) -> None:
    (trees.omni / "runner-sync.toml").write_text(ANOTHER_UPSTREAM, "utf-8")
    found = keys(sync.check(trees.check(ignore=("RS110", "RS201"))))
    assert ("RS203", "_sample") in found


def test_runners_on_another_upstream_are_ported_to_whatever_vllm_ascend_is_at_hand(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    (trees.omni / "runner-sync.toml").write_text(ANOTHER_UPSTREAM, "utf-8")
    monkeypatch.setenv("VLLM_ASCEND_PATH", str(trees.ascend_new))
    ported = sync.upgrade(replace(trees.upgrade(trees.ascend_new), ascend=TreeOptions(), upstream=False))
    assert "def _sample(" in next(change.after or "" for change in ported.changes if change.path == AR)


def test_a_profile_without_gpu_twins_has_nothing_to_port_from(trees: Trees) -> None:
    text = "".join(line for line in ANOTHER_UPSTREAM.splitlines(keepends=True) if not line.startswith("gpu"))
    (trees.omni / "runner-sync.toml").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"no module of the profile has a GPU twin"):
        sync.upgrade(replace(trees.upgrade(trees.ascend_new), upstream=False))


def test_configuration_selects_where_no_option_does(locked: Trees) -> None:
    (locked.omni / "runner-sync.toml").write_text('select = ["RS5"]\nignore = ["RS203"]\n', "utf-8")
    assert {code for code, _ in keys(sync.check(locked.check()))} <= {"RS501"}
    assert {code for code, _ in keys(sync.check(locked.check(select=("RS203",))))} == {"RS203"}


def test_the_report_quotes_its_sources(locked: Trees) -> None:
    text = render(sync.check(locked.check(select=("RS203",))), "text")
    assert "class NPUARModelRunner(OmniNPUModelRunner):" in text
    assert "Found 1 error in 1 file." in text


def test_a_runner_that_does_not_parse_is_named(locked: Trees) -> None:
    locked.edit(AR, "def _stage_of(self, request):", "def _stage_of(self, request:")
    with pytest.raises(InputError, match=rf"{AR}:\d+"):
        sync.check(locked.check())


_LIGHT = """
import sys
from pathlib import Path
from runner_sync import lock, sync
report = sync.check(sync.CheckOptions(omni=sync.TreeOptions(path=Path(sys.argv[1]))))
heavy = {"libcst", "git", "requests", "urllib3", "socket", "ssl", "typer", "rich", "jinja2", "msgspec", "tomlkit"}
print(len(report.findings), sorted(heavy & set(sys.modules) - {"socket"}))
"""


@pytest.mark.parametrize("path", [AR, GPU_AR, BASE])
@pytest.mark.parametrize("mark", ["<<<<<<< omni\n        pass\n=======\n        pass\n>>>>>>> topic\n", "=======\n"])
def test_a_merge_conflict_is_a_finding_with_and_without_trees(trees: Trees, path: str, mark: str) -> None:
    """The bases are inferred in the second run, and breakage is looked for."""
    folder, _ = git_ascend(trees)
    trees.write_lock()
    text = (trees.omni / path).read_text(encoding="utf-8")
    line = text[: text.index("    def ")].count("\n") + 2
    (trees.omni / path).write_text(text.replace(":\n        ", f":\n{mark}        ", 1), encoding="utf-8")
    offline = sync.check(trees.check())
    (trees.omni / "runner-sync.lock").unlink()
    for report in (offline, sync.check(trees.check(ascend=folder))):
        assert [(f.path, f.line) for f in report.findings if f.code == "RS410"] == [(path, line)]
    if path != GPU_AR:  # which no NPU class inherits from
        with pytest.raises(InputError, match=f"{path}:{line}: holds an unresolved merge conflict"):
            sync.verify(trees.check(ascend=folder))


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_file_that_the_lock_records_and_nobody_has_is_no_green_run(locked: Trees, path: str) -> None:
    (locked.omni / path).unlink()
    said = (
        rf"^runner-sync.lock records {path}, and the tree has no such runner: bring it back; .*`extend-modules`.* "
        r"`runner-sync lock`\.$"
    )
    for options in (locked.check(), locked.check(select=("RS402",)), locked.check(ascend=locked.ascend_new)):
        with pytest.raises(InputError, match=said):
            sync.check(options)
    with pytest.raises(InputError, match=said):
        sync.verify(locked.check(ascend=locked.ascend_old))
    locked.write_lock()
    assert "RS203" not in {code for code, _ in keys(sync.check(locked.check()))}


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_runner_with_another_path_takes_two_steps_and_is_told_each(locked: Trees, path: str) -> None:
    """The configuration says where it is, and the lock must follow."""
    commit(locked.omni, "Before")
    moved = path.replace("_model_runner", "_runner")
    (locked.omni / path).rename(locked.omni / moved)
    with pytest.raises(InputError, match=r"`extend-modules` in the configuration, and then.*`runner-sync lock`\.$"):
        sync.check(locked.check())
    row = ROW.format(**{"npu": AR, "gpu": GPU_AR, ("npu" if path == AR else "gpu"): moved})
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    said = rf"^runner-sync.lock records {path}, .* the configuration names another path, .*`runner-sync lock`\.$"
    for options in (locked.check(), locked.check(changed_since="main")):
        with pytest.raises(InputError, match=said):
            sync.check(options)
    locked.write_lock()
    assert ("RS203", "_sample") in keys(sync.check(locked.check()))


def test_a_row_that_takes_the_name_of_a_runner_from_it_is_told_so(locked: Trees) -> None:
    """The runner is where it was, and nobody would look into it."""
    other = AR.replace("_model_runner", "_other_runner")
    lay_out(locked.omni, {other: (locked.omni / AR).read_text("utf-8")})
    row = ROW.format(npu=other, gpu=GPU_AR)
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    said = rf"^runner-sync\.lock records {AR}, and no row of the configuration names it any more: .*`name` of its own;"
    with pytest.raises(InputError, match=said):
        sync.check(locked.check())
    named = row.replace("NPUARModelRunner", "NPUOtherModelRunner")
    (locked.omni / "runner-sync.toml").write_text(named, "utf-8")
    locked.edit(other, "class NPUARModelRunner(", "class NPUOtherModelRunner(")
    assert sync.check(locked.check()).command == "check"
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    locked.edit(other, "class NPUOtherModelRunner(", "class NPUARModelRunner(")
    planned = sync.upgrade(locked.upgrade(locked.ascend_old, verify=False))
    assert planned.lock is None or AR in (planned.lock.after or ""), "an upgrade forgets nothing"
    locked.write_lock()
    assert sync.check(locked.check()).command == "check", "as it says"


def test_a_change_of_line_ends_touches_no_unit(locked: Trees) -> None:
    """Git compares bytes: every line of the file is another one to it."""
    locked.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    commit(locked.omni, "Before")
    text = (locked.omni / AR).read_text("utf-8")
    options = locked.check(changed_since="main", select=("RS201", "RS203"))
    for now in (text, text.replace("return super()._finish", "return 1 or super()._finish"), f"# A remark.\n{text}"):
        (locked.omni / AR).write_bytes(now.replace("\n", "\r\n").encode())
        assert sync.check(options).findings == ()
    now = text.replace(
        "class NPUARModelRunner(OmniNPUModelRunner):", "class NPUARModelRunner(OmniNPUModelRunner):  # why"
    )
    (locked.omni / AR).write_bytes(now.replace("\n", "\r\n").encode())
    assert keys(sync.check(options)) == {("RS203", "_sample")}


def test_a_docstring_of_the_gpu_side_is_no_change_after_a_new_lock_either(locked: Trees) -> None:
    head = "def _stage_of(self, request):\n"
    commit(locked.omni, "Before")
    (locked.omni / NPU.lock_file).unlink()
    locked.write_lock()
    commit(locked.omni, "Lock")
    locked.edit(GPU_AR, head, head + '        """The stage of a request."""\n')
    assert sync.check(locked.check(select=("RS201",))).findings == ()
    commit(locked.omni, "Say what it does")
    locked.write_lock()
    assert sync.check(locked.check(select=("RS201",))).findings == ()
    locked.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    assert keys(sync.check(locked.check(select=("RS201",)))) == {("RS201", "GPUARModelRunner._stage_of")}


def test_a_port_by_hand_is_told_how_to_record_it(locked: Trees) -> None:
    commit(locked.omni, "Before")
    for path in (GPU_AR, AR):
        locked.edit(path, 'return info.get("stage")', 'return info.get("stage", 0)')
    options = locked.check(changed_since="main", select=("RS201", "RS111"))
    report = sync.check(options)
    assert report.findings == ()
    (note,) = report.notes
    assert note == (
        "NPUARModelRunner._stage_of: changed since the lock, like the GPU twin; where that is the port, record it with "
        "`runner-sync lock`"
    )
    commit(locked.omni, "Port")
    options = locked.check(changed_since="main", select=("RS201", "RS111"))
    assert sync.check(options).notes == ()
    assert [f.severity for f in sync.check(locked.check(select=("RS201",))).findings] == ["info"]
    locked.edit(GPU_AR, 'return info.get("stage", 0)', 'return info.get("stage", 1)')
    assert keys(sync.check(options)) == {("RS201", "GPUARModelRunner._stage_of")}
    locked.edit(GPU_AR, 'return info.get("stage", 1)', 'return info.get("stage", 0)')
    locked.write_lock()
    assert sync.check(locked.check(select=("RS201",))).findings == ()


def test_an_entry_of_the_lock_that_a_branch_takes_out_is_told_of(locked: Trees) -> None:
    commit(locked.omni, "Before")
    file = locked.omni / NPU.lock_file
    known = lock.load(file.read_text("utf-8"))
    kept = tuple(entry for entry in known.entries if entry.qualname != "NPUARModelRunner._stage_of")
    file.write_text(lock.dump(replace(known, entries=kept)), "utf-8")
    options = locked.check(changed_since="main", select=("RS201", "RS111"))
    assert [(f.code, f.severity) for f in sync.check(options).findings] == [("RS111", "warning")]
    locked.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    assert {f.code for f in sync.check(options).findings} == {"RS111", "RS201"}


@pytest.mark.parametrize(("path", "name"), [(AR, "NPUARModelRunner"), (GPU_AR, "GPUARModelRunner")])
def test_a_runner_whose_class_has_another_name_is_no_green_run(locked: Trees, path: str, name: str) -> None:
    """Every rule finds its runner by the name of the class, and would find nothing."""
    locked.edit(path, f"class {name}(", f"class {name}V2(")
    said = rf"^{path} has no class {name}: bring it back, .*\(`extend-classes = .*NEW_NAME.*`\)\.$"
    for options in (locked.check(), locked.check(select=("RS402",)), locked.check(ascend=locked.ascend_new)):
        with pytest.raises(InputError, match=said):
            sync.check(options)
    with pytest.raises(InputError, match=said):
        sync.verify(locked.check(ascend=locked.ascend_old))


_CLASSLESS: list[tuple[str, str, Callable[[str], str]]] = [
    (AR, "NPUARModelRunner", lambda _: ""),
    (AR, "NPUARModelRunner", lambda text: text.replace("class NPUARModelRunner(", "class NPUARModelRunnerV2(")),
    (BASE, "OmniNPUModelRunner", lambda _: ""),
    (GPU_AR, "GPUARModelRunner", lambda _: ""),
]


@pytest.mark.parametrize("is_locked", [True, False])
@pytest.mark.parametrize("command", [sync.lock, sync.upgrade], ids=["lock", "upgrade"])
@pytest.mark.parametrize(("path", "name", "text"), _CLASSLESS)
def test_what_records_the_runners_wants_their_classes_too(
    locked: Trees,
    command: Callable[[UpgradeOptions], sync.Upgrade],
    path: str,
    name: str,
    text: Callable[[str], str],
    is_locked: bool,
) -> None:
    """A lock without the units of a runner would say for ever after that it has none."""
    if not is_locked:
        (locked.omni / "runner-sync.lock").unlink()
    file = locked.omni / path
    file.write_text(text(file.read_text("utf-8")), "utf-8")
    with pytest.raises(InputError, match=rf"^{path} has no class {name}: bring it back, .*`extend-classes = .*`\)\.$"):
        command(locked.upgrade(locked.ascend_old))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_git_applies_the_patch_to_what_lies_there(trees: Trees, ending: str, mark: str) -> None:
    """And it makes of the file what the command itself would have written."""
    commit(trees.ascend_old)
    trees.write_lock()
    lay_out(trees.ascend_old, ASCEND_NEW)
    commit(trees.ascend_old)
    for path in (AR, NPU.lock_file):
        file = trees.omni / path
        file.write_bytes((mark + file.read_text("utf-8").replace("\n", ending)).encode())
    commit(trees.omni)
    options = trees.upgrade(trees.ascend_old, verify=False)
    planned = sync.upgrade(options)
    assert {AR, NPU.lock_file} <= {change.path for change in planned.patch}
    patch = render(replace(planned.report, changes=planned.patch), "diff").encode()
    subprocess.run(["git", "-C", str(trees.omni), "apply"], input=patch, check=True)
    applied = {change.path: (trees.omni / change.path).read_bytes() for change in planned.patch}
    subprocess.run(["git", "-C", str(trees.omni), "checkout", "-q", "."], check=True)
    sync.apply(planned, options)
    assert applied == {path: (trees.omni / path).read_bytes() for path in applied}


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("OmniNPUModelRuner.execute_model", r"did you mean 'OmniNPUModelRunner\.execute_model'\?"),
        ("execute_model", r"did you mean 'OmniNPUModelRunner\.execute_model'\?"),
        ("Nope", "name one as in 'Class.method', or take it out"),
    ],
)
def test_a_unit_pattern_that_no_unit_matches_is_refused(locked: Trees, pattern: str, hint: str) -> None:
    (locked.omni / "runner-sync.toml").write_text(f'[units]\n"{pattern}" = "omni"\n', "utf-8")
    with pytest.raises(InputError, match=rf"runner-sync\.toml: units: no unit matches '{pattern}'; {hint}"):
        sync.upgrade(locked.upgrade(locked.ascend_old))


@pytest.mark.parametrize(
    "pattern", ["OmniNPUModelRunner.execute_model", "*._forward", "NPUARModelRunner.only_on_gpu", "NPUAR*"]
)
def test_a_unit_pattern_may_name_what_only_the_gpu_side_has(locked: Trees, pattern: str) -> None:
    file = locked.omni / GPU_AR
    file.write_text(f"{file.read_text('utf-8').rstrip()}\n\n    def only_on_gpu(self):\n        return 1\n", "utf-8")
    (locked.omni / "runner-sync.toml").write_text(f'[units]\n"{pattern}" = "omni"\n', "utf-8")
    commit(locked.omni)
    options = locked.upgrade(locked.ascend_old, omni_base="HEAD", vllm_base="0.20.0", verify=False)
    assert sync.upgrade(options).report.command == "upgrade"


def test_a_path_pattern_that_no_file_matches_is_said(locked: Trees) -> None:
    text = '[per-path-ignores]\n"*/npu_ar_*.py" = ["RS202"]\n"*/npu_arr_*.py" = ["RS202"]\n'
    (locked.omni / "runner-sync.toml").write_text(text, "utf-8")
    said = [note for note in sync.check(locked.check()).notes if "per-path-ignores" in note]
    assert [note.partition("runner-sync.toml: ")[2] for note in said] == [
        "per-path-ignores: no file matches '*/npu_arr_*.py'"
    ]


@pytest.mark.parametrize("command", [sync.check, sync.verify])
def test_a_configured_module_that_is_not_in_the_tree_is_said(
    locked: Trees, command: Callable[[CheckOptions], Report]
) -> None:
    """Misspelt, it was looked into by nobody, and the run was green."""
    row = '[[extend-modules]]\nname = "{}"\npaths = ["{}"]\n'
    row += 'upstreams = [{{ project = "vllm-ascend", path = "{}", name = "NPUModelRunner" }}]\n'
    row += 'gpu = {{ project = "vllm-omni", path = "{}", name = "GPUARModelRunner" }}\n'
    text = row.format("NPUFarRunner", "vllm_omni/npu_far.py", ASCEND, GPU_AR)
    text += row.format("NPUARModelRunner", AR, ASCEND, "gpu/ra.py")
    (locked.omni / "runner-sync.toml").write_text(text, "utf-8")
    notes = command(locked.check(ascend=locked.ascend_old)).notes
    assert [note.partition("runner-sync.toml: ")[2] for note in notes if "runner-sync.toml: " in note] == [
        "the module of NPUFarRunner is not in the tree (vllm_omni/npu_far.py)",
        "the GPU twin of NPUARModelRunner is not in the tree (gpu/ra.py)",
    ]


def test_an_upgrade_forgets_a_file_that_went(locked: Trees) -> None:
    (locked.omni / AR).unlink()
    commit(locked.omni)
    planned = sync.upgrade(locked.upgrade(locked.ascend_old, omni_base="HEAD", vllm_base="0.20.0"))
    assert planned.lock is not None
    assert planned.lock.after is not None
    assert BASE in planned.lock.after
    assert AR not in planned.lock.after


@pytest.mark.parametrize(("text", "message"), [(None, "has no such runner"), ("", "has no class GPUARModelRunner")])
def test_an_upgrade_without_a_gpu_twin_that_the_lock_records_is_refused(
    locked: Trees, text: str | None, message: str
) -> None:
    """It would look like a runner that has dropped everything, and the lock would forget what was ported."""
    if text is None:
        (locked.omni / GPU_AR).unlink()
    else:
        (locked.omni / GPU_AR).write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        sync.upgrade(locked.upgrade(locked.ascend_old, omni_base="HEAD", vllm_base="0.20.0"))


def test_a_gpu_file_that_does_not_parse_is_named(locked: Trees) -> None:
    locked.edit(GPU_AR, "class GPUARModelRunner", "def f(:\nclass GPUARModelRunner")
    with pytest.raises(InputError, match=rf"^{GPU_AR}:\d+: does not parse"):
        sync.upgrade(locked.upgrade(locked.ascend_old, omni_base="HEAD", vllm_base="0.20.0"))


@pytest.mark.parametrize("in_git", [False, True])
def test_from_the_lock_nothing_heavy_is_imported(locked: Trees, in_git: bool) -> None:
    if in_git:
        commit(locked.omni, "v0.22.0")
    done = subprocess.run([sys.executable, "-c", _LIGHT, str(locked.omni)], check=True, capture_output=True, text=True)
    count, heavy = done.stdout.strip().split(" ", 1)
    assert int(count) > 0
    assert heavy == "[]"


_LIGHT_COMMAND = """
import sys
from runner_sync import cli
code = cli.run(["-q", "check", "--omni-path", sys.argv[1], "--ignore", "RS4", "--select", "ALL", "-o", "json"])
heavy = {"libcst", "git", "requests", "pydantic", "rich", "jinja2", "msgspec", "tomlkit"}
print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def test_the_command_imports_nothing_heavy_either(locked: Trees) -> None:
    command = [sys.executable, "-c", _LIGHT_COMMAND, str(locked.omni)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == "1 []\n"


# Incidents of released versions, through the public functions alone.


def on_release(version: str, **rest: object) -> CheckOptions:
    return CheckOptions(omni=TreeOptions(version=version), **rest)  # type: ignore[arg-type]


def told(findings: tuple[Finding, ...]) -> set[tuple[str, str, str]]:
    return {(finding.code, finding.unit, finding.symbol) for finding in findings}


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "is_missing"), [("0.20.0", True), ("0.21.0rc1", True), ("0.22.0", False)])
def test_the_sample_hook(corpus_release: CorpusRelease, version: str, is_missing: bool) -> None:
    corpus_release("vllm-omni", version)
    found = told(sync.check(on_release(version, select=("RS203",))).findings)
    assert (("RS203", "NPUARModelRunner", "_sample") in found) is is_missing


RECORDED = [("0.20.0", "0.18.0"), ("0.26.0", "0.26.0rc1"), ("0.32.0rc1", "0.30.0rc2")]


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "ascend"), RECORDED)
def test_a_lock_that_was_just_written_lacks_nothing(
    corpus_release: CorpusRelease, tmp_path: Path, version: str, ascend: str
) -> None:
    tree = corpus_release("vllm-omni", version)
    corpus_release("vllm-ascend", ascend)
    for path in [path for path in tree.paths("vllm_omni/") if "/worker/" in path or path.count("/") < 2]:
        lay_out(tmp_path, {path: tree.read(path) or ""})
    omni = TreeOptions(path=tmp_path)
    planned = sync.lock(UpgradeOptions(omni=omni, ascend=TreeOptions(version=ascend)))
    assert planned.lock is not None
    (tmp_path / NPU.lock_file).write_text(planned.lock.after or "", "utf-8")
    assert sync.check(CheckOptions(omni=omni, select=("RS111",))).findings == ()


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "is_missing"), [("0.24.0", True), ("0.26.0", False)])
def test_the_connector_mixin(corpus_release: CorpusRelease, version: str, is_missing: bool) -> None:
    corpus_release("vllm-omni", version)
    found = told(sync.check(on_release(version, select=("RS204",))).findings)
    runners = {"NPUARModelRunner", "NPUGenerationModelRunner"} if is_missing else set()
    assert found == {("RS204", runner, "OmniConnectorModelRunnerMixin") for runner in runners}


@pytest.mark.corpus
def test_eight_breaks_of_one_release_on_the_next(corpus_release: CorpusRelease) -> None:
    for project, version in (("vllm-omni", "0.26.0"), ("vllm", "0.30.0"), ("vllm", "0.26.0")):
        corpus_release(project, version)
    report = sync.verify(
        on_release(
            "0.26.0",
            ascend=TreeOptions(version="0.30.0rc2"),
            ascend_base="0.26.0rc1",
            vllm_base="0.26.0",
        )
    )
    said = [(source.project, source.ref) for source in report.inputs]
    assert said == [("vllm-omni", "0.26.0"), ("vllm-ascend", "0.30.0rc2"), ("vllm", "0.30.0")], "vLLM is not named"
    assert {(finding.code, finding.symbol) for finding in report.findings} == {
        ("RS303", "_bookkeeping_sync"),
        ("RS304", "_all_gather_hidden_states_and_aux"),
        ("RS304", "calculate_kv_scales"),
        ("RS304", "uses_xdrope_dim"),
        ("RS304", "xdrope_positions"),
        ("RS305", "initialize_kv_cache(kv_cache_allocation_context=)"),
        ("RS306", "set_ascend_forward_context(input_ids=)"),
        ("RS319", "preprocess_mamba(mamba_state_copy_funcs)"),
    }


GONE = "7c8ee98378"


def gone_commit(trees: Trees) -> Path:
    """A lock that names a commit of a branch, which the merge left behind."""
    commit(trees.omni)
    trees.write_lock()
    lock_file = trees.omni / "runner-sync.lock"
    text = lock_file.read_text("utf-8")
    head = subprocess.run(
        ["git", "-C", str(trees.omni), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    assert head.stdout[:10] in text
    lock_file.write_text(text.replace(head.stdout[:10], GONE), "utf-8")
    commit(trees.omni)
    return lock_file


def test_a_locked_commit_that_was_squashed_away_is_found_by_its_texts(trees: Trees) -> None:
    gone_commit(trees)
    trees.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))
    assert any("names vllm-omni 7c8ee98378; " in note for note in planned.report.notes)
    assert "NPUARModelRunner._stage_of" in [unit.unit for unit in planned.report.units if unit.ported]


def test_the_first_commit_with_the_locked_texts_is_read(trees: Trees) -> None:
    """What the GPU runner got later, with those texts as they were, was not settled when the lock was written."""
    gone_commit(trees)
    own = ["git", "-C", str(trees.omni), "log", "--format=%H", "--", GPU_AR]
    first = subprocess.run(own, check=True, capture_output=True, text=True).stdout[:10]
    trees.edit(GPU_AR, "    def _stage_of", "    def _fresh(self):\n        return 1\n\n    def _stage_of")
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))
    (note,) = [note for note in planned.report.notes if "names vllm-omni 7c8ee98378; " in note]
    assert f"; {first} was read" in note


def settle(trees: Trees, unit: tuple[str, str], twin: tuple[str, str]) -> Path:
    """A lock by which ``unit`` follows its GPU ``twin`` as that is now, settled at a commit that is gone."""
    lock_file = trees.omni / NPU.lock_file
    known = lock.load(lock_file.read_text("utf-8"))
    path, qualname = twin
    digest = lock.digest(unit_texts((trees.omni / path).read_text("utf-8"))[qualname])
    entry = known.find(*unit) or lock.Entry(*unit)
    settled = replace(entry, gpu=BaseRef("vllm-omni", GONE, path, qualname, "lock", 1.0, digest))
    made = lock.merge(known, [settled], inputs=known.inputs, gone=set())
    lock_file.write_text(lock.dump(made), "utf-8")
    commit(trees.omni)
    return lock_file


def test_a_changed_twin_is_not_read_at_a_commit_that_only_has_another_twins_texts(trees: Trees) -> None:
    """A shallow clone, or a squash: what the GPU runner got since would count as known, and never be ported."""
    gone_commit(trees)
    settle(trees, (BASE, "OmniNPUModelRunner.execute_model"), (GPU_BASE, "OmniGPUModelRunner._forward"))
    trees.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    shutil.rmtree(trees.omni / ".git")
    commit(trees.omni)
    with pytest.raises(InputError, match=rf"{GONE}, which cannot be read"):
        sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))


def test_a_lock_made_anew_keeps_what_names_a_commit_that_is_gone(trees: Trees) -> None:
    """What was settled by hand looks like an older twin again, and only the lock knows better."""
    gone_commit(trees)
    trees.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    text = settle(trees, (AR, "NPUARModelRunner._stage_of"), (GPU_AR, "GPUARModelRunner._stage_of")).read_text("utf-8")
    made = sync.lock(trees.upgrade(trees.ascend_old, vllm_base="0.20.0")).lock
    after, before = (lock.load(one).entries for one in (made.after or "" if made is not None else text, text))
    assert [(one.key, one.upstream, one.gpu) for one in after] == [(one.key, one.upstream, one.gpu) for one in before]


def test_a_locked_commit_whose_texts_nobody_has_is_an_error(trees: Trees) -> None:
    lock_file = gone_commit(trees)
    text = re.sub(r'(?s)(unit\.gpu\]\n.*?digest = )"\w+"', rf'\1"{"0" * 64}"', lock_file.read_text("utf-8"))
    lock_file.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"7c8ee98378, which cannot be read"):
        sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))


def test_a_selection_of_which_nothing_is_left_is_refused(locked: Trees) -> None:
    with pytest.raises(InputError, match=r"^no rule is left to check: --select, --ignore and the configuration"):
        sync.check(locked.check(select=("RS401",), ignore=("RS401",)))


def test_a_base_that_is_the_target_itself_is_compared_with_nothing(locked: Trees) -> None:
    """What fits neither would never be told; the lock that names the target says as much."""
    locked.edit(AR, "return super()._finish(logits, total)", "return super()._finish(logits, total, self.gone_before)")
    alone = sync.verify(locked.check(ascend=locked.ascend_old))
    assert ("RS304", "gone_before") in keys(alone)
    assert sync.verify(locked.check(ascend=locked.ascend_old, ascend_base="0.20.0")).findings == alone.findings


def test_a_run_for_a_branch_says_that_it_reports_what_the_branch_did(locked: Trees) -> None:
    commit(locked.omni)
    for since, said in ((None, "and"), ("main", "as far as the branch touched or brought it")):
        options = locked.check(ascend=locked.ascend_old, changed_since=since, select=("RS3",))
        assert [note for note in sync.check(options).notes if note.startswith("breakage:") and said in note]
