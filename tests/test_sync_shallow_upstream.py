"""A clone of the followed upstream without its history does not tell what the runners were copied from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sync_samples import ASCEND_NEW, Trees, check_upgrade, commit, keys, lay_out, stay_at_home

from runner_sync import sync
from runner_sync.errors import InputError


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Runners that follow the first commit of vllm-ascend, whose second one changed what they copy."""
    stay_at_home(monkeypatch, tmp_path)
    made = Trees(tmp_path)
    commit(made.omni)
    commit(made.ascend_old)
    lay_out(made.ascend_old, ASCEND_NEW)
    commit(made.ascend_old)
    return made


def clone(trees: Trees, place: Path, *options: str) -> Path:
    words = ["git", "clone", "-q", *options, trees.ascend_old.as_uri(), str(place)]
    subprocess.run(words, check=True, capture_output=True)
    return place


def test_nothing_is_inferred_from_a_shallow_clone(trees: Trees, tmp_path: Path) -> None:
    """Its only commit is the target: nothing would be merged, and a lock would say that the runners are in step."""
    shallow = clone(trees, tmp_path / "shallow", "--depth=1")
    options = trees.upgrade(shallow, omni_base="HEAD", verify=False)
    for command in (sync.upgrade, sync.lock):
        with pytest.raises(InputError, match=r"is a shallow clone: complete it with .* or name .* --ascend-base"):
            command(options)
    with pytest.raises(InputError, match="is a shallow clone"):
        sync.check(trees.check(ascend=shallow))


def test_a_base_that_is_named_or_locked_needs_no_history(trees: Trees, tmp_path: Path) -> None:
    whole = clone(trees, tmp_path / "whole")
    expected = sync.upgrade(trees.upgrade(whole, omni_base="HEAD", verify=False))
    shallow = clone(trees, tmp_path / "shallow", "--depth=2")
    named = sync.upgrade(trees.upgrade(shallow, omni_base="HEAD", ascend_base="HEAD~1", verify=False))
    assert named.changes == expected.changes != ()
    check_upgrade(trees.upgrade(whole, omni_base="HEAD", verify=False))
    newest = clone(trees, tmp_path / "newest", "--depth=1")
    assert keys(sync.check(trees.check(ascend=newest, select=("RS101", "RS201")))) == set()
