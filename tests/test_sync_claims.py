"""A folder that is not the release whose version it has is compared with that release, and named by its path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import isolate_index
from sources_samples import FakeIndex, make_sdist, serve
from sync_samples import ASCEND, ASCEND_NEW, ASCEND_OLD, Trees, commit, dedent, keys, lay_out

from runner_sync import sync
from runner_sync.lock import load

RELEASE = "0.20.0"
AS_BASE = {"ascend_base": RELEASE}


@pytest.fixture
def released(trees: Trees, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Trees]:
    """The trees, and an index with the old vllm-ascend as 0.20.0."""
    fake = FakeIndex()
    files = {name: dedent(text).encode() for name, text in ASCEND_OLD.items()}
    fake.add("vllm-ascend", f"vllm_ascend-{RELEASE}.tar.gz", make_sdist(files, top=f"vllm_ascend-{RELEASE}"))
    server = serve(fake)
    isolate_index(monkeypatch, fake.url, tmp_path / "cache")
    trees.write_lock()
    yield trees
    server.shutdown()
    server.server_close()


def edit(trees: Trees, *, as_git: bool = False) -> None:
    """Give the folder of 0.20.0 the runner of 0.22.0, but not its version."""
    lay_out(trees.ascend_old, {ASCEND: ASCEND_NEW[ASCEND]})
    if as_git:
        commit(trees.ascend_old)


@pytest.mark.parametrize("as_git", [False, True])
@pytest.mark.parametrize("base", [{}, AS_BASE], ids=["lock", "option"])
def test_an_upgrade_merges_what_the_folder_has_changed(released: Trees, base: dict[str, str], as_git: bool) -> None:
    edit(released, as_git=as_git)
    planned = sync.upgrade(released.upgrade(released.ascend_old, omni_base=released.itself, verify=False, **base))
    assert any("self.synchronize_rows(total)" in (change.after or "") for change in planned.changes)
    assert planned.lock is not None
    assert load(planned.lock.after or "").inputs["vllm-ascend"] != RELEASE
    assert any(f"is not {RELEASE} as released" in note for note in planned.report.notes) == (not as_git)


@pytest.mark.parametrize("as_git", [False, True])
@pytest.mark.parametrize("base", [{}, AS_BASE], ids=["lock", "option"])
def test_check_tells_what_the_folder_has_changed(released: Trees, base: dict[str, str], as_git: bool) -> None:
    edit(released, as_git=as_git)
    report = sync.check(released.check(ascend=released.ascend_old, select=("RS101",), **base))
    assert ("RS101", "NPUModelRunner.execute_model") in keys(report)


@pytest.mark.parametrize("base", [{}, AS_BASE], ids=["lock", "option"])
def test_a_folder_that_is_the_release_is_in_step(released: Trees, base: dict[str, str]) -> None:
    options = released.upgrade(released.ascend_old, omni_base=released.itself, gpu=False, verify=False, **base)
    assert not sync.upgrade(options).changes
    report = sync.check(released.check(ascend=released.ascend_old, select=("RS101",), **base))
    assert not report.findings


def test_an_unchanged_folder_with_the_locked_version_needs_no_index(locked: Trees) -> None:
    assert not sync.check(locked.check(ascend=locked.ascend_old, select=("RS101",))).findings
