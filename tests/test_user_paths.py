"""Paths that people name and that are none: one clear sentence each, wherever they are named."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, BASE, Trees, commit, stay_at_home

from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.sources import cache, open_path, pip_config
from runner_sync.sync.options import TreeOptions
from runner_sync.terminal.outputs import parse_outputs
from runner_sync.user_paths import expanded, resolved

NOBODY = "~nobody-of-this-name"


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path / "loop"


def test_a_home_folder_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert expanded("~/a") == Path("/home/somebody/a")
    assert expanded("a~b") == Path("a~b")


@pytest.mark.parametrize(
    ("path", "said"),
    [(f"{NOBODY}/a", f"x: {NOBODY}/a: {NOBODY} is no user"), ("a\0b", r"x: a\?b: holds a NUL character")],
)
def test_what_is_no_path_is_said_with_what_names_it(path: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        expanded(path, named_by="x")


def test_links_are_followed_unless_they_lead_in_a_circle(loop: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    assert resolved(tmp_path / "link") == tmp_path.resolve() / "file"
    for path in (loop, loop / "file"):
        with pytest.raises(InputError, match="its symbolic links lead in a circle"):
            resolved(path)


def test_what_is_missing_or_no_folder_is_taken_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "file").touch()
    here = tmp_path.resolve()
    assert resolved(tmp_path / "link" / "a") == here / "nowhere" / "a"
    assert resolved(tmp_path / "file" / "a") == here / "file" / "a"


def test_a_user_without_a_home_folder_is_said_wherever_one_is_named(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    (trees.omni / "runner-sync.toml").write_text(f'baseline = "{NOBODY}/b"\n', "utf-8")
    for run in (
        lambda: sync.check(trees.check()),
        lambda: open_path("vllm-omni", f"{NOBODY}/a"),
        lambda: pip_config._expand_path(f"{NOBODY}/a"),
    ):
        with pytest.raises(InputError, match="is no user with a home folder here"):
            run()
    monkeypatch.setenv("RUNNER_SYNC_CACHE", f"{NOBODY}/c")
    with pytest.raises(InputError, match=r"^RUNNER_SYNC_CACHE: .*is no user with a home folder here"):
        cache.folder()


@pytest.mark.parametrize("key", ["baseline", "ascend-path", "lock-file"])
def test_a_nul_in_the_configuration_is_said(trees: Trees, key: str) -> None:
    (trees.omni / "runner-sync.toml").write_text(f'{key} = "a\\u0000b"\n', "utf-8")
    with pytest.raises(InputError, match=rf"runner-sync\.toml: {key}\b.*(NUL|control) character"):
        sync.check(trees.check())


@pytest.mark.parametrize("key", ["ref", "path", "name"])
def test_a_nul_in_the_lock_is_said(trees: Trees, key: str) -> None:
    trees.write_lock()
    file = trees.omni / "runner-sync.lock"
    file.write_text(file.read_text("utf-8").replace(f'{key} = "', f'{key} = "\\u0000', 1), "utf-8")
    with pytest.raises(InputError, match=rf"runner-sync\.lock:\d+: has {key} = .*which holds a control character"):
        sync.check(trees.check())


def test_a_nul_in_a_revision_is_said(trees: Trees) -> None:
    commit(trees.omni)
    with pytest.raises(InputError, match="has no revision"):
        open_path("vllm-omni", trees.omni, ref="a\0b")


def test_a_circle_of_links_is_said_wherever_it_is_named(trees: Trees, loop: Path) -> None:
    (trees.omni / "runner-sync.toml").write_text(f'ascend-path = "{loop}"\n', "utf-8")
    for run in (
        lambda: parse_outputs([f"json:{loop}"], command="check", default="text"),
        lambda: sync.explain(trees.check(), str(loop)),
        lambda: open_path("vllm-omni", loop),
        lambda: sync.check(trees.check()),
    ):
        with pytest.raises(InputError):
            run()


def test_a_runner_that_is_a_circle_of_links_is_said(trees: Trees) -> None:
    commit(trees.omni)
    (trees.omni / AR).unlink()
    (trees.omni / AR).symlink_to(Path(AR).name)
    for run in (
        lambda: sync.check(trees.check(ascend=trees.ascend_old)),
        lambda: sync.upgrade(trees.upgrade(trees.ascend_new)),
        lambda: open_path("vllm-omni", trees.omni).dirty([AR]),
    ):
        with pytest.raises(InputError):
            run()


def test_a_tree_below_a_folder_that_is_not_utf_8(trees: Trees, tmp_path: Path) -> None:
    """The answers that are kept for later runs are filed under the path of the tree."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    try:
        odd.mkdir()
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    for tree in (trees.omni, trees.ascend_old, trees.vllm):
        subprocess.run(["cp", "-r", str(tree), str(odd / tree.name)], check=True)
    trees.omni, trees.ascend_old, trees.vllm = (odd / tree.name for tree in (trees.omni, trees.ascend_old, trees.vllm))
    for tree in (trees.omni, trees.ascend_old):
        commit(tree)
    assert sync.upgrade(trees.upgrade(trees.ascend_old)).report.command == "upgrade"
    assert sync.check(trees.check(ascend=trees.ascend_old)).command == "check"
    assert sync.explain(trees.check(ascend=trees.ascend_old), BASE).units


@pytest.mark.parametrize(
    "name", ["runner-sync.lock", "own.lock", "runner-sync.toml", "a.py", "vllm_omni/deep/a.json", ".git/config"]
)
def test_a_report_takes_the_place_of_no_source_lock_or_setting(tmp_path: Path, name: str) -> None:
    for folder in ("vllm_omni/deep", ".git"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "vllm_omni/__init__.py").touch()
    with pytest.raises(InputError, match="name another file for the report"):
        parse_outputs([f"json:{tmp_path / name}"], command="check", default="text")


@pytest.mark.parametrize("name", ["lock.json", "vllm_omni/a.json", "docs/__init__.md"])
def test_a_report_stands_wherever_else_it_is_wanted(tmp_path: Path, name: str) -> None:
    for folder in ("vllm_omni", "docs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "docs/__init__.py").touch()
    (output,) = parse_outputs([f"json:{tmp_path / name}"], command="check", default="text")
    assert output.file == tmp_path / name


@pytest.mark.parametrize("name", ["accepted.json", "configured.json", "own-lock", "own-settings", "link.json"])
def test_a_report_takes_the_place_of_nothing_that_the_run_reads(trees: Trees, name: str) -> None:
    """Whether an option or the configuration names it, and by whichever path."""
    settings = trees.omni / "own-settings"
    settings.write_text('baseline = "configured.json"\nlock-file = "own-lock"\n', "utf-8")
    (trees.omni / "link.json").symlink_to("accepted.json")
    options = trees.check(baseline=trees.omni / "accepted.json", config=settings)
    with pytest.raises(InputError, match=rf"{name}: is read by this run; name another file for the report\.$"):
        parse_outputs(
            ["text", f"json:{trees.omni / name}"],
            command="check",
            default="text",
            kept=lambda: sync.kept_files(options),
        )


def test_what_a_run_does_not_read_is_no_such_place(trees: Trees) -> None:
    for options in (
        trees.check(),
        trees.upgrade(trees.ascend_old),
        replace(trees.check(), omni=TreeOptions(version="0.1")),
    ):
        given = {"command": "check", "default": "text", "kept": lambda options=options: sync.kept_files(options)}
        assert parse_outputs([f"json:{trees.omni / 'accepted.json'}"], **given)


def test_without_a_report_file_nothing_is_asked() -> None:
    def unasked() -> list[Path]:
        raise AssertionError

    assert parse_outputs(["json:-"], command="check", default="text", kept=unasked)
