"""Git checkouts, on throw-away repositories."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import git
import pytest

from runner_sync.errors import InputError
from runner_sync.sources import RevisionTree, WorkTree, declared_vllm, open_path
from runner_sync.trees import InGit, InWork, OnDisk, Tree

RUNNER = "vllm_ascend/worker/model_runner_v1.py"
INIT = "vllm_ascend/__init__.py"


@pytest.fixture(autouse=True)
def _quiet_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A git without the settings of whoever runs the tests."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A. Nyone")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "anyone@example.org")


class Repo:
    """A repository to commit texts to; the clock moves a minute with every commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git = git.Repo.init(folder, initial_branch="main").git
        self.clock = 1_700_000_000

    def commit(self, files: Mapping[str, str | None], subject: str = "Change") -> str:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                self.git.rm("-q", name)
            else:
                path.write_bytes(text.encode())
                self.git.add("-f", name)
        self.clock += 60
        date = f"{self.clock} +0000"
        self.git.commit("-q", "--allow-empty", "-m", subject, env={"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date})
        return str(self.git.rev_parse("HEAD"))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "ascend")
    made.commit({INIT: "", RUNNER: "one = 1\n", "Dockerfile": "ARG VLLM_TAG=v0.10.0\n"}, "First")
    return made


def read(tree: Tree) -> str | None:
    return tree.read(RUNNER)


def test_any_revision_is_read_without_touching_the_work_tree(repo: Repo) -> None:
    first = repo.git.rev_parse("HEAD")
    repo.git.tag("v0.10.0rc1")
    repo.git.tag("-a", "annotated", "-m", "x")
    second = repo.commit({RUNNER: "two = 2\n"})
    repo.git.update_ref("refs/remotes/origin/releases/v0.10.0", first)
    repo.git.update_ref("refs/remotes/fork/topic", first)
    (repo.folder / RUNNER).write_text("edited = 3\n")
    for ref in (first, first[:7], "v0.10.0rc1", "0.10.0rc1", "annotated", "HEAD~1", "releases/v0.10.0", "topic"):
        tree = open_path("vllm-ascend", repo.folder, ref=ref)
        assert isinstance(tree, RevisionTree)
        assert read(tree) == "one = 1\n", ref
        assert tree.source.revision == first
    assert read(open_path("vllm-ascend", repo.folder, ref="main")) == "two = 2\n"
    work = open_path("vllm-ascend", repo.folder)
    assert read(work) == "edited = 3\n"
    assert (work.source.kind, work.source.revision) == ("git", second)
    assert (repo.folder / RUNNER).read_text() == "edited = 3\n"


def test_a_revision_reads_like_a_folder(repo: Repo) -> None:
    repo.commit({"vllm_ascend/crlf.py": "\ufeffa = 1\r\nb = 2\r\n", "tests/test_a.py": "", "vllm_ascend/a.txt": ""})
    (repo.folder / "vllm_ascend" / "link.py").symlink_to("crlf.py")
    repo.git.add(".")
    repo.commit({})
    tree = open_path("vllm-ascend", repo.folder, ref="HEAD")
    assert tree.read("vllm_ascend/crlf.py") == "a = 1\nb = 2\n"
    assert tree.paths() == [INIT, "vllm_ascend/crlf.py", RUNNER]
    assert tree.paths("vllm_ascend/worker") == [RUNNER]
    assert tree.paths("vllm_ascend/work") == []
    for missing in ("vllm_ascend/link.py", "vllm_ascend/none.py", "vllm_ascend", "../ascend/" + INIT):
        assert tree.read(missing) is None, missing
    assert declared_vllm(tree) == "0.10.0"


@pytest.mark.parametrize("detached", [False, True])
def test_every_tag_of_the_commit_and_nothing_else_tells_the_version(repo: Repo, detached: bool) -> None:
    repo.git.tag("v9.9,v9.8")
    repo.git.tag("-a", "v0.10.0", "-m", "x")
    repo.git.tag("sub/v9.7")
    repo.git.branch("v9.6")
    if detached:
        repo.git.checkout("--detach")
    assert open_path("vllm-ascend", repo.folder).source.version == "0.10.0"


@pytest.mark.parametrize("ref", [None, "HEAD"])
@pytest.mark.parametrize("inside", ["", "vllm_ascend"])
def test_the_version_is_the_tag_of_the_commit(repo: Repo, ref: str | None, inside: str) -> None:
    repo.git.tag("nightly")
    repo.git.tag("v0.9.9")
    repo.git.tag("v0.10.0rc1")
    assert open_path("vllm-ascend", repo.folder / inside, ref=ref).source.version == "0.10.0rc1"
    repo.commit({})
    assert open_path("vllm-ascend", repo.folder / inside, ref=ref).source.version is None


def test_a_version_generated_from_another_commit_is_not_believed(repo: Repo) -> None:
    commit = repo.git.rev_parse("HEAD")
    for stamp, version in ((commit[:9], f"0.10.1.dev3+g{commit[:9]}"), ("0123456789", None)):
        (repo.folder / "vllm_ascend" / "_version.py").write_text(f"__version__ = version = '0.10.1.dev3+g{stamp}'\n")
        assert open_path("vllm-ascend", repo.folder).source.version == version


def test_an_unknown_revision_names_near_ones(repo: Repo) -> None:
    repo.git.tag("v0.10.0rc1")
    with pytest.raises(InputError, match=r"no revision v0\.10\.0rc2 \(near it: v0\.10\.0rc1\): give a tag"):
        open_path("vllm-ascend", repo.folder, ref="v0.10.0rc2")
    for odd in ("--all", "HEAD^{tree}", "no such", "main:Dockerfile", ""):
        if odd:
            with pytest.raises(InputError, match="has no revision"):
                open_path("vllm-ascend", repo.folder, ref=odd)


def test_a_revision_of_another_project_is_said(repo: Repo) -> None:
    with pytest.raises(InputError, match=r"holds no vllm_omni/__init__\.py at HEAD"):
        open_path("vllm-omni", repo.folder, ref="HEAD")
    with pytest.raises(InputError, match="is no vllm-omni tree"):
        open_path("vllm-omni", repo.folder)


def test_a_clone_without_files_is_pointed_to_its_commits(repo: Repo, tmp_path: Path) -> None:
    repo.git.clone("--no-checkout", repo.folder, tmp_path / "clone")
    with pytest.raises(InputError, match=r"--ascend-path, or a commit of this clone, .*, with --ascend-ref\.$"):
        open_path("vllm-ascend", tmp_path / "clone")
    with pytest.raises(InputError, match=r"with --omni-path\.$"):
        open_path("vllm-omni", tmp_path / "clone")
    assert open_path("vllm-ascend", tmp_path / "clone", ref="HEAD").read(RUNNER) is not None


def test_a_project_below_the_top_of_its_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "mono")
    first = repo.commit({f"third/ascend/{INIT}": "", f"third/ascend/{RUNNER}": "one = 1\n"})
    repo.commit({f"third/ascend/{RUNNER}": "two = 2\n"})
    for given in ("third/ascend", "third/ascend/vllm_ascend"):
        tree = open_path("vllm-ascend", repo.folder / given, ref=first[:8])
        assert (tree.paths(), read(tree)) == ([INIT, RUNNER], "one = 1\n")
        work = open_path("vllm-ascend", repo.folder / given)
        assert isinstance(work, WorkTree)
        assert [revision.path for revision in work.history(RUNNER)] == [RUNNER, RUNNER]
        (repo.folder / "third/ascend" / RUNNER).write_text("three = 3\n")
        assert work.dirty([RUNNER, INIT]) == [RUNNER]


def test_a_bare_repository_is_read_at_head_and_at_a_ref(repo: Repo, tmp_path: Path) -> None:
    first = repo.git.rev_parse("HEAD")
    repo.commit({RUNNER: "two = 2\n"})
    git.Repo.clone_from(str(repo.folder), tmp_path / "bare.git", bare=True).close()
    assert read(open_path("vllm-ascend", tmp_path / "bare.git")) == "two = 2\n"
    assert read(open_path("vllm-ascend", tmp_path / "bare.git", ref=first)) == "one = 1\n"


def test_a_mirror_without_a_configuration_is_read_as_git_reads_it(repo: Repo, tmp_path: Path) -> None:
    """GitPython takes it for the ``.git`` of the folder above, where there is no repository."""
    mirror = tmp_path / "mirrors" / "history"
    git.Repo.clone_from(str(repo.folder), mirror, bare=True).close()
    (mirror / "config").unlink()
    assert read(open_path("vllm-ascend", mirror)) == "one = 1\n"


def test_an_environment_ignored_by_the_checkout_around_it_is_a_plain_tree(repo: Repo) -> None:
    site = repo.folder / ".venv" / "site-packages"
    (site / "vllm_omni").mkdir(parents=True)
    (site / "vllm_omni" / "__init__.py").write_text("")
    tree = open_path("vllm-omni", site)
    assert (tree.source.kind, tree.source.revision) == ("path", None)


def test_a_checkout_before_its_first_commit(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "new")
    (repo.folder / "vllm_ascend").mkdir()
    (repo.folder / INIT).write_text("")
    repo.git.add(INIT)
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert (tree.source.revision, tree.history(INIT), tree.dirty([INIT])) == (None, [], [INIT])
    with pytest.raises(InputError, match="no revision main"):
        open_path("vllm-ascend", repo.folder, ref="main")


def test_the_release_before_a_release_is_the_nearest_tag_with_a_version(repo: Repo) -> None:
    for tag in ("v0.1.0", "v0.2.0rc1", "nightly", "v0.2.0"):
        repo.commit({RUNNER: f"# {tag}\n"})
        repo.git.tag(tag)
    repo.commit({RUNNER: "# no release\n"})
    opened = {ref: open_path("vllm-ascend", repo.folder, ref=ref) for ref in ("v0.1.0", "v0.2.0", "main")}
    before = {ref: tree.release_before() for ref, tree in opened.items() if isinstance(tree, InGit)}
    assert before == {"v0.1.0": None, "v0.2.0": "v0.2.0rc1", "main": None}


def test_history_lists_every_text_newest_first(repo: Repo) -> None:
    repo.commit({"README.md": "x"}, "Unrelated")
    repo.commit({RUNNER: None}, "Remove")
    repo.commit({RUNNER: "two = 2\n"}, "Second: a\ttab : and \x01 colons")
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    history = tree.history(RUNNER)
    assert [revision.subject for revision in history] == ["Second: a\ttab : and \x01 colons", "First"]
    assert [tree.read_blob(revision.blob) for revision in history] == ["two = 2\n", "one = 1\n"]
    assert history[0].commit == repo.git.rev_parse("HEAD")
    assert tree.history("vllm_ascend/none.py") == []
    assert tree.history("*") == []


def test_history_of_a_file_that_moved_lists_each_commit_once(repo: Repo) -> None:
    moved = "vllm_ascend/moved.py"
    repo.commit({RUNNER: "two = 2\n"}, "Second")
    repo.commit({RUNNER: None, moved: "two = 2\n"}, "Move")
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    found = [(revision.subject, revision.path) for revision in tree.history(moved, RUNNER)]
    assert found == [("Move", moved), ("Second", RUNNER), ("First", RUNNER)]


def test_a_place_that_counts_later_has_no_history_while_an_earlier_one_exists(repo: Repo) -> None:
    """vllm-ascend had ``worker.py`` and ``worker_v1.py`` side by side before the second became the first."""
    other = "vllm_ascend/z_worker.py"
    repo.commit({other: "v1 = 1\n"}, "Beside")
    repo.commit({RUNNER: "one = 2\n"}, "The other alone")
    repo.commit({RUNNER: "one = 3\n", other: "v1 = 2\n"}, "Both")
    repo.commit({RUNNER: None}, "Without the other")
    repo.commit({other: None, RUNNER: "v1 = 2\n"}, "In its place")
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    found = [(revision.subject, revision.path) for revision in tree.history(other, RUNNER)]
    assert found == [("In its place", RUNNER), ("Both", other), ("Beside", other), ("First", RUNNER)]


def test_history_stops_at_the_revision_that_was_asked_for(repo: Repo) -> None:
    repo.commit({RUNNER: "two = 2\n"}, "Second")
    tree = open_path("vllm-ascend", repo.folder, ref="HEAD~1")
    assert isinstance(tree, RevisionTree)
    assert [revision.subject for revision in tree.history(RUNNER)] == ["First"]


def test_history_holds_side_branches_and_only_merges_that_made_a_new_text(repo: Repo) -> None:
    repo.git.checkout("-q", "-b", "side")
    repo.commit({RUNNER: "side = 1\n"}, "Side")
    repo.git.checkout("-q", "main")
    repo.commit({RUNNER: "main = 1\n"}, "Main")
    repo.git.merge("-q", "-s", "ours", "--no-edit", "side", "-m", "Merge taking main's text")
    repo.git.checkout("-q", "-b", "other", "HEAD~1")
    repo.commit({RUNNER: "other = 1\n"}, "Other")
    repo.git.checkout("-q", "main")
    repo.git.merge("-q", "-s", "ours", "--no-commit", "other")
    repo.commit({RUNNER: "both = 1\n"}, "Merge making a new text")
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    history = tree.history(RUNNER)
    assert [revision.subject for revision in history] == ["Merge making a new text", "Other", "Main", "Side", "First"]
    assert tree.read_blob(history[0].blob) == "both = 1\n"


def test_steps_are_commits_on_the_line_of_first_parents_with_what_each_did(repo: Repo) -> None:
    repo.commit({"README.md": "x"}, "Unrelated")
    repo.git.checkout("-q", "-b", "side")
    repo.commit({RUNNER: "side = 1\n", INIT: "side = 1\n"}, "Side")
    repo.git.checkout("-q", "main")
    merged = repo.git.merge("-q", "--no-ff", "--no-edit", "side") or repo.git.rev_parse("HEAD")
    removed = repo.commit({RUNNER: None}, "Remove")
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    newest, merge, first = tree.steps([RUNNER, INIT])
    assert [(one.commit, one.path, one.blob) for one in newest] == [(removed, RUNNER, "")]
    assert {(one.commit, one.path, tree.read_blob(one.blob)) for one in merge} == {
        (merged, RUNNER, "side = 1\n"),
        (merged, INIT, "side = 1\n"),
    }
    assert sorted(one.path for one in first) == [INIT, RUNNER]
    assert tree.steps(["*"]) == []


def test_steps_are_those_of_the_project_s_own_folder(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "mono")
    for folder in ("npu", "größe", 'a "b"'):
        repo.commit({f"{folder}/{INIT}": "", f"{folder}/{RUNNER}": "one = 1\n", RUNNER: f"other = {folder!r}\n"})
    for folder, expected in (("npu", [[RUNNER]]), ("größe", [[RUNNER]]), ('a "b"', [])):
        tree = open_path("vllm-ascend", repo.folder / folder)
        assert isinstance(tree, WorkTree)
        assert [[one.path for one in step] for step in tree.steps([RUNNER])] == expected, folder


@pytest.mark.parametrize(
    "setting",
    [
        "log.follow=true",
        "log.showRoot=false",
        "color.ui=always",
        "diff.renames=copies",
        "format.pretty=oneline",
        "core.abbrev=5",
        "log.showSignature=true",
        "log.decorate=full",
        "log.diffMerges=off",
        "log.diffMerges=remerge",
        "diff.orderFile=/no/such/file",
        "i18n.logOutputEncoding=UTF-16",
    ],
)
def test_history_does_not_depend_on_settings(repo: Repo, setting: str) -> None:
    name, value = setting.split("=")
    repo.commit({"vllm_ascend/copy.py": "one = 1\n"})
    repo.git.config(name, value)
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    history = tree.history(RUNNER)
    assert [(tree.read_blob(revision.blob), revision.subject) for revision in history] == [("one = 1\n", "First")]
    assert [tree.read_blob(one.blob) for (one,) in tree.steps([RUNNER])] == ["one = 1\n"]
    repo.git.config("--unset", name)
    repo.git.checkout("-q", "-b", "side")
    repo.commit({RUNNER: "side = 1\n"}, "Side")
    repo.git.checkout("-q", "main")
    repo.git.merge("-q", "--no-ff", "--no-edit", "side", "-m", "Merge")
    repo.git.config(name, value)
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert [step[0].subject for step in tree.steps([RUNNER])] == ["Merge", "First"]
    (repo.folder / RUNNER).write_text("side = 2\n")
    assert tree.changed_lines("HEAD") == {RUNNER: frozenset({1})}


def test_a_file_system_monitor_of_the_repository_is_not_run(repo: Repo, tmp_path: Path) -> None:
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    repo.git.config("core.fsmonitor", str(hook))
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert tree.dirty([RUNNER]) == []
    assert not (tmp_path / "ran").exists()


def test_a_filter_of_the_repository_is_not_run(repo: Repo, tmp_path: Path) -> None:
    program = tmp_path / "filter"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    for name in ("plain", "a=b"):
        repo.git.config(f"filter.{name}.clean", str(program))
        repo.git.config(f"filter.{name}.required", "true")
    attributes = repo.folder / ".git/info/attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text(f"{RUNNER} filter=plain\n{INIT} filter=a=b\n")
    base = repo.git.rev_parse("HEAD")
    runner = repo.folder / RUNNER
    runner.write_text(runner.read_text() + "more = 1\n")
    os.utime(repo.folder / INIT, (1, 1))
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert tree.dirty([RUNNER, INIT]) == [RUNNER]
    assert set(tree.changed_lines(base)) == {RUNNER}
    assert not (tmp_path / "ran").exists()


def test_what_a_partial_clone_lacks_is_not_fetched(repo: Repo, tmp_path: Path) -> None:
    program = tmp_path / "upload-pack"
    program.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\nexec git-upload-pack "$@"\n')
    program.chmod(0o755)
    repo.git.config("uploadpack.allowFilter", "true")
    old, folder = repo.git.rev_parse("HEAD"), tmp_path / "partial"
    repo.commit({RUNNER: "new = 1\n"})
    repo.git.clone("-q", "--filter=blob:none", f"file://{repo.folder}", str(folder))
    git.Repo(folder).git.config("remote.origin.uploadpack", str(program))
    assert read(open_path("vllm-ascend", folder, ref="HEAD")) == "new = 1\n"
    with pytest.raises(InputError, match="lacks the git object"):
        read(open_path("vllm-ascend", folder, ref=old))
    assert not (tmp_path / "ran").exists()


def test_dirty_looks_behind_a_link(repo: Repo) -> None:
    """What is written is the file that it leads to."""
    repo.commit({"real/ar.py": "one\n", "vllm_ascend/other.py": "one\n"})
    (repo.folder / "vllm_ascend/link.py").symlink_to("../real/ar.py")
    repo.git.add("-A")
    repo.commit({"vllm_ascend/more.py": "one\n"})
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert tree.dirty(["vllm_ascend/link.py", "vllm_ascend/other.py"]) == []
    (repo.folder / "real/ar.py").write_text("two\n")
    assert tree.dirty(["vllm_ascend/link.py", "vllm_ascend/other.py"]) == ["vllm_ascend/link.py"]


def test_dirty_looks_behind_a_linked_folder(repo: Repo, tmp_path: Path) -> None:
    """Git tracks the link and the files where it leads: each looked untracked, so every upgrade was refused."""
    repo.commit({"real/ar.py": "one\n"})
    (repo.folder / "vllm_ascend/linked").symlink_to("../real")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/ar.py").write_text("one\n")
    (repo.folder / "vllm_ascend/outside").symlink_to(tmp_path / "outside")
    repo.git.add("-A")
    repo.commit({"vllm_ascend/more.py": "one\n"})
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert tree.dirty(["vllm_ascend/linked/ar.py"]) == []
    (repo.folder / "real/ar.py").write_text("two\n")
    assert tree.dirty(["vllm_ascend/linked/ar.py"]) == ["vllm_ascend/linked/ar.py"]
    assert tree.dirty(["vllm_ascend/outside/ar.py"]) == ["vllm_ascend/outside/ar.py"]


def test_dirty_names_what_git_could_not_give_back(repo: Repo) -> None:
    names = ["modified", "staged", "clean", "conflicted"]
    repo.commit({f"vllm_ascend/{name}.py": "one\n" for name in names} | {".gitignore": "ignored.py\n"})
    repo.git.checkout("-q", "-b", "side")
    repo.commit({"vllm_ascend/conflicted.py": "side\n"})
    repo.git.checkout("-q", "main")
    repo.commit({"vllm_ascend/conflicted.py": "main\n"})
    with pytest.raises(git.GitCommandError):
        repo.git.merge("side")
    (repo.folder / "vllm_ascend/modified.py").write_text("two\n")
    (repo.folder / "vllm_ascend/staged.py").write_text("two\n")
    repo.git.add("vllm_ascend/staged.py")
    for name in ("untracked", "ignored"):
        (repo.folder / f"vllm_ascend/{name}.py").write_text("new\n")
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    asked = [f"vllm_ascend/{name}.py" for name in [*names, "untracked", "ignored", "none"]]
    dirty = ["conflicted", "ignored", "modified", "staged", "untracked"]
    assert tree.dirty(asked) == [f"vllm_ascend/{name}.py" for name in dirty]
    assert tree.dirty(["vllm_ascend/clean.py", "vllm_ascend/*.py", "vllm_ascend"]) == []
    assert tree.dirty([]) == []


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_dirty_looks_at_files_that_git_was_told_not_to_look_at(repo: Repo, flag: str) -> None:
    repo.commit({"vllm_ascend/away.py": "one\n"})
    repo.git.update_index(flag, RUNNER, "vllm_ascend/away.py")
    (repo.folder / "vllm_ascend/away.py").unlink()
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert tree.dirty([RUNNER, "vllm_ascend/away.py"]) == []
    assert not tree.is_changed()
    (repo.folder / RUNNER).write_text("two = 2\n")
    assert tree.dirty([RUNNER, "vllm_ascend/away.py"]) == [RUNNER]
    assert tree.is_changed()


@pytest.mark.parametrize("folder", ["", "npu/"])
def test_a_work_tree_is_changed_by_tracked_files_of_the_project(tmp_path: Path, folder: str) -> None:
    repo = Repo(tmp_path / "mono")
    repo.commit({f"{folder}{INIT}": "", f"{folder}{RUNNER}": "one = 1\n", "other/x.py": "x = 1\n"})
    tree = open_path("vllm-ascend", repo.folder / folder)
    assert isinstance(tree, WorkTree)
    (repo.folder / folder / "vllm_ascend/new.py").write_text("new = 1\n")
    if folder:
        (repo.folder / "other/x.py").write_text("x = 2\n")
    assert not tree.is_changed()
    (repo.folder / folder / RUNNER).write_text("two = 2\n")
    assert tree.is_changed()


@pytest.mark.parametrize(
    "variable", ["GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_SHALLOW_FILE", "GIT_GLOB_PATHSPECS", "GIT_NAMESPACE"]
)
def test_variables_for_another_repository_change_nothing(
    repo: Repo, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the hooks of a server, and in those of a submodule."""
    monkeypatch.setenv(variable, "1" if variable.endswith("PATHSPECS") else str(repo.folder / "no such"))
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert [tree.read_blob(one.blob) for one in tree.history(RUNNER)] == ["one = 1\n"]
    (repo.folder / RUNNER).write_text("two = 2\n")
    assert tree.dirty([RUNNER]) == [RUNNER]
    assert variable in os.environ


def test_a_work_tree_without_its_repository_is_no_plain_tree(repo: Repo, tmp_path: Path) -> None:
    """A linked work tree in a container: what has not been committed could not be told."""
    repo.git.worktree("add", "-q", str(tmp_path / "linked"), "-b", "linked")
    (repo.folder / ".git").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"not a git repository.*repair the checkout"):
        open_path("vllm-ascend", tmp_path / "linked")


def test_noop_an_empty_folder_of_that_name_makes_no_checkout(tmp_path: Path, repo: Repo) -> None:
    (repo.folder / ".git").rename(tmp_path / "elsewhere")
    (repo.folder / ".git").mkdir()
    assert not isinstance(open_path("vllm-ascend", repo.folder), WorkTree)


def test_a_repository_with_sha_256_names_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    git.Git(tmp_path / "long").init("-q", "--object-format=sha256", "-b", "main")
    repo = Repo(tmp_path / "long")
    repo.commit({INIT: "", RUNNER: "one = 1\n"}, "First")
    with pytest.raises(InputError, match="SHA-256 object names, which are not read: give an unpacked tree"):
        read(open_path("vllm-ascend", repo.folder, ref="HEAD"))


def test_the_repository_of_a_running_git_hook_is_not_mistaken_for_the_one_asked(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo(tmp_path / "other")
    other.commit({"a": "b"})
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.folder / ".git" / "index"))
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    assert len(tree.history(RUNNER)) == 1
    assert tree.dirty([RUNNER]) == []
    assert tree.source.revision == git.Repo(repo.folder).head.commit.hexsha


def test_a_linked_work_tree_is_a_checkout(repo: Repo, tmp_path: Path) -> None:
    repo.git.worktree("add", "-q", str(tmp_path / "linked"), "-b", "linked")
    (tmp_path / "linked" / RUNNER).write_text("linked = 1\n")
    tree = open_path("vllm-ascend", tmp_path / "linked")
    assert isinstance(tree, WorkTree)
    assert (read(tree), tree.dirty([RUNNER])) == ("linked = 1\n", [RUNNER])
    assert len(tree.history(RUNNER)) == 1


def test_an_object_that_is_missing_is_said(repo: Repo) -> None:
    tree = open_path("vllm-ascend", repo.folder)
    assert isinstance(tree, WorkTree)
    with pytest.raises(InputError, match="lacks the git object"):
        tree.read_blob("0" * 40)
    assert tree.read_blob(tree.history(RUNNER)[0].blob) == "one = 1\n"


@pytest.mark.parametrize(("file", "text"), [("config", "[core\n"), ("HEAD", "nonsense\n"), ("index", "nonsense")])
def test_a_damaged_repository_is_one_sentence(repo: Repo, file: str, text: str) -> None:
    (repo.folder / ".git" / file).write_text(text)
    ref = None if file == "index" else "HEAD"
    with pytest.raises(InputError, match=r"git cannot read .*: repair the checkout|is not a git checkout") as caught:
        open_path("vllm-ascend", repo.folder, ref=ref)
    assert "\n" not in str(caught.value)


def test_a_checkout_of_another_owner_is_refused_with_gits_own_remedy(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that runs as root on a checkout of the host's user."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(InputError) as caught:
        open_path("vllm-ascend", repo.folder, ref="HEAD")
    said = f"(fatal: detected dubious ownership in repository at '{repo.folder}'): if you trust it, run "
    assert said in str(caught.value)
    assert str(caught.value).endswith(f"`git config --global --add safe.directory {repo.folder}`.")


def test_what_a_tree_can_besides_is_told_by_its_type(repo: Repo, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    (plain / INIT).parent.mkdir(parents=True)
    (plain / INIT).write_text("")
    trees = (open_path("vllm-ascend", repo.folder), open_path("vllm-ascend", repo.folder, ref="HEAD"))
    can = [
        {kind for kind in (InGit, InWork, OnDisk) if isinstance(tree, kind)}
        for tree in (*trees, open_path("vllm-ascend", plain))
    ]
    assert can == [{InGit, InWork, OnDisk}, {InGit}, {OnDisk}]
