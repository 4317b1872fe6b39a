"""Commits of vllm-ascend that the lock names and that are gone: their texts are found elsewhere, or the run says so."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND_NEW, ASCEND_OLD, BASE, GPU_AR, GPU_BASE, Trees, commit, lay_out

from runner_sync import digests, lock, sync
from runner_sync.errors import InputError
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.sync.options import TreeOptions
from runner_sync.units.texts import unit_texts

GONE = "7c8ee98378"
ANEW = (
    "name one that has the commit with --ascend-path, or write the lock anew for a release with "
    "`runner-sync lock --ascend-version V`"
)


def gone_commit(trees: Trees) -> Path:
    """A lock that names a commit of a branch, which the merge left behind."""
    commit(trees.omni)
    trees.write_lock()
    lock_file = trees.omni / "runner-sync.lock"
    text = lock_file.read_text("utf-8")
    head = subprocess.run(
        ["git", "-C", str(trees.omni), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    assert head.stdout[:10] in text
    lock_file.write_text(text.replace(head.stdout[:10], GONE), "utf-8")
    commit(trees.omni)
    return lock_file


def test_a_locked_commit_that_was_squashed_away_is_found_by_its_texts(trees: Trees) -> None:
    gone_commit(trees)
    trees.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))
    assert any("names vllm-omni 7c8ee98378; " in note for note in planned.report.notes)
    assert "NPUARModelRunner._stage_of" in [unit.unit for unit in planned.report.units if unit.ported]


def test_an_upgrade_is_verified_against_the_commit_with_the_locked_texts(trees: Trees) -> None:
    commit(trees.omni)
    lay_out(trees.ascend_new, ASCEND_OLD)
    commit(trees.ascend_new)
    planned = sync.lock(trees.upgrade(trees.ascend_new, omni_base="HEAD"))
    assert planned.lock is not None
    show = ["git", "-C", str(trees.ascend_new), "rev-parse", "--short=10", "HEAD"]
    old = subprocess.run(show, check=True, capture_output=True, text=True).stdout.strip()
    (trees.omni / "runner-sync.lock").write_text((planned.lock.after or "").replace(old, GONE), "utf-8")
    lay_out(trees.ascend_new, ASCEND_NEW)
    commit(trees.ascend_new)
    report = sync.upgrade(trees.upgrade(trees.ascend_new)).report
    assert not any("without the older trees" in note for note in report.notes)
    assert report.fitted.startswith(f"--ascend-base {old}")


def test_the_first_commit_with_the_locked_texts_is_read(trees: Trees) -> None:
    """What the GPU runner got later, with those texts as they were, was not settled when the lock was written."""
    gone_commit(trees)
    own = ["git", "-C", str(trees.omni), "log", "--format=%H", "--", GPU_AR]
    first = subprocess.run(own, check=True, capture_output=True, text=True).stdout[:10]
    trees.edit(GPU_AR, "    def _stage_of", "    def _fresh(self):\n        return 1\n\n    def _stage_of")
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))
    (note,) = [note for note in planned.report.notes if "names vllm-omni 7c8ee98378; " in note]
    assert f"; commit {first} was read" in note


def test_a_locked_commit_that_the_clone_lacks_is_noted(trees: Trees) -> None:
    gone_commit(trees)
    options = trees.upgrade(trees.ascend_old, vllm_base="0.20.0")
    for report in (sync.check(trees.check()), sync.lock(options).report):
        (note,) = [note for note in report.notes if GONE in note]
        assert note.startswith(f"runner-sync.lock names vllm-omni {GONE}, which this clone does not have (a squash")
        assert "name the commit that took its place with `runner-sync lock --omni-path" in note
    notes = sync.lock(replace(options, omni_base="HEAD")).report.notes
    assert not any(GONE in note for note in notes), "what the note asks for settles it"


@pytest.mark.parametrize("how", ["there", "shallow", "release", "folder", "no checkout"])
def test_a_locked_commit_is_not_noted_without_need(trees: Trees, how: str) -> None:
    """What a shallow clone lacks is not gone, and neither a release nor a folder is a commit."""
    gone_commit(trees)
    file, git = trees.omni / "runner-sync.lock", ["git", "-C", str(trees.omni)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    if how == "shallow":
        (trees.omni / ".git/shallow").write_text(head, "utf-8")
    elif how == "no checkout":
        shutil.rmtree(trees.omni / ".git")
    else:
        named = {"there": head[:10], "release": "0.20.0", "folder": "/tmp/omni"}[how]
        file.write_text(file.read_text("utf-8").replace(GONE, named), "utf-8")
    assert not any("does not have" in note for note in sync.check(trees.check()).notes)


def settle(trees: Trees, unit: tuple[str, str], twin: tuple[str, str]) -> Path:
    """A lock by which ``unit`` follows its GPU ``twin`` as that is now, settled at a commit that is gone."""
    lock_file = trees.omni / NPU.lock_file
    known = lock.load(lock_file.read_text("utf-8"))
    path, qualname = twin
    digest = digests.digest(unit_texts((trees.omni / path).read_text("utf-8"), path)[qualname])
    entry = known.by_key().get(unit) or lock.Entry(*unit)
    settled = replace(entry, gpu=BaseRef("vllm-omni", GONE, path, qualname, "lock", 1.0, digest))
    made = lock.merge(known, [settled], inputs=known.inputs, gone=set())
    lock_file.write_text(lock.dump(made), "utf-8")
    commit(trees.omni)
    return lock_file


def test_a_changed_twin_is_not_read_at_a_commit_that_only_has_another_twins_texts(trees: Trees) -> None:
    """A shallow clone, or a squash: what the GPU runner got since would count as known, and never be ported."""
    gone_commit(trees)
    settle(trees, (BASE, "OmniNPUModelRunner.execute_model"), (GPU_BASE, "OmniGPUModelRunner._forward"))
    trees.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    shutil.rmtree(trees.omni / ".git")
    commit(trees.omni)
    with pytest.raises(InputError, match=rf"{GONE}, which cannot be read"):
        sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))


def test_a_tree_without_git_under_a_lock_that_names_commits_asks_for_a_checkout(trees: Trees) -> None:
    gone_commit(trees)
    settle(trees, (AR, "NPUARModelRunner._stage_of"), (GPU_AR, "GPUARModelRunner._stage_of"))
    trees.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    shutil.rmtree(trees.omni / ".git")
    message = (
        rf"^runner-sync\.lock names vllm-omni {GONE}, a git revision, and {trees.omni} is no git checkout: name one "
    )
    with pytest.raises(InputError, match=rf"{message}with --omni-path CHECKOUT\.$"):
        sync.upgrade(replace(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"), upstream=False))


def test_a_lock_made_anew_keeps_what_names_a_commit_that_is_gone(trees: Trees) -> None:
    """What was settled by hand looks like an older twin again, and only the lock knows better."""
    gone_commit(trees)
    trees.edit(GPU_AR, 'return info.get("stage")', 'return info.get("stage", 0)')
    text = settle(trees, (AR, "NPUARModelRunner._stage_of"), (GPU_AR, "GPUARModelRunner._stage_of")).read_text("utf-8")
    made = sync.lock(trees.upgrade(trees.ascend_old, vllm_base="0.20.0")).lock
    after, before = (lock.load(one).entries for one in (made.after or "" if made is not None else text, text))
    assert [(one.key, one.upstream, one.gpu) for one in after] == [(one.key, one.upstream, one.gpu) for one in before]


def test_a_locked_commit_whose_texts_nobody_has_is_an_error(trees: Trees) -> None:
    lock_file = gone_commit(trees)
    text = re.sub(r'(?s)(unit\.gpu\]\n.*?digest = )"\w+"', rf'\1"{"0" * 64}"', lock_file.read_text("utf-8"))
    lock_file.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"7c8ee98378, which cannot be read"):
        sync.upgrade(trees.upgrade(trees.ascend_old, vllm_base="0.20.0"))


@pytest.mark.parametrize("command", ["lock", "upgrade", "verify"])
def test_a_release_that_only_the_lock_names_is_said_to_come_from_it(trees: Trees, command: str) -> None:
    trees.write_lock()
    file = trees.omni / "runner-sync.lock"
    file.write_text(re.sub(r"(?m)^vllm-ascend = .*", 'vllm-ascend = "9.9.9"', file.read_text("utf-8")), "utf-8")
    options = trees.check() if command == "verify" else replace(trees.upgrade(trees.ascend_old), ascend=TreeOptions())
    message = r"^runner-sync\.lock names vllm-ascend 9\.9\.9, which cannot be read \(.*\): give --ascend-path or"
    with pytest.raises(InputError, match=message):
        getattr(sync, command)(options)


@pytest.mark.parametrize("command", ["lock", "upgrade", "verify"])
@pytest.mark.parametrize(
    ("named", "said"),
    [
        (f'vllm-ascend = "{GONE}"', rf" \(runner-sync\.lock names {GONE}, which only a git checkout has: {ANEW}\)\.$"),
        ('vllm-ascend = "/tmp/ascend"', r" \(runner-sync\.lock names /tmp/ascend, which is no release\)\.$"),
        ("", r"install runner-sync\[ascend\]\.$"),
    ],
)
def test_what_only_the_lock_names_and_no_release_has_is_said(trees: Trees, command: str, named: str, said: str) -> None:
    trees.write_lock()
    file = trees.omni / "runner-sync.lock"
    file.write_text(re.sub(r"(?m)^vllm-ascend = .*", named, file.read_text("utf-8")), "utf-8")
    options = trees.check() if command == "verify" else replace(trees.upgrade(trees.ascend_old), ascend=TreeOptions())
    with pytest.raises(InputError, match=rf"^no vllm-ascend to follow: give --ascend-path or .*{said}"):
        getattr(sync, command)(options)


@pytest.mark.parametrize("command", ["lock", "upgrade", "check"])
def test_a_lock_that_is_not_utf_8_is_restored_and_not_converted(trees: Trees, command: str) -> None:
    trees.write_lock()
    file = trees.omni / "runner-sync.lock"
    named = re.sub(r"(?m)^vllm-ascend = .*", 'vllm-ascend = "0.20.0"', file.read_text("utf-8"))
    file.write_bytes(named.encode() + b"# \xe4\n")
    options = trees.check() if command == "check" else trees.upgrade(trees.ascend_old)
    message = (
        r"^runner-sync\.lock:\d+: is not UTF-8 text; restore it .* `runner-sync lock --ascend-version 0\.20\.0`\.$"
    )
    with pytest.raises(InputError, match=message):
        getattr(sync, command)(options)
