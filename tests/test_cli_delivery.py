"""A report that cannot be written: exit code 2 means that nothing was."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_samples import FakeSync, replace_sync
from sync_samples import Trees

from runner_sync import cli
from runner_sync.errors import InputError

FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeSync:
    monkeypatch.chdir(tmp_path)
    return replace_sync(monkeypatch)


class FullStream(io.StringIO):
    """A stream that takes nothing, as on a full disk."""

    def write(self, text: str) -> int:
        del text
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def snapshot(root: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def words(trees: Trees, *more: str) -> list[str]:
    named = (("--omni-path", trees.omni), ("--ascend-path", trees.ascend_new), ("--vllm-path", trees.vllm))
    return [*(word for option, path in named for word in (option, str(path))), "--omni-base", trees.itself, *more]


@pytest.mark.parametrize("command", ["upgrade", "lock", "hoist A.run"])
@pytest.mark.parametrize("place", ["html:reports/u.html", "text:/dev/full"])
def test_a_report_that_cannot_be_written_keeps_the_tree_as_it_was(
    fake: FakeSync, capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, place: str
) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    fake.before = folder.rmdir
    assert cli.run([*command.split(), "-o", "json:a.json", "-o", place]) == 2
    assert "apply" not in fake.asked
    assert not list(tmp_path.iterdir())
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {place.partition(':')[2]}: the report cannot be written")
    assert err.count("\n") == 1


def test_an_upgrade_without_its_report_writes_nothing(trees: Trees, tmp_path: Path) -> None:
    before = snapshot(trees.omni)
    out = tmp_path / "out"
    assert cli.run(["upgrade", *words(trees, "-o", "text:/dev/full")]) == 2
    assert cli.run(["upgrade", *words(trees, "-o", "text:/dev/full", "--out", str(out))]) == 2
    assert snapshot(trees.omni) == before
    assert not out.exists()
    assert cli.run(["upgrade", *words(trees, "-o", f"text:{tmp_path}/u.txt")]) == 1
    assert snapshot(trees.omni) != before
    assert "files written" in (tmp_path / "u.txt").read_text("utf-8")


def test_a_check_without_its_report_writes_no_baseline(trees: Trees, capsys: pytest.CaptureFixture[str]) -> None:
    trees.write_lock()
    file = trees.omni / "accepted.json"
    line = ["check", "--omni-path", str(trees.omni), "--baseline", str(file), "--update-baseline"]
    assert cli.run([*line, "-o", "text:/dev/full"]) == 2
    assert not file.exists()
    capsys.readouterr()
    assert cli.run(line) == 0
    assert file.exists()
    assert "accepts 2 findings now" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("fake")
def test_all_reports_are_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    assert cli.run(["check", "-o", "json:a.json", "-o", "html:b.html", "-o", "sarif:/dev/full"]) == 2
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [("a.json", "old")]


@pytest.mark.usefixtures("fake")
def test_a_step_summary_that_cannot_be_written_keeps_the_reports_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(FULL))
    assert cli.run(["check", "-o", "json:a.json", "-o", "github:b"]) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("fake")
def test_what_was_written_is_said_when_standard_output_is_full(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", FullStream())
    assert cli.run(["upgrade"]) == 2
    err = capsys.readouterr().err
    assert "Wrote 2 files below omni; what is left:" in err
    assert "commit with sign-off" in err
    assert err.endswith("No space left on device; 2 files had been written.\n")


def test_a_report_that_cannot_be_put_in_place_says_what_was_written(
    fake: FakeSync, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fake.behind_apply = (tmp_path / "u.html").mkdir
    assert cli.run(["upgrade", "-o", "html:u.html"]) == 2
    err = capsys.readouterr().err
    assert "Wrote 2 files below omni; what is left:" in err
    assert err.endswith("name another file. 2 files had been written.\n")


def test_the_step_summary_says_nothing_of_a_run_that_failed(
    fake: FakeSync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It was completed before the tree was written."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    def fail() -> None:
        raise InputError("a.py: the disk is full; no file was changed.")

    fake.during_apply = fail
    assert cli.run(["upgrade", "-o", "github"]) == 2
    assert not summary.exists() or not summary.read_text("utf-8")


@pytest.mark.usefixtures("fake")
def test_a_report_keeps_the_mode_of_the_one_that_it_replaces(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}", "utf-8")
    (tmp_path / "a.json").chmod(0o640)
    assert cli.run(["check", "-o", "json:a.json"]) != 2
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o640
