"""The patch is proven by the program that is to take it: ``git apply``."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_samples import AFTER, AR, BEFORE, REPORTS, UNITS

from runner_sync.model import FileChange, Report
from runner_sync.render import render

LONG = "".join(f"line {number}\n" for number in range(60))
CHANGES = [
    ("changed", "a.py", BEFORE, AFTER),
    ("new", "a.py", None, "x = 1\n"),
    ("new without newline", "a.py", None, "x = 1"),
    ("new and empty", "a.py", None, ""),
    ("deleted", "a.py", "x = 1\n", None),
    ("deleted without newline", "a.py", "x = 1", None),
    ("deleted and empty", "a.py", "", None),
    ("emptied", "a.py", "x\n", ""),
    ("filled", "a.py", "", "x\n"),
    ("newline added at the end", "a.py", "x", "x\n"),
    ("newline lost at the end", "a.py", "x\n", "x"),
    ("changed last line without newline on both sides", "a.py", "a\nx", "a\ny"),
    ("far apart", "a.py", LONG, LONG.replace("line 3\n", "").replace("line 50\n", "line fifty\nand more\n")),
    ("first line", "a.py", LONG, "new\n" + LONG),
    ("form feed and line separators are no line ends", "a.py", "a\x0cb\u2028c\x85d\nx\n", "a\x0cb\u2028c\x85d\ny\n"),
    ("carriage returns are content", "a.py", "a\r\nb\r\n", "a\r\nc\r\n"),
    ("lines that look like headers", "a.py", "-- a\n++ b\n@@ c\n", "-- a\n++ d\n@@ c\n"),
    ("spaces in the path", "a dir/b c.py", "x\n", "y\n"),
    ("quotes in the path", 'a"b\\c.py', "x\n", "y\n"),
    ("non-ASCII path", "dir/漢é.py", "x\n", "y\n"),
    ("tab in the path", "a\tb.py", "x\n", "y\n"),
    ("a new file with a strange path", 'd "e/f\tg h.py', None, "y\n"),
]


def apply_patch(folder: Path, change: FileChange) -> str | None:
    """Write ``before``, let git apply the rendered patch, return what the file is then."""
    file = folder / change.path
    file.parent.mkdir(parents=True, exist_ok=True)
    if change.before is not None:
        file.write_bytes(change.before.encode())
    patch = render(Report("upgrade", changes=(change,)), "diff")
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, input=patch.encode(), cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + patch
    return file.read_bytes().decode() if file.exists() else None


@pytest.mark.parametrize(("path", "before", "after"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES])
def test_git_applies_the_patch(tmp_path: Path, path: str, before: str | None, after: str | None) -> None:
    assert apply_patch(tmp_path, FileChange(path, before, after)) == after


def run_git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.autocrlf=false", "-c", "core.quotePath=true", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize(("path", "before", "after"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES])
def test_patch_is_the_one_git_writes(tmp_path: Path, path: str, before: str | None, after: str | None) -> None:
    run_git(tmp_path, "init", "-q")
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if before is not None:
        file.write_bytes(before.encode())
        run_git(tmp_path, "add", ".")
    if after is None:
        file.unlink()
    else:
        file.write_bytes(after.encode())
        run_git(tmp_path, "add", *(["-N"] if before is None else ["--refresh"]), path)
    theirs = re.sub(r"^index .*\n", "", run_git(tmp_path, "diff", "--no-ext-diff", "--no-color"), flags=re.MULTILINE)
    # git's guess at a function name is the one part that is free.
    theirs = re.sub(r"^(@@ -[\d,]+ \+[\d,]+ @@).*$", r"\1", theirs, flags=re.MULTILINE)
    assert render(Report("upgrade", changes=(FileChange(path, before, after),)), "diff") == theirs


LINES = st.lists(st.sampled_from(["a", "b", "", "  a", "+", "-", "\\"]), max_size=12)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@settings(max_examples=25, deadline=None)
@given(before=TEXTS, after=TEXTS)
def test_git_applies_any_patch(tmp_path_factory: pytest.TempPathFactory, before: str, after: str) -> None:
    if before != after:
        assert apply_patch(tmp_path_factory.mktemp("tree"), FileChange("a.py", before, after)) == after


def test_files_come_in_path_order_and_quoted_files_are_no_change() -> None:
    changes = (
        FileChange("b.py", "x\n", "y\n"),
        FileChange("a.py", None, "y\n"),
        FileChange("c.py", "same\n", "same\n"),
    )
    text = render(Report("upgrade", changes=changes), "diff")
    assert re.findall(r"^diff --git (\S+) ", text, re.MULTILINE) == ["a/a.py", "a/b.py"]


def test_a_hunk_names_its_unit_and_cause() -> None:
    text = render(REPORTS["upgrade"], "diff")
    heading = re.search(r"^@@ -\S+ \+\S+ @@ (.*)$", text, re.MULTILINE)
    assert heading is not None
    assert heading[1].startswith("NPUARModelRunner.execute_model · vllm-ascend 0.17.0rc1")


def test_a_hunk_without_cause_has_no_heading() -> None:
    unit = UNITS[3]
    text = render(Report("upgrade", units=(unit,), changes=(FileChange(AR, BEFORE, AFTER),)), "diff")
    assert re.search(r"^@@ -1,4 \+1,5 @@$", text, re.MULTILINE), "the unit is in another file"


def test_a_heading_cannot_end_its_line() -> None:
    unit = UNITS[0].hunks[0]
    hostile = Report(
        "upgrade",
        units=(
            type(UNITS[0])("a\n+evil", "a.py", "copy", "updated", hunks=(type(unit)(1, 1, "upstream", "b\n-evil"),)),
        ),
        changes=(FileChange("a.py", "x\n", "y\n"),),
    )
    assert "evil" in render(hostile, "diff").split("\n")[3]
    assert render(hostile, "diff").count("\n") == 6


def test_colour_paints_and_changes_nothing_else() -> None:
    plain, coloured = (render(REPORTS["upgrade"], "diff", color=color) for color in (False, True))
    assert "\x1b[32m+" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
