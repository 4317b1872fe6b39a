"""``check`` and ``verify`` from options to report, on small trees."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_NEW,
    BASE,
    GPU_AR,
    HELPER,
    MODULE_ROW,
    RULER,
    Trees,
    check_upgrade,
    commit,
    keys,
    lay_out,
)

from runner_sync import cli, lock, sync, write
from runner_sync.errors import InputError
from runner_sync.profile import NPU
from runner_sync.render import render
from runner_sync.sync.notes import run_notes
from runner_sync.sync.opening import open_inputs
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.trees import pairs


def test_a_lock_that_names_a_folder_is_not_believed_when_the_folder_has_another_text(locked: Trees) -> None:
    """Replaced in place, the base would be the target: nothing to do, and never a finding."""
    lay_out(locked.ascend_old, {ASCEND: ASCEND_NEW[ASCEND]})
    with pytest.raises(InputError, match=r"runner-sync\.lock names vllm-ascend 0\.20\.0, which cannot be read"):
        sync.upgrade(locked.upgrade(locked.ascend_old))
    with pytest.raises(InputError, match=r"^vllm-ascend 0\.20\.0 is not in the cache"):
        sync.check(locked.check(ascend=locked.ascend_old))


@pytest.mark.parametrize("recorded", ["", 'vllm = "0.19.0"\n'])
def test_a_lock_names_no_folder_of_this_machine(trees: Trees, recorded: str) -> None:
    """What it said of a vLLM does not hold for the one that was read now."""
    (trees.vllm / "PKG-INFO").unlink()
    commit(trees.omni)
    trees.write_lock()
    file = trees.omni / NPU.lock_file
    named = 'vllm-ascend = "0.20.0"\n'
    assert named in file.read_text("utf-8")
    file.write_text(file.read_text("utf-8").replace(named, recorded + named, 1), "utf-8")
    planned = sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself))
    text = planned.lock.after if planned.lock is not None else file.read_text("utf-8")
    assert lock.load(text or "").inputs == {"vllm-ascend": "0.20.0"}
    assert str(trees.vllm.parent) not in (text or "")
    assert not any("only this machine has" in note for note in planned.report.notes)


@pytest.mark.parametrize("is_named", [True, False])
def test_a_followed_folder_without_a_version_is_said_to_be_of_this_machine(trees: Trees, *, is_named: bool) -> None:
    if not is_named:
        (trees.ascend_old / "PKG-INFO").unlink()
    options = trees.upgrade(trees.ascend_old)
    said = run_notes.make_notes([], open_inputs(options), options)
    assert [note for note in said if "only this machine has" in note] == ([] if is_named else [said[0]])


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


@pytest.mark.parametrize("is_changed", [True, False], ids=["changed by the upgrade", "left as it is"])
def test_an_upgrade_settles_only_edits_of_units_that_it_changes(trees: Trees, is_changed: bool) -> None:
    """Nobody has seen the others; ``lock`` records what was edited by hand."""
    folder, edited = trees.ascend_old, ("RS110", "OmniNPUModelRunner.execute_model")
    commit(folder, "Old")
    trees.write_lock()
    trees.edit(BASE, "self.last_hidden = hidden", "self.last_hidden = hidden[:total]")
    if is_changed:
        git_ascend(trees)
    options = replace(trees.upgrade(folder), allow_dirty=True)
    sync.apply(sync.upgrade(options), options)
    assert (edited in keys(sync.check(trees.check()))) == (not is_changed)
    again = sync.upgrade(options)
    assert again.changes == ()
    assert again.lock is None
    planned = sync.lock(trees.upgrade(folder, omni_base=trees.itself))
    if planned.lock is not None:
        write.write([planned.lock], trees.omni)
    assert edited not in keys(sync.check(trees.check()))


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


def test_what_fits_neither_the_old_nor_the_new_trees_is_counted(trees: Trees) -> None:
    folder, old = git_ascend(trees)
    trees.edit(BASE, "self.last_hidden = hidden", "from vllm.late import f\n        self.last_hidden = f(hidden)")
    notes = sync.verify(trees.check(ascend=folder, ascend_base=old, vllm_base="0.20.0")).notes
    (note,) = (note for note in notes if "fits neither" in note)
    assert note.startswith("1 problem fits neither the new nor the old trees and is not listed: `runner-sync check --")
    assert not any("fits neither" in note for note in sync.verify(trees.check(ascend=folder)).notes)


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


def test_the_lock_knows_which_vllm_the_runners_were_made_for(trees: Trees) -> None:
    """Where the vllm-ascend of then does not say, as a commit that is built on a commit of vLLM."""
    (trees.ascend_old / "PKG-INFO").unlink()
    commit(trees.ascend_old)
    trees.write_lock()
    lay_out(trees.ascend_old, {name: text for name, text in ASCEND_NEW.items() if name != "PKG-INFO"})
    commit(trees.ascend_old)
    options = trees.check(ascend=trees.ascend_old)
    assert "RS101" in {finding.code for finding in sync.check(options).findings}
    lock_file = trees.omni / "runner-sync.lock"
    known = lock_file.read_text("utf-8")
    assert known.count('vllm = "0.20.0"\n') == 1
    lock_file.write_text(known.replace('vllm = "0.20.0"\n', ""), "utf-8")
    with pytest.raises(InputError, match="name it with --vllm-base"):
        sync.check(options)


def test_ignore_comments_count_in_verify_too(trees: Trees) -> None:
    line = "logits, hidden = self._forward(total)"
    trees.edit(BASE, line, f"{line}  # runner-sync: ignore[RS303] the third value is for the drafter")
    report = sync.verify(trees.check(ascend=trees.ascend_new))
    assert "RS303" not in {code for code, _ in keys(report)}
    assert report.summary["ignored"] == 1


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
    row = MODULE_ROW.format(npu=path, gpu=gpu).replace("NPUAR", "NPUDiffusion").replace("GPUAR", "GPUDiffusion")
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


@pytest.mark.parametrize("line", ["def f(:\n", "<<<<<<< HEAD\n"])
def test_a_gpu_runner_that_does_not_parse_ends_verify_though_no_npu_class_inherits_from_it(
    trees: Trees, line: str
) -> None:
    with (trees.omni / GPU_AR).open("a", encoding="utf-8") as file:
        file.write(line)
    with pytest.raises(InputError, match=rf"^{GPU_AR}:\d+: "):
        sync.verify(trees.check(ascend=trees.ascend_old))
    (trees.omni / GPU_AR).unlink()
    assert sync.verify(trees.check(ascend=trees.ascend_old)).command == "verify", "a runner without a twin"


def test_an_upstream_runner_that_does_not_parse_is_no_green_run(trees: Trees) -> None:
    with (trees.ascend_old / ASCEND).open("a", encoding="utf-8") as file:
        file.write("\ndef broken(:\n")
    for run in (sync.verify, sync.check):
        with pytest.raises(InputError, match=rf"^{ASCEND}:\d+ of vllm-ascend 0\.20\.0 does not parse with Python 3"):
            run(trees.check(ascend=trees.ascend_old, select=("RS3",)))


def test_bases_without_a_target_are_half_a_question(trees: Trees) -> None:
    with pytest.raises(InputError, match=r"name also the vllm-ascend"):
        sync.check(trees.check(select=("RS4",), ascend_base="0.20.0"))


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


REVIEW = "# runner-sync: review R3 both sides changed this"


def test_the_ratchet_leaves_open_what_an_upgrade_asked(locked: Trees, tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    locked.edit(BASE, "self.last_hidden = hidden", f"{REVIEW}\n        self.last_hidden = hidden")
    options = locked.check(baseline=file, update_baseline=True)
    for _ in ("written", "written again"):
        report = sync.check(options)
        assert [finding.code for finding in report.findings] == ["RS406"]
        (said,) = [note for note in report.notes if "RS406" in note]
        assert f"`runner-sync settle --omni-path {locked.omni}`" in said
        assert "RS406" not in file.read_text("utf-8")
        assert [finding.code for finding in sync.check(locked.check(baseline=file)).findings] == ["RS406"]


@pytest.mark.parametrize(("codes", "is_said"), [(("RS406",), False), (("RS406", "RS402"), True)])
def test_a_baseline_is_advised_only_for_what_it_accepts(locked: Trees, codes: tuple[str, ...], is_said: bool) -> None:
    locked.edit(BASE, "self.last_hidden = hidden", f"{REVIEW}\n        self.last_hidden = hidden")
    locked.edit(AR, "info = request", "torch.cuda.synchronize()\n        info = request")
    others = {finding.code for finding in sync.check(locked.check()).findings} - {*codes}
    assert bool(sync.check(locked.check(ignore=tuple(others))).advice) is is_said


@pytest.mark.parametrize(("config", "heading"), [("pyproject.toml", "[tool.runner-sync]\n"), ("ci/checks.toml", "")])
def test_old_findings_can_be_accepted_as_the_report_says(
    locked: Trees, config: str, heading: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most trees have findings that are older than the tool; only people read how to accept them."""
    monkeypatch.chdir(locked.omni)
    Path("ci").mkdir()
    Path(config).write_text(heading, "utf-8")
    check = ["check", "--config", config]
    assert cli.run(check) == 1
    said = capsys.readouterr().out
    (first, setting) = re.findall(r"`([^`]+)`", " ".join(said[said.index("note: the first time") :].split()))
    assert cli.run(shlex.split(first)[1:]) == 0
    Path(config).write_text(f"{heading}{setting}\n", "utf-8")
    assert cli.run(check) == 0
    assert "--update-baseline" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "is_said"),
    [
        ("check", True),
        ("check -o markdown", True),
        ("check -o json", False),
        ("check -o github", False),
        ("check --select RS2", False),
        ("check --changed-since HEAD", False),
    ],
)
def test_a_baseline_is_advised_to_people_who_check_everything(
    locked: Trees, words: str, is_said: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(locked.omni)
    monkeypatch.chdir(locked.omni)
    cli.run(words.split())
    assert ("--update-baseline" in capsys.readouterr().out) is is_said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"update_baseline": True}, r"name it with --baseline FILE"),
        ({"baseline": Path("nowhere/accepted.json")}, r"there is no such baseline"),
        (
            {"baseline": Path("nowhere/accepted.json"), "update_baseline": True},
            r"there is no directory nowhere",
        ),
    ],
)
def test_baselines_that_cannot_be(locked: Trees, options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        sync.check(locked.check(**options))


def test_what_makes_the_run_fail_is_no_matter_of_what_is_reported(locked: Trees) -> None:
    """The option wins over the key."""
    whole = sync.check(locked.check())
    assert (whole.fail_on, sync.check(locked.check(fail_on="error"))) == ("info", replace(whole, fail_on="error"))
    (locked.omni / "runner-sync.toml").write_text("fail-on = 'warning'\n", "utf-8")
    assert [sync.check(locked.check(fail_on=least)).fail_on for least in (None, "error")] == ["warning", "error"]
    (locked.omni / "runner-sync.lock").unlink()
    assert sync.verify(locked.check(ascend=locked.ascend_new)).fail_on == "warning"


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
from runner_sync import lock, sync, write
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


def test_a_selection_of_which_nothing_is_left_is_refused(locked: Trees) -> None:
    with pytest.raises(InputError, match=r"^no rule is left to check: --select, --ignore and the configuration"):
        sync.check(locked.check(select=("RS401",), ignore=("RS401",)))


ALONE = r"^RS390 alone asks a type checker, and none is to run: name one by --typecheck ty or mypy\.$"
NONE_LEFT = r"^no rule is left to verify: --select, --ignore and the configuration leave out every one\.$"
NO_OLDER = r"^ty was not asked: it compares with an older upstream; name it by --ascend-base or --vllm-base\.$"


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        pytest.param({"select": ("RS390",)}, ALONE, id="the type checker, which is off"),
        pytest.param({"ignore": ("RS30", "RS31", "RS32")}, ALONE, id="all others ignored"),
        pytest.param({"select": ("RS301",), "ignore": ("RS301",)}, NONE_LEFT, id="nothing"),
        pytest.param({"select": ("RS390",), "typecheck": "ty"}, NO_OLDER, id="nothing to compare with"),
    ],
)
def test_a_verify_that_can_report_nothing_is_refused(trees: Trees, chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        sync.verify(trees.check(ascend=trees.ascend_new, **chosen))


@pytest.mark.parametrize("chosen", [{"select": ("RS390", "RS301")}, {"select": ("RS3",)}, {}])
def test_a_verify_with_a_rule_besides_the_type_checker_runs(trees: Trees, chosen: dict[str, Any]) -> None:
    assert sync.verify(trees.check(ascend=trees.ascend_new, **chosen)).command == "verify"


def test_a_base_that_is_the_target_itself_is_compared_with_nothing(locked: Trees) -> None:
    """What fits neither would never be told; the lock that names the target says as much."""
    locked.edit(AR, "return super()._finish(logits, total)", "return super()._finish(logits, total, self.gone_before)")
    alone = sync.verify(locked.check(ascend=locked.ascend_old))
    assert ("RS304", "gone_before") in keys(alone)
    assert sync.verify(locked.check(ascend=locked.ascend_old, ascend_base="0.20.0")).findings == alone.findings


def test_a_lock_written_for_the_target_tells_no_older_trees_whatever_a_unit_follows(locked: Trees) -> None:
    locked.edit(AR, "return super()._finish(logits, total)", "return super()._finish(logits, total, self.gone_before)")
    text = (locked.omni / "runner-sync.lock").read_text("utf-8")
    head, mark, units = text.partition("[[unit]]")
    assert 'ref = "0.20.0"' in units
    lay_out(locked.omni, {"runner-sync.lock": head + mark + units.replace('ref = "0.20.0"', 'ref = "0.20.1"', 1)})
    assert ("RS304", "gone_before") in keys(sync.verify(locked.check(ascend=locked.ascend_old)))


SWAPPED = {
    ASCEND: dedent(ASCEND_NEW[ASCEND])
    .replace("_finish(self, logits, total)", "_finish(self, total, logits)")
    .replace("self._finish(logits, total)", "self._finish(total, logits)")
}


@pytest.mark.parametrize("is_swapped", [True, False])
def test_without_lock_and_base_versions_are_compared_with_the_one_that_the_copies_follow(
    trees: Trees, is_swapped: bool
) -> None:
    """Both arguments still bind: that they swapped places shows only beside the older method."""
    lay_out(trees.ascend_new, SWAPPED if is_swapped else {})
    folder, old = git_ascend(trees)
    report = sync.verify(trees.check(ascend=folder))
    assert (("RS307", "_finish") in keys(report)) == is_swapped
    assert ("RS303", "_forward") in keys(report)
    assert "everything that does not fit" in report.notes[0]
    compared = f"rules that compare versions compare with vllm-ascend {old[:10]}, which the copies seem to follow"
    assert compared in report.notes
    assert not any("need --ascend-base" in note for note in report.notes)


def patched_vllm(trees: Trees, *, is_committed: bool) -> None:
    """Give vLLM a module that NPU imports and a later patch takes away; its metadata names 0.20.0 before and after."""
    lay_out(trees.vllm, {"vllm/kept.py": "def f(hidden): return hidden\n"})
    commit(trees.vllm, "Release")
    subprocess.run(["git", "-C", str(trees.vllm), "tag", "v0.20.0"], check=True)
    trees.edit(BASE, "self.last_hidden = hidden", "from vllm.kept import f\n        self.last_hidden = f(hidden)")
    (trees.vllm / "vllm/kept.py").write_text("def g(hidden): return hidden\n")
    if is_committed:
        commit(trees.vllm, "Patch")


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_patched_vllm_is_not_the_release_that_its_metadata_names(trees: Trees, is_committed: bool) -> None:
    patched_vllm(trees, is_committed=is_committed)
    named = trees.check(ascend=trees.ascend_old, ascend_base="0.20.0", vllm_base="0.20.0")
    report = sync.verify(named)
    assert keys(report) == {("RS301", "vllm.kept.f")}
    assert "and did fit vllm-ascend 0.20.0 and vLLM " in report.notes[0]
    assert not any("not compared with an older one" in note for note in report.notes)


def test_a_named_vllm_counts_where_vllm_ascend_is_what_it_was(locked: Trees) -> None:
    """The lock names the vllm-ascend that is given."""
    patched_vllm(locked, is_committed=True)
    report = sync.verify(locked.check(ascend=locked.ascend_old, vllm_base="0.20.0"))
    assert keys(report) == {("RS301", "vllm.kept.f")}
    assert "and did fit vllm-ascend 0.20.0 and vLLM " in report.notes[0]


def test_a_checkout_at_the_commit_that_is_named_is_compared_with_nothing(locked: Trees) -> None:
    commit(locked.vllm)
    subprocess.run(["git", "-C", str(locked.vllm), "tag", "v0.20.0"], check=True)
    report = sync.verify(locked.check(ascend=locked.ascend_old, vllm_base="0.20.0"))
    assert "everything that does not fit" in report.notes[0]
    assert "rules that compare two versions of vllm-ascend need --ascend-base, the version before" in report.notes


def test_a_folder_that_says_it_is_the_old_vllm_is_believed_and_named(trees: Trees) -> None:
    folder, old = git_ascend(trees)
    report = sync.verify(trees.check(ascend=folder, ascend_base=old, vllm_base="0.20.0"))
    assert (
        f"vLLM is not compared with an older one, because {trees.vllm} says that it is 0.20.0, as before"
        in report.notes
    )


BROKEN = {
    "syntax": "def f(:\n",
    "conflict": "<<<<<<< a\nx = 1\n=======\nx = 2\n>>>>>>> b\n",
    "nul": "x = 1\0\n",
}


@pytest.mark.parametrize("path", [BASE, GPU_AR])
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_every_command_names_the_file_that_is_broken(trees: Trees, path: str, broken: str) -> None:
    commit(trees.ascend_old)
    file = trees.omni / path
    file.write_text(broken + file.read_text("utf-8"), "utf-8")
    reading = trees.check(ascend=trees.ascend_old)
    writing = trees.upgrade(trees.ascend_old)
    commands = {
        "blocks": lambda: sync.blocks(reading),
        "explain": lambda: sync.explain(reading, path),
        "upgrade": lambda: sync.upgrade(writing),
        "lock": lambda: sync.lock(writing),
    }
    if broken != BROKEN["conflict"]:  # which `check` reports as a finding
        commands["check"] = lambda: sync.check(reading)
    for run in commands.values():
        with pytest.raises(InputError, match=rf"^{path}:\d+"):
            run()


@pytest.mark.parametrize("is_broken", [True, False])
def test_an_upgrade_names_the_trees_that_the_runners_fitted_before(trees: Trees, is_broken: bool) -> None:
    """Without them the next `verify` would compare with nothing, and say that nothing breaks."""
    folder, old = git_ascend(trees)
    if is_broken:
        trees.edit(BASE, "self.last_hidden = hidden", "self.last_hidden = hidden or self.never_set")
    options = trees.upgrade(folder, ascend_base=old, vllm_base="0.20.0", omni_base=trees.itself)
    report = check_upgrade(options).report
    assert (("RS304", "never_set") in keys(report)) == is_broken
    assert report.fitted == f"--ascend-base {old[:10]} --vllm-base 0.20.0"


@pytest.mark.parametrize(
    ("rest", "is_named"),
    [({"conflict": "inline"}, True), ({"verify": False}, False), ({"upstream": False}, False)],
)
def test_an_upgrade_that_leaves_verifying_to_the_next_run_names_the_trees_for_it(
    trees: Trees, rest: dict[str, object], is_named: bool
) -> None:
    folder, old = git_ascend(trees)
    options = trees.upgrade(folder, ascend_base=old, vllm_base="0.20.0", omni_base=trees.itself, **rest)
    assert bool(sync.upgrade(options).report.fitted) is is_named


def test_an_inline_run_without_a_conflict_is_verified(trees: Trees) -> None:
    folder, old = git_ascend(trees)
    trees.edit(BASE, "self.last_hidden = hidden", "self.last_hidden = hidden or self.never_set")
    options = trees.upgrade(
        folder, ascend_base=old, vllm_base="0.20.0", omni_base=trees.itself, conflict="inline", gpu=False
    )
    report = sync.upgrade(options).report
    assert not any("<<<<<<<" in (change.after or "") for change in report.changes)
    assert ("RS304", "never_set") in keys(report)
    assert "unverified" not in report.summary


def test_an_upgrade_to_the_trees_that_the_runners_fit_names_none_before(trees: Trees) -> None:
    folder, _ = git_ascend(trees)
    options = trees.upgrade(folder, ascend_base="HEAD", vllm_base="0.20.0", omni_base=trees.itself)
    assert sync.upgrade(options).report.fitted == ""


def test_an_unknown_rule_is_refused_for_a_path_too(trees: Trees) -> None:
    """A misspelt code would ignore nothing, without a word."""
    (trees.omni / "runner-sync.toml").write_text('[per-path-ignores]\n"*" = ["RS230"]\n', "utf-8")
    with pytest.raises(InputError, match=r"runner-sync\.toml: per-path-ignores\.\* RS230: there is no such rule"):
        sync.check(trees.check())


def test_units_that_follow_the_target_already_do_not_tell_what_the_others_fitted(trees: Trees) -> None:
    """After an upgrade of some units, that of the rest would compare the target with itself."""
    folder, old = git_ascend(trees)
    options = trees.upgrade(folder)
    given = open_inputs(options)
    assert given.followed is not None
    now = given.followed.source.ref
    pair = pairs.open_pair_before_upgrade(options, given, [now, now, old])
    assert pair is not None
    assert pair.followed.source.ref == old[:10]
