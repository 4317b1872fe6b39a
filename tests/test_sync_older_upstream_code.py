"""What a copy lacks of upstream since before an upgrade is named by it, where no review item does."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import ASCEND, ASCEND_NEW, ASCEND_OLD, BASE, Trees, commit, dedent, stay_at_home

from runner_sync import sync, write
from runner_sync.confidence import CONTESTED
from runner_sync.model import ReviewItem
from runner_sync.sync.notes import older_code
from runner_sync.upgrade import ModuleResult

TOTAL = "        total = scheduler_output.total_num_scheduled_tokens\n"
CHECK = "        self.check_rows(total)\n"


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """vllm-ascend as a repository of two commits, both of which check the rows, as omni's copy does not."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    for tree in (ASCEND_OLD, ASCEND_NEW):
        text = dedent(tree[ASCEND])
        assert text.count(TOTAL) == 1
        (trees.ascend_new / ASCEND).write_text(text.replace(TOTAL, TOTAL + CHECK), encoding="utf-8")
        commit(trees.ascend_new)
    return trees


def named(trees: Trees, **options: object) -> list[str]:
    """The notes of an upgrade that name the check."""
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, verify=False, **options))
    return [note for note in planned.report.notes if "check_rows" in note]


def test_what_the_copy_never_had_is_named(trees: Trees) -> None:
    (note,) = named(trees, ascend_base="HEAD~1")
    assert "self.check_rows (execute_model)" in note


def test_not_what_is_new(trees: Trees) -> None:
    """`synchronize_rows` comes in, and the check is upstream's own again once the copy has it."""
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, verify=False, ascend_base="HEAD~1"))
    assert not any("synchronize_rows" in note for note in planned.report.notes)


@pytest.mark.parametrize(
    ("place", "added"),
    [
        pytest.param(TOTAL, TOTAL + CHECK, id="the copy has it"),
        pytest.param(
            "        return self._finish(logits, total)\n",
            "        return self._finish(logits, total)\n\n    def _rows_of(self, total):\n" + CHECK,
            id="another method of omni's does it",
        ),
    ],
)
def test_not_what_omni_uses(trees: Trees, place: str, added: str) -> None:
    trees.edit(BASE, place, added)
    assert named(trees, ascend_base="HEAD~1") == []


def test_not_of_another_method(trees: Trees) -> None:
    assert named(trees, ascend_base="HEAD~1", only=("NPUARModelRunner._stage_of",)) == []


def test_once_only(trees: Trees) -> None:
    """The lock of the first upgrade says that it is settled."""
    first = sync.upgrade(trees.upgrade(trees.ascend_new, verify=False, ascend_base="HEAD~1"))
    assert first.lock is not None
    write.write([*first.changes, first.lock], trees.omni)
    assert named(trees) == []


def item(shown: str) -> ReviewItem:
    reason = "removed statement changed"
    return ReviewItem("R1", "R.run", BASE, 1, 1, reason, CONTESTED, base=shown, omni="", upstream="", chosen="")


@pytest.mark.parametrize(
    ("after", "shown", "is_told"),
    [
        ("", "", True),
        ("", "self.check_rows_of(total)", True),
        ("", "self.check_rows(total)", False),
        ("self.check_rows(total)", "", False),
    ],
)
def test_what_is_asked_about_or_used_elsewhere_is_not_named(
    after: str, shown: str, is_told: bool, trees: Trees
) -> None:
    result = ModuleResult(BASE, "", after, reviews=(item(shown),), never_had={"R.run": ("check_rows",)})
    notes = older_code.note_upstream_code([result], "vllm-ascend", trees.upgrade(trees.ascend_new))
    assert bool(notes) == is_told


def test_of_many_names_some_are_given(trees: Trees) -> None:
    names = tuple(f"row_{k:02}" for k in range(older_code.NAMED_UPSTREAM + 3))
    result = ModuleResult(BASE, "", "", never_had={"R.run": names})
    (note,) = older_code.note_upstream_code([result], "vllm-ascend", trees.upgrade(trees.ascend_new))
    assert "row_11 (run) and 3 more" in note
