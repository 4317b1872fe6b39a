"""A pull request scored: what the tool makes of the tree before it, beside what people made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sync_samples import AR, BASE, GPU_AR, Trees, commit, stay_at_home

from benchmarks import pulls
from benchmarks.pulls import Pull
from runner_sync import sync, write
from runner_sync.errors import InputError


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """An omni checkout, and two of vllm-ascend, which names its vLLM."""
    stay_at_home(monkeypatch, tmp_path)
    monkeypatch.setenv("VLLM_PATH", str(tmp_path / "vllm"))
    made = Trees(tmp_path)
    for folder in (made.omni, made.ascend_new, made.ascend_old):
        commit(folder)
    return made


def head(folder: Path) -> str:
    done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize(("by_hand", "left"), [("", 0), ("self.by_hand = True", 1)])
def test_of_a_step_what_was_written_by_hand_is_left(trees: Trees, by_hand: str, left: int) -> None:
    write.write(sync.upgrade(trees.upgrade(trees.ascend_new)).changes, trees.omni)
    if by_hand:
        trees.edit(
            AR, "info = request.additional_information", f"{by_hand}\n        info = request.additional_information"
        )
    commit(trees.omni)
    done = pulls.score_pull(Pull(1, head(trees.omni), head(trees.ascend_new), "step"), trees.omni, trees.ascend_new)
    assert done.total.left == left
    assert done.total.work >= 5  # lines of the upgrade


def test_of_a_commit_to_both_platforms_the_gpu_half_is_the_input(trees: Trees) -> None:
    for path in (AR, GPU_AR):
        trees.edit(path, 'return info.get("stage")', 'return info.get("stage", 0)')
    trees.edit(BASE, "self.last_hidden = hidden", "self.last_hidden = hidden\n        self.by_hand = True")
    commit(trees.omni)
    before = head(trees.omni)
    done = pulls.score_pull(Pull(2, before, head(trees.ascend_old), "port"), trees.omni, trees.ascend_old)
    # A line changed, which the GPU half does, too, and one added to NPU alone.
    assert (done.total.work, done.total.hit, done.total.done) == (3, 2, 2)
    assert head(trees.omni) == before


def test_a_commit_that_ports_an_earlier_one_gets_that_one_alone(trees: Trees) -> None:
    old = 'return info.get("stage")'
    trees.edit(GPU_AR, old, 'return info.get("stage", 0)')
    commit(trees.omni)
    of = head(trees.omni)
    trees.edit(GPU_AR, "class GPUARModelRunner", "LATER = 1\n\n\nclass GPUARModelRunner")
    commit(trees.omni)
    trees.edit(AR, old, 'return info.get("stage", 0)')
    commit(trees.omni)
    row = Pull(3, head(trees.omni), head(trees.ascend_old), "commit", of=of)
    total = pulls.score_pull(row, trees.omni, trees.ascend_old).total
    assert (total.work, total.left) == (2, 0)


def test_the_table_adds_up_each_kind() -> None:
    one = pulls.score.Score(work=10, done=10, left=2, hit=9)
    two = pulls.score.Score(work=30, done=30, left=2, hit=27)
    rows = pulls.make_table([pulls.Outcome(Pull(k, "c", "a", "port"), total, 1) for k, total in enumerate((one, two))])
    assert rows.splitlines()[-1] == "| all 2 | port | 40 | 4 | 0.10 | 0.90 | 0.90 | 2 |"


def test_every_row_of_the_table_is_of_a_kind() -> None:
    rows = pulls.load_pulls()
    assert {row.kind for row in rows} == set(pulls.KINDS)
    assert len({row.title for row in rows}) == len(rows)


def test_a_commit_that_is_not_there_is_an_error(trees: Trees) -> None:
    with pytest.raises(InputError, match="git diff failed"):
        pulls.score_pull(Pull(3, "gone", "HEAD", "step"), trees.omni, trees.ascend_new)
