"""A lock whose bases were inferred from releases, and an upgrade that has the history between them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sync_samples import ASCEND_NEW, Trees, commit, lay_out, stay_at_home

from runner_sync import sync


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Runners locked with an unpacked release, and a checkout of vllm-ascend that has it as a tag."""
    stay_at_home(monkeypatch, tmp_path)
    made = Trees(tmp_path)
    commit(made.omni)
    made.write_lock()
    commit(made.omni)
    commit(made.ascend_old)
    subprocess.run(["git", "-C", str(made.ascend_old), "tag", "v0.20.0"], check=True)
    lay_out(made.ascend_old, ASCEND_NEW)
    commit(made.ascend_old)
    return made


def is_noted(planned: sync.Upgrade) -> bool:
    return any("may have closer commits" in note for note in planned.report.notes)


def test_an_upgrade_says_that_the_history_may_have_closer_bases(trees: Trees) -> None:
    options = trees.upgrade(trees.ascend_old, verify=False)
    planned = sync.upgrade(options)
    assert is_noted(planned)
    sync.apply(planned, options)
    commit(trees.omni)
    assert not is_noted(sync.upgrade(options)), "now the lock knows what was merged"


def test_the_way_that_the_note_names_ends_it(trees: Trees) -> None:
    (trees.omni / "runner-sync.lock").unlink()
    options = trees.upgrade(trees.ascend_old, omni_base="HEAD")
    sync.apply(sync.lock(options), options)
    commit(trees.omni)
    assert not is_noted(sync.upgrade(trees.upgrade(trees.ascend_old, verify=False)))


def test_noop_a_base_is_named_or_no_history_is_at_hand(trees: Trees) -> None:
    named = trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base="HEAD", verify=False)
    assert not is_noted(sync.upgrade(named))
    assert not is_noted(sync.upgrade(trees.upgrade(trees.ascend_old, verify=False, upstream=False)))
    (trees.omni / "runner-sync.lock").unlink()
    assert not is_noted(sync.upgrade(trees.upgrade(trees.ascend_old, omni_base="HEAD", verify=False)))
