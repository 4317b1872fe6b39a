"""A class that upstream renamed is followed under its old name; the results are those of a class that kept its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import ASCEND, BASE, check_upgrade, code_of, commit, committed_trees, keys

from runner_sync import sync
from runner_sync.sync.classes.renamed_classes import find_new_name, swap_names

ALIASES = {"alias": "NPUModelRunner = AscendRunner", "hint": "NPUModelRunner: TypeAlias = AscendRunner", "none": ""}


def rename(root: Path, alias: str) -> None:
    """Rename the runner class of a vllm-ascend, and leave ``alias`` behind."""
    text = (root / ASCEND).read_text("utf-8").replace("class NPUModelRunner(", "class AscendRunner(")
    (root / ASCEND).write_text(f"{text}\n\n{alias}\n" if alias else text, "utf-8")


@pytest.mark.parametrize("base", ["HEAD~2", None])
@pytest.mark.parametrize("alias", [*ALIASES])
def test_an_upgrade_across_a_new_name_is_the_upgrade_without_it(tmp_path: Path, alias: str, base: str | None) -> None:
    kept, renamed = committed_trees(tmp_path / "kept"), committed_trees(tmp_path / "renamed")
    rename(renamed.ascend_old, ALIASES[alias])
    for trees in (kept, renamed):
        commit(trees.ascend_old)
        check_upgrade(trees.upgrade(trees.ascend_old, ascend_base=base, omni_base=trees.itself, verify=False))
    assert "self.synchronize_rows(total)" in code_of(kept)[BASE], "what vllm-ascend gained"
    assert code_of(renamed) == code_of(kept)


@pytest.mark.parametrize("has_lock", [True, False])
@pytest.mark.parametrize("alias", [*ALIASES])
def test_a_change_after_a_new_name_is_merged(tmp_path: Path, alias: str, has_lock: bool) -> None:
    """The copy is of the renamed class, and its base is found there: in the lock, or in the history."""
    kept, renamed = committed_trees(tmp_path / "kept"), committed_trees(tmp_path / "renamed")
    rename(renamed.ascend_old, ALIASES[alias])
    for trees in (kept, renamed):
        commit(trees.ascend_old)
        check_upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~2", omni_base=trees.itself, verify=False))
        commit(trees.omni)
        if not has_lock:
            (trees.omni / "runner-sync.lock").unlink()
            commit(trees.omni)
        text = (trees.ascend_old / ASCEND).read_text("utf-8")
        changed = text.replace("synchronize_rows(total)\n", "synchronize_rows(total, 1)\n")
        assert changed != text
        (trees.ascend_old / ASCEND).write_text(changed, "utf-8")
        commit(trees.ascend_old)
        check_upgrade(trees.upgrade(trees.ascend_old, omni_base=trees.itself, verify=False))
    assert "self.synchronize_rows(total, 1)" in code_of(kept)[BASE]
    assert code_of(renamed) == code_of(kept)


@pytest.mark.parametrize("alias", [*ALIASES])
def test_check_and_verify_tell_the_same_and_what_cannot_be_imported(tmp_path: Path, alias: str) -> None:
    told = []
    for trees, is_renamed in (
        (committed_trees(tmp_path / "kept"), False),
        (committed_trees(tmp_path / "renamed"), True),
    ):
        if is_renamed:
            rename(trees.ascend_old, ALIASES[alias])
        commit(trees.ascend_old)
        options = trees.check(ascend=trees.ascend_old, ascend_base="HEAD~2", vllm_base="0.20.0")
        told.append((keys(sync.check(options)), keys(sync.verify(replace(options, typecheck="none")))))
    drift = [{key for key in checked if key[0].startswith(("RS1", "RS2"))} for checked, _ in told]
    assert ("RS101", "NPUModelRunner.execute_model") in drift[0]
    assert drift[1] == drift[0]
    lost = ("RS301", "vllm_ascend.worker.model_runner_v1.NPUModelRunner")
    assert [lost in found for found in told[1]] == [alias == "none"] * 2
    if alias != "none":
        assert told[1] == told[0]


@pytest.mark.parametrize("alias", [*ALIASES])
def test_a_new_name_is_noted_with_what_is_left_to_do(tmp_path: Path, alias: str) -> None:
    trees = committed_trees(tmp_path)
    rename(trees.ascend_old, ALIASES[alias])
    commit(trees.ascend_old)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~2", omni_base=trees.itself, verify=False))
    (note,) = [note for note in planned.report.notes if "AscendRunner" in note]
    assert f"calls NPUModelRunner of {ASCEND} AscendRunner now: the runners follow it" in note
    assert ("import it by its new name" in note) == (alias == "none")


METHODS = "    def load(self): ...\n    def run(self): ...\n"
NEW = f"class New:\n{METHODS}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"{NEW}\nOld = New\n", "New", id="alias"),
        pytest.param(f"{NEW}\nOld: type = New\n", "New", id="alias with a hint"),
        pytest.param(f"class Other:\n{METHODS}{METHODS}class New: ...\nOld = New\n", "New", id="the alias tells"),
        pytest.param(NEW, "New", id="most methods"),
        pytest.param(f"{NEW}class Some:\n    def run(self): ...\n", "New", id="twice as many as the next"),
        pytest.param(f"{NEW}class Old: ...\n", "", id="the class is there"),
        pytest.param(f"{NEW}if x:\n    class Old: ...\n", "", id="the class is there under a condition"),
        pytest.param(f"{NEW}if x:\n    Old = New\n", "", id="alias under a condition"),
        pytest.param(f"{NEW}Old = New\nOld = Other\n", "", id="two aliases"),
        pytest.param(f"{NEW}Old = make(New)\n", "", id="not the class itself"),
        pytest.param(f"{NEW}Old = Other = New\n", "", id="two names"),
        pytest.param(f"{NEW}from .other import Old\n", "", id="imported"),
        pytest.param("from .other import New\nOld = New\n", "", id="alias of an import"),
        pytest.param(f"{NEW}New = wrap(New)\nOld = New\n", "", id="replaced"),
        pytest.param(f"{NEW}class Some:\n{METHODS}", "", id="two classes with as many"),
        pytest.param("class New:\n    def run(self): ...\n    def other(self): ...\n", "", id="one method is too few"),
        pytest.param("class New: ...\n", "", id="no methods"),
        pytest.param("x = 1\n", "", id="no class"),
    ],
)
def test_the_new_name_of_a_class(text: str, expected: str) -> None:
    assert find_new_name(text, "Old", {"load", "run"}) == expected


def test_only_the_names_are_swapped() -> None:
    text = '@register\nclass  New(Base):\n    """A New."""\n\n\nOld = New  # kept\nmake(New)\n'
    expected = '@register\nclass  Old(Base):\n    """A New."""\n\n\nNew = Old  # kept\nmake(New)\n'
    assert swap_names(text, "Old", "New") == expected
    assert swap_names("class New: ...\n", "Old", "New") == "class Old: ...\n\n\nNew = Old\n"
