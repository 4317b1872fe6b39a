"""``check --changed-since`` and ``verify --changed-since``: what a branch did, and nothing else."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from sync_samples import (
    AR,
    GPU_AR,
    GPU_BASE,
    HELPER,
    MODULE_ROW,
    RULER,
    Trees,
    commit,
    keys,
    lay_out,
)

from runner_sync import lock, sync
from runner_sync.errors import InputError
from runner_sync.profile import NPU
from runner_sync.sync.options import CheckOptions, Progress, TreeOptions
from runner_sync.sync.trees import branches, inputs


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
    before = branches.omni_before

    def reading(given: inputs.Inputs, revision: str, progress: Progress) -> inputs.Inputs:
        read.append(revision)
        return before(given, revision, progress)

    monkeypatch.setattr(branches, "omni_before", reading)
    assert sync.check(locked.check(changed_since="main", select=("RS4",))).findings == ()
    assert read == (["main"] if is_read else [])


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


@pytest.mark.parametrize("path", [AR, GPU_AR])
@pytest.mark.parametrize("is_locked", [False, True])
def test_a_file_that_a_branch_renames_is_followed_or_refused(locked: Trees, path: str, is_locked: bool) -> None:
    """Where two files have its class and no row names one, nothing was compared with it, and the run looked green."""
    locked.edit(GPU_AR, "return self.model.sample(logits)", "return self.model.sample(logits, None)")
    with (locked.omni / AR).open("a", encoding="utf-8") as file:
        file.write(f"\n    def note(self):\n        {RULER}\n        self.noted = 1\n        return 2\n")
    if not is_locked:
        (locked.omni / NPU.lock_file).unlink()
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS203", "RS401"))
    new = rename(locked, path)
    assert sync.check(options).findings == (), "found by its class, and nothing in it is of this branch"
    assert keys(sync.check(replace(options, changed_since=None))) >= {("RS203", "_sample"), ("RS401", "unbalanced")}
    other = locked.omni / new.replace("_too", "_also")
    other.write_text((locked.omni / new).read_text("utf-8"), "utf-8")
    with pytest.raises(InputError, match=rf"^{path} moved to {new} since main, .*`extend-modules`"):
        sync.check(options)
    row = MODULE_ROW.format(npu=new if path == AR else AR, gpu=new if path == GPU_AR else GPU_AR)
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    if is_locked:
        locked.write_lock()
    assert keys(sync.check(replace(options, changed_since=None))) >= {("RS203", "_sample"), ("RS401", "unbalanced")}
    assert sync.check(options).findings == ()
    with (locked.omni / (new if path == AR else AR)).open("a", encoding="utf-8") as file:
        file.write(f"\n    def other(self):\n        {RULER}\n        {RULER}\n        return 3\n")
    assert keys(sync.check(options)) == {("RS401", "empty")}


def test_a_deletion_beside_an_old_finding_about_text_is_not_about_it(locked: Trees) -> None:
    with (locked.omni / AR).open("a", encoding="utf-8") as file:
        file.write(f"\n    def note(self):\n        self.first = 1\n        {RULER}\n        self.noted = 1\n")
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS401",))
    locked.edit(AR, "        self.first = 1\n", "")
    assert keys(sync.check(replace(options, changed_since=None))) == {("RS401", "unbalanced")}
    assert sync.check(options).findings == ()
    locked.edit(AR, f"        {RULER}\n", f"        {RULER} #\n")
    assert keys(sync.check(options)) == {("RS401", "unbalanced")}, "the branch wrote the line"


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_file_without_a_runner_may_have_any_name(locked: Trees, path: str) -> None:
    other = f"{path[:-3]}_helper.py"
    (locked.omni / other).write_text("def f(x):\n    y = x\n    return y\n", "utf-8")
    commit(locked.omni, "Before")
    rename(locked, other)
    assert sync.check(locked.check(changed_since="main", select=("RS203", "RS401"))).findings == ()


def synchronized(times: int) -> str:
    """A line of `_stage_of` with calls in front of it that are all found alike."""
    return "torch.cuda.synchronize()\n        " * times + "info = request.additional_information"


@pytest.mark.parametrize("baseline", [False, True])
@pytest.mark.parametrize("is_above", [True, False])
def test_of_several_found_alike_the_branchs_is_told(locked: Trees, baseline: bool, is_above: bool) -> None:
    """Whether it stands above or below the one that was there, and whether that is accepted."""
    locked.edit(AR, synchronized(0), synchronized(1))
    commit(locked.omni, "Before")
    accepted = {"baseline": locked.omni / "accepted.json", "select": ("RS402",)} if baseline else {"select": ("RS402",)}
    if baseline:
        sync.check(locked.check(update_baseline=True, **accepted))
    options = locked.check(changed_since="main", **accepted)
    assert sync.check(options).findings == ()
    old = "torch.cuda.synchronize()"
    new = "torch.cuda.synchronize(self.device)"
    locked.edit(AR, old, f"{new}\n        {old}" if is_above else f"{old}\n        {new}")
    lines = (locked.omni / AR).read_text("utf-8").split("\n")
    found = sync.check(options).findings
    assert [lines[finding.line - 1].strip() for finding in found] == [new]
    assert len(sync.check(locked.check(**accepted)).findings) == (1 if baseline else 2)


def test_a_branch_that_moves_what_is_accepted_brings_nothing(locked: Trees) -> None:
    locked.edit(AR, synchronized(0), synchronized(2))
    commit(locked.omni, "Before")
    accepted = {"baseline": locked.omni / "accepted.json", "select": ("RS402",)}
    sync.check(locked.check(update_baseline=True, **accepted))
    locked.edit(AR, synchronized(2), "torch.cuda.synchronize(self.device)\n        " + synchronized(1))
    assert sync.check(locked.check(changed_since="main", **accepted)).findings == ()


def test_findings_on_what_a_branch_touched(locked: Trees) -> None:
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS203", "RS110"))
    assert sync.check(options).findings == ()
    locked.edit(GPU_AR, "return self.model.sample(logits)", "return self.model.sample(logits, None)")
    assert keys(sync.check(options)) == {("RS203", "_sample")}
    commit(locked.omni, "Touch the hook")
    assert keys(sync.check(locked.check(changed_since="main~1", select=("RS203",)))) == {("RS203", "_sample")}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param("(BesideMixin, OmniNPUModelRunner):", set[tuple[str, str]](), id="another base"),
        pytest.param("(OmniNPUModelRunner):  # the runner", {("RS203", "_sample")}, id="a comment"),
    ],
)
def test_a_change_of_the_bases_brings_no_old_finding(
    locked: Trees, header: str, expected: set[tuple[str, str]]
) -> None:
    beside = "class BesideMixin:\n    pass\n\n\n"
    commit(locked.omni, "Before")
    options = locked.check(changed_since="main", select=("RS203",))
    locked.edit(AR, "class NPUARModelRunner(OmniNPUModelRunner):", f"{beside}class NPUARModelRunner{header}")
    assert keys(sync.check(options)) == expected
    assert keys(sync.check(locked.check(select=("RS203",)))) == {("RS203", "_sample")}


def test_a_new_class_brings_its_findings(locked: Trees) -> None:
    kept = (locked.omni / AR).read_text("utf-8")
    (locked.omni / AR).write_text(kept.replace("class NPUARModelRunner(", "class OldRunner("), "utf-8")
    commit(locked.omni, "Before")
    (locked.omni / AR).write_text(kept, "utf-8")
    assert keys(sync.check(locked.check(changed_since="main", select=("RS203",)))) == {("RS203", "_sample")}


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
    assert (
        sum(
            "was not checked, because the tree at which it began cannot be read: " in note and path in note
            for note in report.notes
        )
        == 1
    )


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


def test_a_port_by_hand_is_told_how_to_record_it(locked: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(locked.omni)
    commit(locked.omni, "Before")
    locked.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    locked.edit(AR, 'return info.get("stage")', 'return info.get("stage", 0) + self.first')
    options = CheckOptions(changed_since="main", select=("RS201", "RS111"))
    report = sync.check(options)
    assert report.findings == ()
    (note,) = report.notes
    assert note == (
        "NPUARModelRunner._stage_of: the unit and its GPU twin both changed since the lock; if this change is the "
        "port, record it with `runner-sync lock`"
    )
    commit(locked.omni, "Port")
    options = replace(options, changed_since="main")
    assert sync.check(options).notes == ()
    assert [f.severity for f in sync.check(locked.check(select=("RS201",))).findings] == ["info"]
    locked.edit(GPU_AR, 'return info.get("stage", 0)', 'return info.get("stage", 1)')
    assert keys(sync.check(options)) == {("RS201", "GPUARModelRunner._stage_of")}
    locked.edit(GPU_AR, 'return info.get("stage", 1)', 'return info.get("stage", 0)')
    locked.write_lock()
    assert sync.check(locked.check(select=("RS201",))).findings == ()


def test_a_port_word_for_word_is_no_finding(locked: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(locked.omni)
    commit(locked.omni, "Before")
    for path in (GPU_AR, AR):
        locked.edit(path, 'return info.get("stage")', 'return info.get("stage", 0)')
    asked = CheckOptions(select=("RS201", "RS111"))
    told = (
        "NPUARModelRunner._stage_of: equals its GPU twin, but the lock has another text of the twin; record the "
        "present one with `runner-sync lock`"
    )
    for since in (None, "main"):
        report = sync.check(replace(asked, changed_since=since))
        assert (report.findings, report.notes) == ((), (told,))
    commit(locked.omni, "Port")
    assert sync.check(replace(asked, changed_since="main")).notes == (), "another branch's"
    assert sync.check(asked).notes == (told,)
    locked.write_lock()
    assert sync.check(asked).notes == ()


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


def test_a_run_for_a_branch_says_that_it_reports_what_the_branch_did(locked: Trees) -> None:
    commit(locked.omni)
    for since, said in ((None, "and"), ("main", "as far as the branch touched or brought it")):
        options = locked.check(ascend=locked.ascend_old, changed_since=since, select=("RS3",))
        assert [note for note in sync.check(options).notes if note.startswith("breakage:") and said in note]


@pytest.mark.parametrize("ascend", [False, True])
def test_a_branch_that_takes_the_lock_away_is_refused(locked: Trees, ascend: bool) -> None:
    commit(locked.omni, "Before")
    (locked.omni / NPU.lock_file).unlink()
    trees = {"ascend": locked.ascend_old} if ascend else {}
    said = (
        r"^runner-sync\.lock is gone since main: restore it with `git checkout main -- runner-sync\.lock`, or leave "
        r"out what needs it with --ignore RS110,RS111,RS201\.$"
    )
    with pytest.raises(InputError, match=said):
        sync.check(locked.check(changed_since="main", **trees))
    others = locked.check(changed_since="main", ignore=("RS110", "RS111", "RS201"), **trees)
    assert sync.check(others).findings == ()
    commit(locked.omni, "Without a lock")
    if ascend:
        assert sync.check(locked.check(changed_since="HEAD", **trees)).findings == ()
