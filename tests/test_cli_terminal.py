"""Progress, streams and advice: what is said beside the results."""

from __future__ import annotations

import io
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from cli_samples import PLAN, RUNNER, SOURCES, UNIT

from runner_sync import cli
from runner_sync.model import FileChange, Hunk, ReviewItem, Source
from runner_sync.terminal.advice import advise, suggest_commit
from runner_sync.terminal.progress import Bars, Lines, describe, format_amount, show_progress
from runner_sync.terminal.screen import Screen, wants_color


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([(0, "a.whl", 1, 9), (9.9, "a.whl", 9, 9)], []),
        ([(0, "a.whl", 0, None), (10, "a.whl", 2_000_000, None)], ["fetching a.whl"]),
        (
            [(0, "a.tar.gz", 0, 4_000_000), (10, "a.tar.gz", 2_000_000, 4_000_000), (30, "a.tar.gz", 3, 4_000_000)],
            ["fetching a.tar.gz (4.0 MB)"],
        ),
        (
            [(10, "a.tar.gz", 1, 4_000_000), (19, "b.tar.gz", 1, 5_000_000), (20, "b.tar.gz", 2, 5_000_000)],
            ["fetching a.tar.gz (4.0 MB)", "fetching b.tar.gz (5.0 MB)"],
        ),
        ([(0, "upgrading a/b.py", 1, 6), (11, "upgrading a/b.py", 2, 6)], ["upgrading b.py (2 of 6)"]),
        ([(10, "verifying", 0, None)], ["verifying"]),
        ([(9, "x", 1, 9), (11, "y", 1, 9), (20, "y", 2, 9)], ["y (1 of 9)"]),
        ([(0, "x", 1, 9), (10, "x", 2, 9), (19, "x", 3, 9), (20, "x", 4, 9)], ["x (2 of 9)", "x (4 of 9)"]),
    ],
)
def test_a_log_hears_of_slow_things_only(calls: list[tuple[float, str, int, int | None]], said: list[str]) -> None:
    clock, lines = Clock(), list[str]()
    report = Lines(lines.append, clock)
    for at, label, done, total in calls:
        clock.now = 100.0 + at
        report(label, done, total)
    assert lines == said


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("vllm-0.30.0.tar.gz", "fetching vllm-0.30.0.tar.gz"),
        ("upgrading vllm_omni/platforms/npu/worker/base.py", "upgrading base.py"),
        ("verifying", "verifying"),
        ("a / b", "a / b"),
    ],
)
def test_labels_fit_a_line(label: str, shown: str) -> None:
    assert describe(label) == shown


def test_amounts() -> None:
    assert format_amount("steps", 0, None) == ""
    assert format_amount("steps", 3, None) == "3"
    assert format_amount("steps", 0, 4) == "0 of 4"
    assert format_amount("a.zip", 0, None) == ""
    assert format_amount("a.whl", 48_000, None) == "48 kB"
    assert format_amount("a.whl", 1_300_000, None) == "1.3 MB"


def test_a_terminal_gets_one_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with show_progress(Screen(color="never")) as report:
        assert isinstance(report, Bars)
        assert terminal.getvalue() == ""
        report("a.whl", 1, None)
        report("[red]b.tar.gz", 1, 2_000_000)
    drawn = terminal.getvalue()
    assert "[red]b.tar.gz" in drawn
    assert drawn.rstrip().endswith("\x1b[2K")


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_a_quiet_run_shows_no_progress(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with show_progress(Screen(quiet=True)) as report:
        report("a.whl", 1, 2)
    assert stream.getvalue() == ""


def test_an_ascii_terminal_shows_plain_signs_and_programs_get_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    bytes_written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(bytes_written, encoding="ascii"))
    Screen().show("a → b – 2 × c… ─── é\n")
    Screen().show_exact("a → b\n")
    assert bytes_written.getvalue() == b"a -> b - 2 x c... --- \\xe9\n" + "a → b\n".encode()


def test_a_result_that_nobody_can_read_is_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    Screen().show("a")
    assert capsys.readouterr().err == "standard output is closed, so the result is not shown\n"


def test_a_stream_that_is_closed_from_the_start_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    Screen().show("a")
    Screen().show_exact("a")
    Screen().say("a")
    Screen().complain("a")


@pytest.mark.parametrize(
    ("environment", "is_terminal", "colored"),
    [({}, True, True), ({}, False, False), ({"TERM": "dumb"}, True, False), ({"TERM": "xterm"}, True, True)],
)
def test_automatic_colour(environment: dict[str, str], is_terminal: bool, colored: bool) -> None:
    assert wants_color("auto", is_terminal=is_terminal, environment=environment) is colored


@pytest.mark.parametrize(("columns", "width"), [("", 100), ("132", 132), ("7", 40)])
def test_width_without_a_terminal(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", columns)
    assert Screen().width() == width


def test_commit_message_lists_both_sources() -> None:
    units = (
        UNIT,
        replace(UNIT, unit="A.gone", outcome="removed", taken=0, ported=0, hunks=()),
        replace(UNIT, unit="A.dropped", outcome="removed", removed_for="gpu", taken=0, ported=0, hunks=()),
        replace(UNIT, unit="A.own", outcome="unchanged", taken=0, ported=0, hunks=()),
        replace(UNIT, unit="A.ours", taken=0, ported=0, removed=1, hunks=(Hunk(1, 1, "omni", ""),)),
        replace(UNIT, unit="A.less", taken=0, ported=0, removed=2, hunks=(Hunk(3, 3, "upstream", "0.1 → 0.2"),)),
        replace(UNIT, unit="helper", taken=0, ported=1, hunks=()),
        replace(UNIT, unit="shorter", taken=0, ported=0, removed=1, hunks=(Hunk(3, 3, "gpu", "g.py"),)),
    )
    assert suggest_commit(replace(PLAN, units=units)) == textwrap.dedent(
        """\
        [NPU] Upgrade to v0.30.0rc2

        From vllm-ascend 0.30.0rc2:
        - OmniNPUModelRunner: _dummy_run
        - A: gone (removed), less

        Synced from the GPU runners:
        - OmniNPUModelRunner: _dummy_run
        - A: dropped (removed)
        - helper, shorter"""
    )


def test_a_port_alone_is_no_upgrade() -> None:
    gone = replace(PLAN, units=(replace(UNIT, outcome="removed"),), summary={"gpu_only": 1})
    assert suggest_commit(gone).startswith("[NPU] Sync with the GPU runners")
    assert suggest_commit(replace(PLAN, units=(replace(UNIT, taken=0, ported=1, hunks=()),))).startswith(
        "[NPU] Sync with the GPU runners\n"
    )


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (Source("vllm-ascend", "git", "../a", version="v0.17.0rc1", revision="0123456789abcdef"), "v0.17.0rc1"),
        (Source("vllm-ascend", "git", "../a", revision="0123456789abcdef"), "0123456789"),
    ],
)
def test_commit_title_names_what_was_followed(source: Source, title: str) -> None:
    report = replace(PLAN, inputs=(SOURCES[0], source))
    assert suggest_commit(report).startswith(f"[NPU] Upgrade to {title}\n")


def test_commit_message_names_the_omni_release() -> None:
    omni = Source("vllm-omni", "release", "x.whl", version="0.32.0rc1")
    assert "Synced from the GPU runners of vllm-omni 0.32.0rc1:" in suggest_commit(replace(PLAN, inputs=(omni,)))


def test_commit_title_without_an_upstream() -> None:
    assert suggest_commit(replace(PLAN, inputs=SOURCES[:1])).startswith("[NPU] Sync with the GPU runners\n")


def test_commit_message_keeps_its_width() -> None:
    units = tuple(replace(UNIT, unit=f"Class.a_rather_long_method_name_{number}") for number in range(30))
    message = suggest_commit(replace(PLAN, units=units))
    assert max(map(len, message.split("\n"))) <= 72
    assert "name_29" in message


def test_advice_names_only_written_files_and_the_markers_that_are_in_them() -> None:
    item = ReviewItem("R1", UNIT.unit, RUNNER, 1, 1, "why", 0.5, "a", "b", "c", "b")
    unchanged = replace(item, id="R2", path="vllm_omni/unchanged.py")
    marked = FileChange(RUNNER, "a\n", "\n<<<<<<< omni R1\nb\n")
    report = replace(PLAN, reviews=(item, unchanged), changes=(marked,))
    said = advise(report, (RUNNER,), root=Path("omni"), is_tree=True, options="")
    assert "or search for `runner-sync: review` and `<<<<<<<`, decide, delete it" in said
    assert f"omni/{RUNNER}\n     (1 of them only listed above: they changed nothing in the files)" in said
    assert "unchanged.py" not in said


def test_advice_names_no_file_without_a_comment() -> None:
    """The file was written and has an item, but the comment of no item is in it: a search finds nothing there."""
    item = ReviewItem("R1", UNIT.unit, RUNNER, 1, 1, "why", 0.5, "a", "b", "c", "b")
    bare = "vllm_omni/bare.py"
    changes = (FileChange(RUNNER, "a\n", "# runner-sync: review R1 why\na\n"), FileChange(bare, "a\n", "b\n"))
    report = replace(PLAN, reviews=(item, replace(item, id="R2", path=bare)), changes=changes)
    said = advise(report, (RUNNER, bare), root=Path("omni"), is_tree=True, options="", listed="in u.txt")
    assert "bare.py" not in said
    assert f"omni/{RUNNER}\n     (1 of them only listed in u.txt: they changed nothing in the files)" in said
    said = advise(replace(report, changes=changes[1:]), (bare,), root=Path("omni"), is_tree=True, options="")
    assert "settle 2 review items, listed above: no file that was written holds one" in said


def test_advice_shows_how_to_read_the_first_item_that_a_search_finds() -> None:
    first = ReviewItem("Rf", UNIT.unit, RUNNER, 1, 1, "why", 0.5, "a", "b", "c", "b", in_file=False)
    report = replace(PLAN, reviews=(first, replace(first, id="R1")), changes=(FileChange(RUNNER, "", "# R1\n"),))
    for root, words in ((Path("a b"), "explain R1 --omni-path 'a b'"), (Path(), "explain R1")):
        said = advise(report, (RUNNER,), root=root, is_tree=False, options="")
        assert f"(`runner-sync {words}` shows one in full)" in said


def test_advice_names_no_file_when_no_written_file_holds_an_item() -> None:
    item = ReviewItem("R2", UNIT.unit, "vllm_omni/unchanged.py", 1, 1, "why", 0.5, "a", "b", "c", "b")
    said = advise(replace(PLAN, reviews=(item,)), (RUNNER,), root=Path("omni"), is_tree=True, options="")
    assert "settle 1 review item, listed above" in said
    assert "unchanged.py" not in said


@pytest.mark.parametrize("is_known", [True, False])
def test_advice_asks_for_the_vllm_ascend_that_the_next_commands_need(is_known: bool) -> None:
    """A port from the GPU runners alone needs none, and `lock` and `verify` do."""
    inputs = tuple(source for source in SOURCES if is_known or source.project != "vllm-ascend")
    said = advise(replace(PLAN, inputs=inputs), (RUNNER,), root=Path("omni"), is_tree=True, options="")
    assert ("verify --omni-path omni --ascend-version V, where V is" in said) is not is_known


@pytest.mark.parametrize(("root", "said"), [(".", "verify --ascend-path a"), ("o", "verify --omni-path o --asc")])
def test_advice_names_the_tree_where_it_is_another_than_the_one_here(root: str, said: str) -> None:
    assert f"runner-sync {said}" in advise(PLAN, (RUNNER,), root=Path(root), is_tree=True, options=" --ascend-path a")


def test_advice_looks_for_findings_with_the_trees_that_they_were_compared_with() -> None:
    """The lock names the new vllm-ascend by then, and rules that compare two would be silent."""
    report = replace(PLAN, fitted="--ascend-base 0.19.0 --vllm-base 0.19.1")
    said = advise(report, (RUNNER,), root=Path(), is_tree=True, options=" --ascend-path a")
    assert "look again: runner-sync verify --ascend-path a --ascend-base 0.19.0 --vllm-base 0.19.1\n" in said


def test_advice_without_review_items_names_no_search() -> None:
    said = advise(PLAN, (RUNNER,), root=Path("omni"), is_tree=True, options="")
    assert "Wrote 1 file below omni" in said
    assert "review" not in said


HOSTILE = "unknown key 'x\n::error file=a.py,line=1::owned\x1b]0;title\x07'"


def test_what_a_failure_quotes_starts_no_line_and_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """GitHub takes a line of a log that starts with ``::error`` for a command, whoever wrote it."""
    Screen().complain(HOSTILE)
    assert capsys.readouterr().err == "unknown key 'x ::error file=a.py,line=1::owned\\x1b]0;title\\x07'\n"


def test_github_is_told_of_a_failure_in_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(annotates=True).complain(f"error: 100 % {HOSTILE}")
    out, err = capsys.readouterr()
    said = "100 %25 unknown key 'x ::error file=a.py,line=1::owned\\x1b]0;title\\x07'"
    assert out == f"::error title=runner-sync::{said}\n"
    assert err.startswith("error: 100 % unknown")


@pytest.mark.parametrize(
    ("words", "is_told"),
    [
        ("-o github", True),
        ("-o text:t.txt -o github", True),
        ("-ogithub", True),
        ("--output github", True),
        ("--output=github", True),
        ("-o github:notes.txt", False),
        ("-o gitlab", False),
        ("--omni-path github", False),
        ("", False),
    ],
)
def test_a_run_that_could_not_end_annotates_where_annotations_were_asked_for(
    words: str, is_told: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["check", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert out == (f"::error title=runner-sync::{err.removeprefix('error: ')}" if is_told else "")


def test_a_remark_and_a_traceback_keep_their_lines_and_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(traceback=True).say("one\ntwo\x1b[2J")
    Screen(traceback=True).show_traceback("three\nfour\x1b[2J")
    assert capsys.readouterr().err == "one\ntwo\\x1b[2J\nthree\nfour\\x1b[2J\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("--profile gpu check", "It goes behind the command: runner-sync upgrade --profile."),
        ("--nope check", "See runner-sync --help."),
        ("check --quite", "See runner-sync check --help."),
        ("verify --offline", "--offline. Set RUNNER_SYNC_OFFLINE=1 to forbid the network."),
    ],
)
def test_an_option_in_the_wrong_place_says_where_it_goes(
    words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: No such option: --")
    assert said.endswith(f"{hint}\n")
