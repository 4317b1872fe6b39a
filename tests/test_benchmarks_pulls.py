"""A pull request scored: what the tool makes of the tree before it, beside what people made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, Trees, commit, stay_at_home

from benchmarks import pulls
from runner_sync import sync, write
from runner_sync.errors import InputError
from runner_sync.sync import TreeOptions


@pytest.mark.parametrize(
    ("by_hand", "left"), [("", "left 0, effort left 0.00"), ("self.by_hand = True", "left 1, effort left 0.17")]
)
def test_of_a_pull_request_what_was_written_by_hand_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_hand: str, left: str
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_new))
    write.write(planned.changes, trees.omni)
    if by_hand:
        trees.edit(
            AR, "info = request.additional_information", f"{by_hand}\n        info = request.additional_information"
        )
    commit(trees.omni)
    options = replace(
        trees.upgrade(trees.ascend_new), omni=TreeOptions(path=trees.omni, ref="HEAD^"), out=tmp_path / "x"
    )
    said = pulls.report(trees.omni, "HEAD", options)
    assert said.startswith("HEAD: work ")
    assert left in said  # five lines are the tool's, and the sixth is by hand


def test_a_commit_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.omni)
    with pytest.raises(InputError, match="no revision gone"):
        pulls.report(trees.omni, "gone", trees.upgrade(trees.ascend_new))
