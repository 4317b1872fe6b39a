"""Upgrades between git checkouts: bases found in the history, an upgrade that runs once, and nothing without cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import git
import pytest
from repo_samples import REPOS, tagged_repository
from sync_samples import commit

from runner_sync.errors import InputError
from runner_sync.lock import load
from runner_sync.model import FileChange, ReviewItem, UnitReport
from runner_sync.profile import ASCEND_RUNNER as ASCEND
from runner_sync.profile import NPU
from runner_sync.render.summary import summarize
from runner_sync.sync import TreeOptions, Upgrade, UpgradeOptions, apply, lock, require_place, upgrade
from runner_sync.terminal.commands import exit_code
from runner_sync.units.texts import members
from runner_sync.upgrade.questions.conflicts import drop_overlapping, insert_conflicts, is_two_sided

RUNNER = "vllm_omni/platforms/npu/worker/npu_model_runner.py"
EXECUTE, DUMMY = "OmniNPUModelRunner.execute_model", "OmniNPUModelRunner._dummy_run"


@dataclass(frozen=True)
class Trees:
    """Throw-away checkouts of vllm-omni and vllm-ascend."""

    omni: Path
    ascend: Path
    commits: dict[str, str]

    def options(self, *, ref: str | None = None, base: str | None = None) -> UpgradeOptions:
        return UpgradeOptions(
            omni=TreeOptions(path=self.omni),
            ascend=TreeOptions(path=self.ascend, ref=ref),
            vllm=TreeOptions(path=REPOS / "vllm"),
            ascend_base=base,
            gpu=False,
            verify=False,
        )

    def upgrade(self, *, ref: str | None = None, base: str | None = None) -> Upgrade:
        return upgrade(self.options(ref=ref, base=base))


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RUNNER_SYNC_OFFLINE", "1")
    tagged_repository("omni", tmp_path / "omni")
    return Trees(tmp_path / "omni", tmp_path / "ascend", tagged_repository("ascend", tmp_path / "ascend"))


def git_show(folder: Path, revision: str, path: str) -> str:
    return str(git.Repo(folder).git.show(f"{revision}:{path}")) + "\n"


def units(planned: Upgrade) -> dict[str, UnitReport]:
    return {unit.unit: unit for unit in planned.report.units}


def test_each_unit_has_the_base_that_it_was_copied_from(trees: Trees) -> None:
    found = units(trees.upgrade())
    bases = {name: found[name].base for name in (EXECUTE, DUMMY)}
    refs = {name: base.ref for name, base in bases.items() if base is not None}
    assert refs == {EXECUTE: trees.commits["v0.1.0"][:10], DUMMY: trees.commits["v0.2.0"][:10]}
    assert found["OmniNPUModelRunner.omni_payload"].kind == "own"


def test_what_upstream_changed_comes_in_and_what_is_omnis_stays(trees: Trees) -> None:
    planned = trees.upgrade()
    (change,) = planned.changes
    assert change.path == RUNNER
    assert change.after == (REPOS / "omni" / "expected" / "npu_model_runner.py").read_text("utf-8")
    assert planned.report.reviews == ()


@pytest.mark.parametrize(("ref", "names"), [("v0.1.0", set()), ("v0.2.0", {EXECUTE})])
def test_only_units_behind_the_target_change(trees: Trees, ref: str, names: set[str]) -> None:
    planned = trees.upgrade(ref=ref)
    assert {name for name, unit in units(planned).items() if unit.outcome == "updated"} - {DUMMY} == names


@pytest.mark.parametrize("base", ["v0.1.0", "v0.2.0"])
def test_onto_its_own_base_nothing_changes(trees: Trees, base: str) -> None:
    assert trees.upgrade(ref=base, base=base).changes == ()


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_second_upgrade_changes_nothing(trees: Trees, has_lock: bool) -> None:
    options = trees.options()
    written = apply(upgrade(options), options)
    assert RUNNER in written
    if not has_lock:
        (trees.omni / "runner-sync.lock").unlink()
    again = upgrade(options)
    assert again.changes == ()
    assert again.report.reviews == ()
    if has_lock:
        assert again.lock is None


def test_a_second_upgrade_counts_what_the_first_left_open(trees: Trees) -> None:
    text = (trees.omni / RUNNER).read_text("utf-8")
    marked = text.replace("    def ", "    # runner-sync: review R1 both changed it\n    def ", 1)
    (trees.omni / RUNNER).write_text(marked, "utf-8")
    report = trees.upgrade().report
    assert report.summary["left_open"] == 1
    assert "; 1 review comment of an earlier upgrade is still to be settled" in summarize(report)


def test_a_lock_says_what_is_left_open_in_its_files_and_is_whole(trees: Trees) -> None:
    assert "review comment" not in summarize(lock(trees.options()).report)
    text = (trees.omni / RUNNER).read_text("utf-8")
    marked = text.replace("    def ", "    # runner-sync: review R1 both changed it\n    def ", 1)
    (trees.omni / RUNNER).write_text(marked, "utf-8")
    report = lock(trees.options()).report
    assert "; 1 review comment of an earlier upgrade is still to be settled" in summarize(report)
    assert exit_code(report) == 0


def test_what_the_first_upgrade_left_open_is_left_to_a_person(trees: Trees) -> None:
    options = trees.options()
    apply(upgrade(options), options)
    commit(trees.omni)
    settled = upgrade(options).report
    assert exit_code(settled) == 0
    text = (trees.omni / RUNNER).read_text("utf-8")
    (trees.omni / RUNNER).write_text(
        text.replace("    def ", "    # runner-sync: review R1 both\n    def ", 1), "utf-8"
    )
    left = upgrade(options).report
    assert (left.changes, left.reviews, left.findings) == ((), (), ())
    assert exit_code(left) == 1


def test_a_lock_made_anew_keeps_what_an_upgrade_brought(trees: Trees) -> None:
    """A question settled by hand makes the text look like another release again, and only the lock knows better."""
    options = trees.options()
    apply(upgrade(options), options)
    commit(trees.omni)
    place = trees.omni / "runner-sync.lock"
    before = load(place.read_text("utf-8"))
    assert lock(options).lock is None
    new, old = ((trees.ascend / ASCEND).read_text("utf-8"), git_show(trees.ascend, "v0.1.0", ASCEND))
    methods = [members(text, "NPUModelRunner", ASCEND)["execute_model"] for text in (new, old)]
    text = (trees.omni / RUNNER).read_text("utf-8")
    mine = members(text, "OmniNPUModelRunner", RUNNER)["execute_model"]
    # As it was two releases ago, but for a line of this one: that is what inference would go by.
    (trees.omni / RUNNER).write_text(text.replace(mine, f"{methods[1]}        # settled\n        del batch\n"), "utf-8")
    assert methods[0] != methods[1]
    entries = load((lock(options).lock or FileChange("", "", "")).after or "").entries
    (now,) = (entry for entry in entries if entry.qualname == EXECUTE)
    (then,) = (entry for entry in before.entries if entry.qualname == EXECUTE)
    assert now.upstream == then.upstream
    assert now.extra != then.extra
    place.write_text("<<<<<<< HEAD\n" + place.read_text("utf-8"), "utf-8")
    assert load((lock(options).lock or FileChange("", "", "")).after or "").entries == entries, "HEAD knows it, too"
    told = lock(replace(options, ascend_base=trees.commits["v0.2.0"])).lock
    assert told is not None
    assert load(told.after or "").by_key()[RUNNER, EXECUTE] != now


def test_the_lock_of_an_older_vllm_ascend_is_inferred_for_what_was_edited_since(trees: Trees) -> None:
    """Maybe somebody followed the newer one by hand: nothing says what the edit was."""
    options = trees.options(ref="v0.2.0")
    apply(upgrade(options), options)
    commit(trees.omni)
    text = (trees.omni / RUNNER).read_text("utf-8")
    newest = members((trees.ascend / ASCEND).read_text("utf-8"), "NPUModelRunner", ASCEND)["execute_model"]
    mine = members(text, "OmniNPUModelRunner", RUNNER)["execute_model"]
    (trees.omni / RUNNER).write_text(text.replace(mine, newest), "utf-8")
    made = lock(trees.options()).lock
    assert made is not None
    entry = load(made.after or "").by_key()[RUNNER, EXECUTE]
    assert entry is not None
    assert entry.upstream is not None
    assert entry.upstream.ref == trees.commits["v0.3.0"][:10]


def test_an_upgrade_of_some_units_writes_no_lock_where_there_is_none(trees: Trees) -> None:
    """It would say nothing of the other units, and ``check`` would be green about them."""
    planned = upgrade(replace(trees.options(), only=(EXECUTE,)))
    assert planned.changes != ()
    assert planned.lock is None
    assert [note for note in planned.report.notes if "runner-sync.lock" in note] == [
        "runner-sync.lock was not written: there is none yet, and it would lack the units that --only leaves out"
    ]
    assert {unit.unit for unit in planned.report.units} == {EXECUTE}


def test_a_runner_that_is_indented_with_tabs_is_refused(trees: Trees) -> None:
    text = (trees.omni / RUNNER).read_text("utf-8")
    line = text[: text.index("    def ")].count("\n") + 1
    in_a_string = 'NOTE = """\n\tkept\n"""\n'
    (trees.omni / RUNNER).write_text(text + in_a_string, "utf-8")
    trees.upgrade()
    (trees.omni / RUNNER).write_text(text.replace("    ", "\t"), "utf-8")
    with pytest.raises(InputError, match=rf"^{RUNNER}:{line}: is indented with tabs; run `ruff format`"):
        trees.upgrade()


@pytest.mark.parametrize("width", [2, 8])
def test_a_runner_that_is_indented_by_another_width_is_refused(trees: Trees, width: int) -> None:
    """What was merged in was indented by four spaces, and the rest stayed as it was."""
    text = (trees.omni / RUNNER).read_text("utf-8")
    line = text[: text.index("    def ")].count("\n") + 1
    (trees.omni / RUNNER).write_text(text.replace("    ", " " * width), "utf-8")
    with pytest.raises(InputError, match=rf"^{RUNNER}:{line}: is indented by {width} spaces and not by 4; run `ruff"):
        trees.upgrade()


def test_a_line_that_no_suite_begins_with_may_have_any_indentation(trees: Trees) -> None:
    text = (trees.omni / RUNNER).read_text("utf-8")
    (trees.omni / RUNNER).write_text(f'NOTE = """\n  kept\n"""\nROWS = [\n  1,\n]\n{text}', "utf-8")
    assert trees.upgrade().changes


def test_a_runner_with_a_carriage_return_inside_a_line_is_not_written(trees: Trees, tmp_path: Path) -> None:
    data = (trees.omni / RUNNER).read_bytes().replace(b"\n", b"\r\n")
    (trees.omni / RUNNER).write_bytes(data)
    options = replace(trees.options(), allow_dirty=True)
    require_place(options)
    (trees.omni / RUNNER).write_bytes(data + b"# one\r\n# a comment\r# and more\r\n")
    line = data.count(b"\n") + 2
    said = rf"^{RUNNER}:{line}: has a carriage return that ends no line; make it"
    for written in (options, replace(options, only=(EXECUTE,)), replace(options, only=("*.execute_*",))):
        with pytest.raises(InputError, match=said):
            require_place(written)
    planned = upgrade(options)  # all that `--diff` does
    assert planned.changes
    with pytest.raises(InputError, match=said):
        apply(planned, options)
    require_place(replace(options, only=("NPUARModelRunner.*",)))
    require_place(options, is_lock=True)
    elsewhere = replace(options, out=tmp_path / "out")
    require_place(elsewhere)
    assert RUNNER in apply(upgrade(elsewhere), elsewhere)


def test_an_upgrade_of_some_units_leaves_what_the_lock_names_for_all(trees: Trees) -> None:
    """``verify`` and ``check`` go back to that vllm-ascend, which the other units still follow."""

    def locked_after(options: UpgradeOptions) -> str:
        options = replace(options, allow_dirty=True)
        apply(upgrade(options), options)
        return load((trees.omni / "runner-sync.lock").read_text("utf-8")).inputs["vllm-ascend"]

    old = locked_after(trees.options(ref="v0.2.0"))
    assert locked_after(replace(trees.options(), only=(EXECUTE,))) == old
    assert locked_after(trees.options()) != old


def test_an_upstream_that_is_being_edited_is_said(trees: Trees) -> None:
    upstream = trees.ascend / "vllm_ascend/worker/model_runner_v1.py"

    def said(ref: str | None = None) -> list[str]:
        return [note for note in trees.upgrade(ref=ref).report.notes if "uncommitted changes" in note]

    assert said() == []
    upstream.write_text(upstream.read_text("utf-8") + "\nEDITED = True\n", "utf-8")
    (note,) = said()
    assert note.startswith("vllm-ascend: vllm_ascend/worker/model_runner_v1.py was read with uncommitted")
    assert said("v0.2.0") == []


@pytest.mark.parametrize("is_gpu_followed", [True, False])
def test_a_gpu_runner_that_is_being_edited_is_said_where_it_is_followed(trees: Trees, *, is_gpu_followed: bool) -> None:
    twin = trees.omni / "vllm_omni/worker/gpu_model_runner.py"
    twin.parent.mkdir(exist_ok=True)
    twin.write_text("class OmniGPUModelRunner:\n    pass\n", "utf-8")
    commit(trees.omni)
    twin.write_text("class OmniGPUModelRunner:\n    edited = True\n", "utf-8")
    notes = upgrade(replace(trees.options(), gpu=is_gpu_followed)).report.notes
    said = [note for note in notes if note.startswith("vllm-omni: vllm_omni/worker/gpu_model_runner.py was read with")]
    assert bool(said) == is_gpu_followed


@pytest.mark.parametrize(("ref", "is_said"), [("v0.1.0", True), ("v0.2.0", False), ("v0.3.0", False)])
@pytest.mark.parametrize("recorded", ["", "0.2.0"])
def test_an_upgrade_that_goes_back_says_so(trees: Trees, recorded: str, ref: str, *, is_said: bool) -> None:
    """Whether the lock names a commit or a release."""
    apply(trees.upgrade(ref="v0.2.0"), trees.options())
    lock_file = trees.omni / "runner-sync.lock"
    named = trees.commits["v0.2.0"][:10]
    text = lock_file.read_text("utf-8")
    lock_file.write_text(text.replace(f'vllm-ascend = "{named}"', f'vllm-ascend = "{recorded or named}"'), "utf-8")
    notes = [note for note in trees.upgrade(ref=ref).report.notes if "is older than" in note]
    assert len(notes) == is_said
    assert all(f"is older than {recorded or named}, which runner-sync.lock records" in note for note in notes)


def test_each_hunk_names_the_commit_that_caused_it(trees: Trees) -> None:
    causes = "\n".join(hunk.cause for hunk in units(trees.upgrade())[EXECUTE].hunks)
    assert trees.commits["v0.3.0"][:10] in causes


def test_hunks_have_the_lines_of_the_file_as_written(trees: Trees) -> None:
    """Layout and review comments come in after the merge."""
    runner = trees.omni / RUNNER
    text = runner.read_text("utf-8")
    runner.write_text(text.replace("_prepare_inputs(batch)", "_prepare_inputs(batch, self.talker)"), "utf-8")
    planned = upgrade(replace(trees.options(), allow_dirty=True))
    (change,) = planned.changes
    before, after = text.split("\n"), (change.after or "").split("\n")
    assert any("runner-sync: review" in line for line in after)
    hunks = [hunk for unit in planned.report.units for hunk in unit.hunks]
    shown = {line for hunk in hunks for line in after[hunk.line - 1 : hunk.end_line]}
    brought = {line for line in after if line not in before and not line.startswith("from ")}
    assert {line for line in brought if "runner-sync: review" not in line and "talker" not in line} <= shown


@pytest.mark.parametrize("settings", ["required-version = '==0.0.1'\n", ""])
def test_settings_that_keep_ruff_from_formatting_are_told_of_once(trees: Trees, settings: str) -> None:
    (trees.omni / "ruff.toml").write_text(settings, "utf-8")
    said = [note for note in trees.upgrade().report.notes if "not formatted" in note]
    assert len(said) == bool(settings)
    assert all("`ruff format` failed: Failed to load" in note and "`==0.0.1`" in note for note in said)


def test_a_lock_whose_bases_are_out_of_reach_is_made_anew(trees: Trees) -> None:
    place = trees.omni / "runner-sync.lock"
    first = lock(trees.options()).lock
    assert first is not None
    text = (first.after or "").replace(trees.commits["v0.1.0"][:10], "0123456789")
    place.write_text(text, "utf-8")
    # The history has its texts, under another commit.
    assert any("names vllm-ascend 0123456789; " in note for note in trees.upgrade().report.notes)
    place.write_text(re.sub(r'(?m)^digest = "\w+"', f'digest = "{"0" * 64}"', text), "utf-8")
    with pytest.raises(InputError, match="make it anew with `runner-sync lock`"):
        trees.upgrade()
    again = lock(trees.options()).lock
    assert again is not None
    assert again.after == first.after


def test_a_lock_that_was_deleted_is_no_dirty_file(trees: Trees) -> None:
    options = trees.options()
    apply(lock(options), options)
    commit(trees.omni)
    (trees.omni / "runner-sync.lock").unlink()
    assert apply(lock(options), options) == ("runner-sync.lock",)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text + "# mine\n", ""),
        (lambda text: text.replace("[inputs]", "<<<<<<< HEAD\n[inputs]"), ":4: holds an unresolved merge conflict"),
        (
            lambda text: text.replace("format_version = 1\n", ""),
            ": has no format_version where this runner-sync reads 1",
        ),
        (lambda _text: "", ": is empty"),
    ],
    ids=["not committed yet", "in conflict", "of no format", "empty"],
)
def test_a_lock_is_written_over_the_one_that_is_there(trees: Trees, spoil: Callable[[str], str], said: str) -> None:
    """In the midst of a merge it can neither be committed nor stashed, and an upgrade is settled before the commit."""
    options = trees.options()
    apply(lock(options), options)
    commit(trees.omni)
    place = trees.omni / "runner-sync.lock"
    good = place.read_text("utf-8")
    place.write_text(spoil(good), "utf-8")
    require_place(options, is_lock=True)
    made = lock(options)
    assert apply(made, options) == ("runner-sync.lock",)
    assert place.read_text("utf-8") == good
    expected = f"runner-sync.lock{said}, so what it recorded was taken from the committed one"
    assert [note for note in made.report.notes if "committed one" in note] == ([expected] if said else [])


def test_a_damaged_lock_that_was_never_committed_is_said_to_be_inferred_anew(trees: Trees) -> None:
    (trees.omni / "runner-sync.lock").write_text("format_version = 1\nunit = 3\n", "utf-8")
    expected = "runner-sync.lock: has unit = 3 where a list of tables belongs, so every base was inferred"
    assert expected in lock(trees.options()).report.notes


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_lock_of_another_format_is_not_written_over(trees: Trees, *, is_committed: bool) -> None:
    """Also if it is only the committed one that a newer runner-sync wrote, and the one at hand is damaged."""
    place = trees.omni / "runner-sync.lock"
    place.write_text("format_version = 7\n", "utf-8")
    if is_committed:
        commit(trees.omni)
        place.write_text("", "utf-8")
    with pytest.raises(InputError, match=r"runner-sync\.lock: has format_version 7 where this runner-sync reads 1"):
        lock(trees.options())


@pytest.mark.parametrize("text", ["# About\n", 'lock-file = "x"\n'])
def test_a_file_that_is_no_lock_is_not_written_over(trees: Trees, text: str) -> None:
    (trees.omni / "notes.md").write_text(text, "utf-8")
    (trees.omni / "runner-sync.toml").write_text('lock-file = "notes.md"\n', "utf-8")
    for bases in ({}, {"ascend_base": "v0.1.0"}):
        with pytest.raises(
            InputError, match=r"^notes\.md: is no lock and would be overwritten; delete it, or name another file"
        ):
            lock(replace(trees.options(), **bases))


def test_the_configuration_is_no_lock(trees: Trees) -> None:
    (trees.omni / "runner-sync.toml").write_text('lock-file = "./runner-sync.toml"\n', "utf-8")
    for work in (upgrade, lock):
        with pytest.raises(InputError, match=r"runner-sync\.toml: lock-file names the configuration itself"):
            work(trees.options())


def test_a_lock_that_is_a_folder_is_named_before_the_work(trees: Trees) -> None:
    (trees.omni / "runner-sync.lock").mkdir()
    for work in (upgrade, lock, lambda options: require_place(options, is_lock=True)):
        with pytest.raises(InputError, match=r"^runner-sync\.lock: is a folder; move it away"):
            work(trees.options())


def test_a_package_behind_a_link_is_refused_where_it_would_be_written(trees: Trees, tmp_path: Path) -> None:
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "vllm_omni").symlink_to(trees.omni / "vllm_omni")
    options = replace(trees.options(), omni=TreeOptions(path=tmp_path / "linked"))
    with pytest.raises(InputError, match=r"its folder vllm_omni is a symbolic link that leads outside .*; replace it"):
        require_place(options)
    assert upgrade(options).patch
    elsewhere = replace(options, out=tmp_path / "out")
    require_place(elsewhere)
    assert apply(upgrade(elsewhere), elsewhere)


def test_a_lock_that_would_be_overwritten_is_refused_before_the_work(trees: Trees) -> None:
    """Not by `lock`, which may mend a damaged one, nor with ``--only``, which may leave it as it is."""
    options = trees.options()
    (trees.omni / NPU.lock_file).write_text("edited", "utf-8")
    with pytest.raises(InputError, match=rf"^{NPU.lock_file} has uncommitted changes: .* pass --allow-dirty\.$"):
        require_place(options)
    require_place(replace(options, allow_dirty=True))
    require_place(replace(options, only=(EXECUTE,)))
    require_place(options, is_lock=True)


def test_all_files_with_uncommitted_changes_are_named_with_the_stash_that_takes_new_ones(trees: Trees) -> None:
    """After a first upgrade the lock is new, and the runners are changed."""
    options = trees.options()
    apply(upgrade(options), options)
    with pytest.raises(InputError, match=rf"^{NPU.lock_file}, {RUNNER} have uncommitted changes: .*`git stash -u`"):
        require_place(options)


@pytest.mark.parametrize(("name", "said"), [("nope", "nope is not a folder"), ("", "uncommitted changes")])
def test_a_folder_that_is_not_there_is_refused_before_uncommitted_changes(trees: Trees, name: str, said: str) -> None:
    options = trees.options()
    assert options.ascend.path is not None
    (trees.omni / NPU.lock_file).write_text("edited", "utf-8")
    with pytest.raises(InputError, match=said):
        require_place(replace(options, ascend=TreeOptions(path=options.ascend.path / name)))


def test_what_another_run_wrote_meanwhile_is_told_as_that(trees: Trees) -> None:
    options = trees.options()
    require_place(options)
    planned = upgrade(options)
    assert planned.lock is not None
    (trees.omni / NPU.lock_file).write_text("written", "utf-8")
    with pytest.raises(InputError, match=rf"^{NPU.lock_file} has .* \(or run this again, if another run wrote it"):
        apply(planned, options)


def test_what_could_not_be_written_is_refused_before_the_work(trees: Trees, tmp_path: Path) -> None:
    options = trees.options()
    require_place(options)
    (trees.omni / RUNNER).write_text((trees.omni / RUNNER).read_text("utf-8") + "# edited\n", "utf-8")
    with pytest.raises(InputError, match=rf"^{RUNNER} has uncommitted changes: commit or stash them .*--allow-dirty"):
        require_place(options)
    require_place(replace(options, allow_dirty=True))
    require_place(replace(options, only=("Another.unit",)))
    require_place(replace(options, out=tmp_path / "out"))
    require_place(replace(options, out=tmp_path / "new" / "out"))
    assert not (tmp_path / "new").exists()
    (tmp_path / "empty").mkdir()
    require_place(replace(options, out=tmp_path / "empty"))
    (tmp_path / "out" / RUNNER).parent.mkdir(parents=True)
    (tmp_path / "out" / RUNNER).touch()
    with pytest.raises(InputError, match=r"already holds .*: name an empty folder with --out"):
        require_place(replace(options, out=tmp_path / "out"))
    (tmp_path / "empty" / "notes.txt").write_text("mine", "utf-8")
    for only in ((), ("Another.unit",)):
        with pytest.raises(InputError, match=r"already holds notes\.txt: name an empty folder with --out"):
            require_place(replace(options, out=tmp_path / "empty", only=only))
    with pytest.raises(InputError, match=r"cannot make the folder .*: name another one with --out"):
        require_place(replace(options, out=tmp_path / "empty" / "notes.txt" / "out"))


@pytest.mark.parametrize(
    ("folder", "is_refused"),
    [
        ("vllm_omni/platforms/npu/worker/new", True),
        ("vllm_omni/new", True),
        ("vllm_omni/../vllm_omni/new", True),
        ("new", False),
        ("vllm_omni_new", False),
        ("vllm_omni/../new", False),
    ],
)
def test_the_result_does_not_go_into_the_package(trees: Trees, folder: str, is_refused: bool) -> None:
    options = replace(trees.options(), out=trees.omni / folder)
    if is_refused:
        with pytest.raises(InputError, match="lies inside the package vllm_omni: name a folder outside it with --out"):
            require_place(options)
    else:
        require_place(options)


def test_conflicts_inline_do_not_stand_inside_each_other() -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    outer = ReviewItem("R1", "u", "p", 1, 3, "outer", 0.5, "", "x = 1", text.rstrip(), text.rstrip())
    inner = ReviewItem("R2", "u", "p", 2, 2, "inner", 0.5, "b = 0", "b = 1", "b = 2", "b = 2")
    items = drop_overlapping([inner, outer])
    assert [item.id for item in items] == ["R1"]
    made = insert_conflicts(text, items)
    assert [made.count(mark) for mark in ("<<<<<<<", "|||||||", "=======", ">>>>>>>")] == [1, 1, 1, 1]


@pytest.mark.parametrize(("from_gpu", "name"), [(False, "upstream"), (True, "GPU twin")])
def test_conflicts_inline_say_whose_the_other_side_is(from_gpu: bool, name: str) -> None:
    item = ReviewItem("R1", "u", "p", 1, 1, "why", 0.5, "", "x = 1", "x = 2", "x = 2", from_gpu=from_gpu)
    assert insert_conflicts("x = 2\n", [item]).endswith(f">>>>>>> {name}: why\n")


def test_inline_conflicts_show_three_sides_and_the_rest_is_written(trees: Trees) -> None:
    runner = trees.omni / RUNNER
    text = runner.read_text("utf-8")
    runner.write_text(text.replace("_prepare_inputs(batch)", "_prepare_inputs(batch, self.talker)"), "utf-8")
    options = replace(trees.options(), conflict="inline", allow_dirty=True)
    planned = upgrade(options)
    written = apply(planned, options)
    after = runner.read_text("utf-8").split("\n")
    (item,) = planned.report.reviews
    assert planned.report.summary["unverified"] == 1
    start = after.index(f"<<<<<<< omni {item.id}")
    block = [line.strip() for line in after[start + 1 : start + 7]]
    assert block[:4] == [
        "inputs = self._prepare_inputs(batch, self.talker)",
        "||||||| base",
        "inputs = self._prepare_inputs(batch)",
        "=======",
    ]
    assert block[4] == "inputs = self._prepare_inputs(batch, self.positions)"
    assert "runner-sync.lock" in written


def test_inline_leaves_what_one_side_only_adds_to_a_comment() -> None:
    """There is nothing to choose between, and the file goes on to parse."""
    item = ReviewItem("R1", "f", "a.py", 1, 1, "why", 0.5, base="", omni="", upstream="x = 1\n", chosen="x = 1\n")
    assert not is_two_sided("x = 1\n", item)
    assert is_two_sided("x = 1\n", replace(item, base="x = 0\n")), "omni had taken it out"
    assert is_two_sided("x = 1\n", replace(item, omni="x = 2\n"))


@pytest.mark.parametrize(
    ("text", "can_be_chosen"),
    [
        pytest.param("a()\nif b:\n    b()\n", False, id="below"),
        pytest.param("if b:\n    b()\nc()\na()\n", False, id="above, with a line in between"),
        pytest.param("a()\nif b:\n    c()\n", True, id="another one"),
        pytest.param("a()\n" + "c()\n" * 9 + "if b:\n    b()\n", True, id="far away"),
    ],
)
def test_inline_leaves_what_stands_beside_the_other_side_to_a_comment(text: str, can_be_chosen: bool) -> None:
    """Whoever takes it would have it twice."""
    line = text.split("\n").index("a()") + 1
    item = ReviewItem("R1", "f", "a.py", line, line, "why", 0.5, "x()", "a()", "if b:\n    b()", "a()")
    assert is_two_sided(text, item) is can_be_chosen


def test_inline_leaves_no_review_without_a_trace_in_the_text(trees: Trees) -> None:
    runner = trees.omni / RUNNER
    text = runner.read_text("utf-8")
    runner.write_text(text.replace("_prepare_inputs(batch)", "_prepare_inputs(batch, self.talker)"), "utf-8")
    planned = upgrade(replace(trees.options(), conflict="inline"))
    (change,) = planned.changes
    assert planned.report.reviews
    assert all(item.id in (change.after or "") for item in planned.report.reviews)


@pytest.mark.parametrize(
    ("chosen", "omni", "upstream"),
    [
        pytest.param("if a:", "if a:", "b()", id="a head whose suite stays"),
        pytest.param("class A(B, C):", "class A(B):", "", id="what neither side has, where one has nothing"),
    ],
)
def test_inline_leaves_what_a_side_could_not_stand_for_to_a_comment(chosen: str, omni: str, upstream: str) -> None:
    item = ReviewItem("R1", "f", "a.py", 1, 1, "why", 0.5, "", omni, upstream, chosen)
    assert not is_two_sided(f"{chosen}\n    x = 1\n", item)


@pytest.mark.parametrize(
    ("upstream", "can_be_chosen"),
    [
        pytest.param("b(c)\nd(c)", False, id="what stands elsewhere in the method"),
        pytest.param("b(c)\nd(b)", True, id="what stands nowhere"),
        pytest.param("def b(c):\n    return d", False, id="a definition"),
        pytest.param("d(e)", False, id="what reads a name that nothing sets"),
        pytest.param("b(c", False, id="what does not parse"),
    ],
)
def test_inline_leaves_what_settle_would_not_take_to_a_comment(upstream: str, can_be_chosen: bool) -> None:
    text = "def f(b, c, d):\n    c = 1\n" + "    c()\n" * 20 + "    b(c)\n    d(c)\n"
    item = ReviewItem("R1", "f", "a.py", 2, 2, "why", 0.5, "c = 0", "c = 1", upstream, "c = 1")
    assert is_two_sided(text, item) is can_be_chosen


def test_inline_puts_a_side_as_deep_as_what_was_chosen() -> None:
    """A passage that begins deeper than it ends."""
    text = "def f(c, z):\n    if a:\n        x()\n    elif b:\n        y()\n"
    shown = ("    x()\nelif b:", "    z()\nelif c:")
    item = ReviewItem("R1", "f", "a.py", 3, 4, "why", 0.5, "", shown[0], shown[1], shown[0])
    assert is_two_sided(text, item)
    assert insert_conflicts(text, [item]).split("\n")[3:5] == ["        x()", "    elif b:"]
    assert "=======\n        z()\n    elif c:\n>>>>>>>" in insert_conflicts(text, [item])


def test_inline_leaves_the_inside_of_a_string_where_it_stands() -> None:
    said = "x = f({}, '''one\n  two\n''')"
    text = "def f(a):\n    " + said.format("b") + "\n"
    item = ReviewItem("R1", "f", "a.py", 2, 4, "why", 0.5, "", said.format("a"), said.format("b"), said.format("b"))
    assert is_two_sided(text, item)
    assert "\n    x = f(a, '''one\n  two\n''')\n" in insert_conflicts(text, [item])
