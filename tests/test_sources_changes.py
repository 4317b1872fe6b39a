"""Which lines a branch touched, on throw-away repositories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sync_samples import commit

from runner_sync.errors import InputError
from runner_sync.sources import RevisionTree, WorkTree, open_path
from runner_sync.sources.repository import Repository

FILE = "vllm_omni/worker/gpu_model_runner.py"
ROWS = ["one = 1", "two = 2", "three = 3", "four = 4", "five = 5"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A branch that left ``main``: the second line differs."""
    folder = tmp_path / "omni"
    (folder / FILE).parent.mkdir(parents=True)
    (folder / "vllm_omni/__init__.py").write_text("", "utf-8")
    write(folder, ROWS)
    commit(folder, "First")
    return folder


def write(root: Path, rows: list[str], end: str = "\n") -> None:
    (root / FILE).write_text("\n".join(rows) + end, "utf-8")


def changed(root: Path, since: str = "main") -> dict[str, frozenset[int]]:
    tree = open_path("vllm-omni", root)
    assert isinstance(tree, WorkTree)
    return tree.changed_lines(since)


def test_nothing_changed(root: Path) -> None:
    assert changed(root) == {}


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([ROWS[0], "two = 22", *ROWS[2:]], {2}),
        ([*ROWS, "six = 6"], {6}),
        ([ROWS[0], *ROWS[2:]], {1, 2}),  # a line that went: its neighbours
        (ROWS[1:], {0, 1}),
        ([*ROWS[:2], "++ three", "-- four", "+++ b/nothing.py", *ROWS[2:]], {3, 4, 5}),
    ],
)
def test_lines_of_the_work_tree(root: Path, rows: list[str], lines: set[int]) -> None:
    write(root, rows)
    assert changed(root) == {FILE: lines}


SETTINGS = (
    "diff.interHunkContext=9",
    "diff.context=9",
    "diff.algorithm=patience",
    "diff.noprefix=true",
    "diff.mnemonicPrefix=true",
    "diff.renames=false",
    "diff.renameLimit=1",
    "diff.orderFile=/dev/null",
    "diff.external=false",
    "color.ui=always",
    "color.diff=always",
    "core.quotePath=true",
    "core.bigFileThreshold=1",
)


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_setting_changes_what_is_read(root: Path, setting: str) -> None:
    from git import Repo

    names = [f"{FILE[:-3]}_{new}" for new in ("übrig", "two")]
    with Repo(root) as repo:
        for name in names:
            (root / f"{name}.py").write_text(f"# {name}\n" * 9, "utf-8")
        commit(root, "More")
        for name in names:
            repo.git.mv(f"{name}.py", f"{name}_too.py")
            (root / f"{name}_too.py").write_text(f"# {name}\n" * 8, "utf-8")
        write(root, ["one = 11", *ROWS[1:4], "five = 55"])
        repo.git.config(*setting.split("="))
        tree = open_path("vllm-omni", root)
        assert isinstance(tree, WorkTree)
        assert tree.renamed("main") == {f"{name}_too.py": f"{name}.py" for name in names}
        assert tree.changed_lines("main") == {FILE: {1, 5}} | {f"{name}_too.py": {8, 9} for name in names}


ATTRIBUTES = (
    "-diff",
    "binary",
    "diff=own",
    "diff=python",
    "-text",
    "text eol=lf",
    "export-ignore",
    "linguist-generated",
)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("place", [".gitattributes", ".git/info/attributes"])
def test_no_attribute_changes_what_is_read(root: Path, attribute: str, place: str) -> None:
    from git import Repo

    with Repo(root) as repo:
        for name, value in {"textconv": "false", "command": "false", "binary": "true", "algorithm": "patience"}.items():
            repo.git.config(f"diff.own.{name}", value)
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).write_text(f"*.py {attribute}\n", "utf-8")
        repo.git.mv(FILE, f"{FILE[:-3]}_too.py")
        (root / f"{FILE[:-3]}_too.py").write_text("\n".join(["one = 11", *ROWS[1:], ""]), "utf-8")
    for is_committed in (False, True):
        if is_committed:
            with Repo(root) as repo:
                repo.git.checkout("-q", "-b", "work")
            commit(root, "Change")
        found = changed(root)
        found.pop(".gitattributes", None)
        assert found == {f"{FILE[:-3]}_too.py": {1}}


def test_what_is_no_text_hides_nothing(root: Path) -> None:
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x00\n+++ b/nothing.py\n@@ -1 +1 @@\n")
    commit(root, "Picture")
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x00\n+++ b/nothing.py\n@@ -1 +1,9 @@\n\xff\x00")
    write(root, ["one = 11", *ROWS[1:]])
    assert changed(root)[FILE] == {1}
    assert set(changed(root)) == {FILE, "picture.png"}


def test_lines_that_could_be_either_are_told_one_way(root: Path) -> None:
    from git import Repo

    rows = ["class A:", "    @property", "    def one(self): ..."]
    write(root, rows)
    commit(root, "More")
    write(root, [rows[0], "    @property", "    def two(self): ...", *rows[1:]])
    with Repo(root) as repo:
        for value in ("true", "false"):
            repo.git.config("diff.indentHeuristic", value)
            assert changed(root) == {FILE: {2, 3}}  # not 3 and 4


def test_no_variable_changes_what_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, ["one = 11", *ROWS[1:4], "five = 55"])
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=3")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert changed(root) == {FILE: {1, 5}}


def test_where_a_branch_began_is_asked_git_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    run = Repository.run

    def watched(self: Repository, *arguments: str, **settings: Any) -> str:
        asked.append(arguments[0])
        return run(self, *arguments, **settings)

    tree = open_path("vllm-omni", root)
    assert isinstance(tree, WorkTree)
    monkeypatch.setattr(Repository, "run", watched)
    tree.changed_lines("main")
    tree.fork_point("main")
    assert asked.count("merge-base") == 1
    assert "for-each-ref" not in asked  # nor for the remote branches, of which `main` is none


def test_a_missing_final_newline_is_a_change(root: Path) -> None:
    write(root, ["zero = 0", *ROWS[1:]], end="")
    assert changed(root) == {FILE: {1, 5}}


def test_untracked_files_count_whole_and_ignored_ones_not(root: Path) -> None:
    (root / ".gitignore").write_text("ignored.py\n", "utf-8")
    commit(root, "Ignore")
    for name in ("new.py", "ignored.py", "notes.txt"):
        (root / "vllm_omni" / name).write_text("a = 1\nb = 2\n", "utf-8")
    assert set(changed(root)) == {"vllm_omni/new.py"}
    assert changed(root)["vllm_omni/new.py"] >= {1, 2}


def test_a_file_that_is_gone_has_no_lines(root: Path) -> None:
    (root / FILE).unlink()
    assert changed(root) == {}


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_file_with_another_name_has_the_lines_that_differ(root: Path, is_committed: bool) -> None:
    from git import Repo

    with Repo(root) as repo:
        repo.git.mv(FILE, f"{FILE[:-3]}_too.py")
        (root / f"{FILE[:-3]}_too.py").write_text("\n".join([*ROWS[:4], "five = 55", ""]), "utf-8")
        if is_committed:
            commit(root, "Rename")
        tree = open_path("vllm-omni", root, ref="HEAD" if is_committed else None)
        assert isinstance(tree, WorkTree | RevisionTree)
        since = "main~1" if is_committed else "main"
        assert tree.changed_lines(since) == {f"{FILE[:-3]}_too.py": {5}}
        assert tree.renamed(since) == {f"{FILE[:-3]}_too.py": FILE}


def test_a_copy_is_no_file_with_another_name(root: Path) -> None:
    (root / f"{FILE[:-3]}_too.py").write_bytes((root / FILE).read_bytes())
    (root / f"{FILE[:-3]}_three.py").write_text("nothing = 'alike'\n", "utf-8")
    commit(root, "Copy")
    tree = open_path("vllm-omni", root)
    assert isinstance(tree, WorkTree)
    assert tree.renamed("main~1") == {}
    assert len(tree.changed_lines("main~1")) == 2


def test_what_happened_on_main_since_is_not_the_branchs(root: Path) -> None:
    from git import Repo

    with Repo(root) as repo:
        repo.git.checkout("-q", "-b", "work")
        write(root, [ROWS[0], "two = 22", *ROWS[2:]])
        commit(root, "Work")
        repo.git.checkout("-q", "main")
        write(root, [*ROWS[:4], "five = 55"])
        commit(root, "Elsewhere")
        repo.git.checkout("-q", "work")
    assert changed(root) == {FILE: {2}}


def without_a_common_commit(root: Path, folder: Path) -> Path:
    """A shallow clone of two branches of ``root`` that knows neither where one left the other."""
    from git import Repo

    with Repo(root) as repo:
        repo.git.checkout("-q", "-b", "other")
        write(root, [*ROWS[:4], "five = 55"])
        commit(root, "Elsewhere")
        repo.git.checkout("-q", "main")
        write(root, [ROWS[0], "two = 22", *ROWS[2:]])
        commit(root, "Work")
    Repo.clone_from(root.as_uri(), folder, depth=1, no_single_branch=True).close()
    return folder


def test_a_shallow_clone_that_does_not_reach_where_the_branch_began_is_an_error(root: Path, tmp_path: Path) -> None:
    from git import Repo

    clone = without_a_common_commit(root, tmp_path / "clone")
    with pytest.raises(
        InputError, match=r"without the commit at which .* left origin/other: .*fetch --unshallow .*: 0"
    ):
        changed(clone, "origin/other")
    with Repo(clone) as repo:
        repo.git.fetch("-q", "--unshallow")
    write(clone, [ROWS[0], "two = 22", "three = 33", *ROWS[3:]])
    assert changed(clone, "origin/other") == {FILE: {2, 3}}


def test_another_history_is_an_error(root: Path) -> None:
    from git import Repo

    with Repo(root) as repo:
        repo.git.checkout("-q", "--orphan", "other")
        commit(root, "Another start")
        repo.git.checkout("-q", "main")
    with pytest.raises(InputError, match="other and this branch have no commit in common; name a revision"):
        changed(root, "other")


def test_a_project_in_a_folder_of_its_repository(tmp_path: Path) -> None:
    for folder in ("projects/omni", "projects/omni-too"):
        file = tmp_path / folder / FILE
        file.parent.mkdir(parents=True)
        (file.parent.parent / "__init__.py").write_text("", "utf-8")
        file.write_text("one = 1\n", "utf-8")
    commit(tmp_path, "First")
    for folder in ("projects/omni", "projects/omni-too"):
        (tmp_path / folder / FILE).write_text("one = 2\n", "utf-8")
    assert changed(tmp_path / "projects/omni") == {FILE: {1}}


def test_between_revisions(root: Path) -> None:
    write(root, [ROWS[0], "two = 22", *ROWS[2:]])
    commit(root, "Second")
    write(root, ["one = 11"])
    tree = open_path("vllm-omni", root, ref="main")
    assert isinstance(tree, RevisionTree)
    assert tree.changed_lines("main~1") == {FILE: {2}}


def test_an_unknown_revision_is_an_error(root: Path) -> None:
    with pytest.raises(InputError, match="has no revision mian"):
        changed(root, "mian")
