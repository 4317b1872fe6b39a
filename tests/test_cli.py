"""The command line: what the words mean, what is refused, how a run ends."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from cli_samples import CHANGE, FINDING, PLAN, REVIEW, RUNNER, FakeSync, replace_sync
from conftest import isolate_index
from sync_samples import commit

import runner_sync
from runner_sync import __main__ as program
from runner_sync import __version__, cli
from runner_sync.errors import InputError, UnreadableRelease
from runner_sync.lock import Entry, Lock, dump
from runner_sync.model import Report
from runner_sync.sources import cache
from runner_sync.terminal.examples import EXAMPLES
from runner_sync.terminal.outputs import FORMATS_OF

INFO = replace(FINDING, severity="info")
MARKED = replace(CHANGE, after="# runner-sync: review R1 both changed it\na = 1\n")
COMMANDS = ("upgrade", "check", "verify", "blocks", "explain", "settle", "lock", "replay", "rule", "hoist")


@pytest.fixture
def sync(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeSync:
    fake = replace_sync(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return fake


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """``--color never`` tells child processes by NO_COLOR, which must not reach the next test."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.parametrize(
    ("line", "command", "expected"),
    [
        ("upgrade", "upgrade", {"omni.path": Path(), "ascend.is_given": False, "gpu": True, "verify": True}),
        ("upgrade --omni-path o", "upgrade", {"omni.path": Path("o"), "omni.version": None}),
        ("upgrade --omni-version 0.32.0rc1 --out d", "upgrade", {"omni.path": None, "omni.version": "0.32.0rc1"}),
        ("upgrade --ascend-path a --ascend-ref v1", "upgrade", {"ascend.path": Path("a"), "ascend.ref": "v1"}),
        ("upgrade --ascend-version 1 --vllm-version 2", "upgrade", {"ascend.version": "1", "vllm.version": "2"}),
        ("upgrade --vllm-path v --vllm-ref r", "upgrade", {"vllm.path": Path("v"), "vllm.ref": "r"}),
        (
            "upgrade --ascend-base 1 --omni-base 2 --vllm-base 3",
            "upgrade",
            {"ascend_base": "1", "omni_base": "2", "vllm_base": "3"},
        ),
        ("upgrade --only a --only b", "upgrade", {"only": ("a", "b")}),
        ("upgrade --no-gpu", "upgrade", {"gpu": False, "upstream": True}),
        ("upgrade --gpu-only", "upgrade", {"gpu": True, "upstream": False}),
        ("upgrade --conflict inline --no-verify", "upgrade", {"conflict": "inline", "verify": False}),
        ("upgrade --allow-dirty --config c.toml", "upgrade", {"allow_dirty": True, "config": Path("c.toml")}),
        ("lock --ascend-version 1", "lock", {"ascend.version": "1"}),
        ("check --select rs3,RS401 --select RS2", "check", {"select": ("RS3", "RS401", "RS2")}),
        ("check --select bogus,all", "check", {"select": ("bogus", "ALL")}),
        ("check --ignore RS1 --severity warning", "check", {"ignore": ("RS1",), "severity": "warning"}),
        ("verify --fail-on error", "verify", {"fail_on": "error", "severity": None}),
        ("check", "check", {"select": (), "severity": None, "fail_on": None, "typecheck": "none", "baseline": None}),
        ("check --omni-base 2", "check", {"omni_base": "2"}),
        ("check --changed-since main", "check", {"changed_since": "main"}),
        ("check --baseline b --update-baseline", "check", {"baseline": Path("b"), "update_baseline": True}),
        ("verify --typecheck mypy", "verify", {"typecheck": "mypy"}),
        ("verify --typecheck none --omni-version 1", "verify", {"typecheck": "none", "omni.version": "1"}),
        ("replay --case P1 --case P2 --hunks 9", "replay", {"cases": ("P1", "P2"), "hunks": 9, "gpu": True}),
        ("replay --no-gpu --corpus c.toml", "replay", {"gpu": False, "corpus": Path("c.toml"), "hunks": 3}),
    ],
)
def test_words_become_options(sync: FakeSync, line: str, command: str, expected: dict[str, Any]) -> None:
    assert cli.run(line.split()) == 0
    options = sync.asked[command][0]
    for name, value in expected.items():
        found = options
        for part in name.split("."):
            found = getattr(found, part)
        assert found == value, name


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("explain a/b.py", ("a/b.py", None)),
        ("explain a/b.py:12", ("a/b.py", 12)),
        ("explain a/b.py:12:4", ("a/b.py", 12)),
        ("explain c:d.py", ("c:d.py", None)),
        ("explain Rx.py", ("Rx.py", None)),
        ("explain R12.py:3", ("R12.py", 3)),
        ("hoist A.run --diff", ("A.run",)),
    ],
)
def test_arguments_are_passed_on(sync: FakeSync, line: str, rest: tuple[Any, ...]) -> None:
    assert cli.run(line.split()) == 0
    assert sync.asked[line.split()[0]][1:] == rest


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("upgrade --no-gpu --gpu-only", ("--no-gpu", "--gpu-only")),
        ("upgrade --omni-path a --omni-version 1", ("--omni-path", "--omni-version")),
        ("check --ascend-path a --ascend-version 1", ("--ascend-path", "--ascend-version")),
        ("verify --vllm-path a --vllm-version 1", ("--vllm-path", "--vllm-version")),
        ("upgrade --ascend-ref a --ascend-version 1", ("--ascend-ref", "--ascend-version")),
        ("upgrade --ascend-ref a", ("--ascend-ref", "--ascend-path")),
        ("upgrade --omni-version 1", ("--omni-version", "--out", "--diff")),
        ("upgrade --omni-version 1 --out /dev/null", ("/dev/null is no folder", "--out")),
        ("upgrade -o json -o text", ("-o json", "-o text", "standard output")),
        ("upgrade --diff -o json -o text", ("-o json", "-o text")),
        ("check -o json:a -o sarif:./a", ("-o json:a", "-o sarif:a")),
        ("check -o xml", ("xml", "sarif")),
        ("blocks -o sarif", ("blocks", "sarif", "markdown")),
        ("check -o diff", ("check", "diff")),
        ("check -o json:", ("-o json:", "FILE")),
        ("check -o json:no/such.json", ("no/such.json", "directory no")),
        ("check -o json:.", (".", "directory")),
        ("explain a.py:0", ("a.py:0", "counted from 1")),
        ("explain a.py:4-15", ("'4-15' is no line", "as in a.py:410")),
        ("explain a.py:run", ("'run' is no line", "as in a.py:410")),
        ("rule RS999", ("rule RS999: there is no such rule; `runner-sync rule` lists them all.",)),
        ("rule missinghook", ("there is no such rule; did you mean missing-hook? `runner-sync rule` lists",)),
        ("rule S2", ("S2", "runner-sync rule")),
        ("upgrade --conflict both", ("--conflict", "resolve", "inline")),
        ("upgrade --nonsense", ("--nonsense", "upgrade --help")),
        ("upgade", ("upgade", "upgrade")),
        ("explain", ("FILE[:LINE]",)),
        ("check --color mauve", ("--color", "never")),
        ("replay --hunks x", ("--hunks",)),
    ],
)
def test_what_cannot_run_says_so_in_one_sentence(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], line: str, named: tuple[str, ...]
) -> None:
    assert cli.run(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(name in err for name in named), err
    assert not sync.asked.keys() & {"upgrade", "check", "verify", "blocks", "apply"}


def test_a_revision_alone_is_one_of_the_checkout_the_environment_names(
    sync: FakeSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_ASCEND_PATH", "elsewhere")
    assert cli.run(["upgrade", "--ascend-ref", "v1"]) == 0
    assert sync.asked["upgrade"][0].ascend.path == Path("elsewhere")
    assert sync.asked["upgrade"][0].ascend.ref == "v1"


@pytest.mark.parametrize(
    ("line", "report", "code"),
    [
        ("upgrade", PLAN, 0),
        ("upgrade", replace(PLAN, reviews=(REVIEW,)), 1),
        ("upgrade", replace(PLAN, findings=(FINDING,)), 1),
        ("upgrade --diff", replace(PLAN, reviews=(REVIEW,)), 1),
        ("lock", PLAN, 0),
        ("lock", replace(PLAN, summary={"left_open": 2}), 0),
        ("upgrade", replace(PLAN, summary={"left_open": 2}), 1),
        ("check", PLAN, 0),
        ("check", replace(PLAN, findings=(FINDING,)), 1),
        ("check --exit-zero", replace(PLAN, findings=(FINDING,)), 0),
        ("verify", replace(PLAN, findings=(FINDING,)), 1),
        ("check", replace(PLAN, findings=(INFO,)), 1),
        ("check", replace(PLAN, findings=(INFO,), fail_on="warning"), 0),
        ("check", replace(PLAN, findings=(INFO, replace(INFO, severity="warning")), fail_on="warning"), 1),
        ("verify", replace(PLAN, findings=(INFO, replace(INFO, severity="warning")), fail_on="error"), 0),
        ("verify", replace(PLAN, findings=(FINDING,), fail_on="error"), 1),
        ("upgrade", replace(PLAN, findings=(INFO,)), 1),
        ("blocks", PLAN, 0),
        ("replay", PLAN, 0),
        ("explain R1", replace(PLAN, reviews=(REVIEW,)), 0),
        ("rule RS203", PLAN, 0),
        ("rule rs203", PLAN, 0),
    ],
)
def test_exit_codes(sync: FakeSync, line: str, report: Any, code: int) -> None:
    sync.report = report
    assert cli.run(line.split()) == code


def test_a_replay_whose_output_does_not_parse_is_no_success(sync: FakeSync) -> None:
    good = sync.replay(None).replay[0]
    sync.report = replace(PLAN, replay=(good, replace(good, case="P2", parses=False)))
    assert cli.run(["replay"]) == 1


def test_a_replay_names_no_option_that_it_has_not(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise UnreadableRelease("vllm 0.30.0 is not in the cache: unset it", option="--vllm-path")

    sync.before = refuse
    assert cli.run(["replay"]) == 2
    assert capsys.readouterr().err == "error: vllm 0.30.0 is not in the cache: unset it.\n"
    assert cli.run(["verify"]) == 2
    assert "give the tree with --vllm-path" in capsys.readouterr().err


def test_upgrade_writes_and_says_what_is_left(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    sync.report = replace(PLAN, reviews=(REVIEW,), changes=(MARKED,))
    cli.run(["upgrade", "--ascend-version", "0.30.0rc2"])
    out, err = capsys.readouterr()
    assert "2 files written" in " ".join(out.split())
    assert "or search for `runner-sync: review`" in err
    assert f"omni/{RUNNER}" in err
    steps = [
        err.index(f"runner-sync {name} --omni-path omni --ascend-version 0.30.0rc2") for name in ("lock", "verify")
    ]
    assert steps == sorted(steps)
    assert max(steps) < err.index("commit with sign-off")
    assert "[NPU] Upgrade to v0.30.0rc2" in err


def test_the_next_command_can_be_pasted_into_a_shell(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sync.root = tmp_path / "my omni"
    for name in ("vllm ascend", "a b.toml"):
        (tmp_path / name).mkdir()
    cli.run(["upgrade", "--ascend-path", str(tmp_path / "vllm ascend"), "--config", str(tmp_path / "a b.toml")])
    line = next(line for line in capsys.readouterr().err.split("\n") if "runner-sync verify" in line)
    words = shlex.split(line.partition("runner-sync ")[2])
    named = {"--omni-path": "my omni", "--ascend-path": "vllm ascend", "--config": "a b.toml"}
    assert words == ["verify", *(word for option, name in named.items() for word in (option, str(tmp_path / name)))]


def test_a_lock_alone_needs_no_commit_advice(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["runner_sync.sync"], "apply", lambda *_, **__: ("runner-sync.lock",))
    assert cli.run(["upgrade"]) == 0
    assert capsys.readouterr().err == f"Wrote {sync.root}/runner-sync.lock.\n"


def test_a_folder_of_changed_files_is_not_taken_for_a_tree(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    """Its files come into a checkout first, where the findings of this run are looked for with the same trees."""
    line = ["upgrade", "--omni-version", "0.32.0rc1", "--out", "there", "--ascend-version", "0.30.0rc2"]
    sync.report = replace(PLAN, fitted="--ascend-base 0.29.0rc1")
    cli.run(line)
    err = capsys.readouterr().err
    verify = "runner-sync verify --ascend-version 0.30.0rc2 --ascend-base 0.29.0rc1\n"
    assert err.index("over a checkout of vllm-omni") < err.index(verify) < err.index("commit with sign-off")
    assert "--omni-path" not in err
    assert "runner-sync lock" not in err, "nothing was settled that it could record"
    sync.report = replace(sync.report, reviews=(REVIEW,))
    cli.run(line)
    err = capsys.readouterr().err
    assert err.index("runner-sync lock --ascend-version 0.30.0rc2") < err.index(verify)


def test_without_writing_the_plan_can_be_read_instead_of_the_patch(
    sync: FakeSync, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise the table and the questions could be seen at a terminal only after the files are changed."""
    assert cli.run(["upgrade", "--diff", "-o", "text"]) == 0
    out, err = capsys.readouterr()
    assert "Plan: " in out
    assert "diff --git" not in out
    assert "Nothing was written" in err
    assert "apply" not in sync.asked


@pytest.mark.parametrize("command", ["upgrade", "lock", "hoist A.run"])
def test_diff_shows_the_patch_and_writes_nothing(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert cli.run([*command.split(), "--diff"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("diff --git ")
    assert f"+++ b/{RUNNER}\n" in out
    assert "+++ b/runner-sync.lock\n" in out
    assert "Nothing was written" in err
    assert "apply" not in sync.asked


def test_an_empty_patch_has_its_reason_and_no_second_run(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    """What was left open by an earlier run gives exit code 1, and nothing of it stands in the patch."""
    sync.report = replace(PLAN, units=(), changes=(), summary={"left_open": 2})
    sync.lock = None
    assert cli.run(["upgrade", "--diff"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 review comments of an earlier upgrade are still to be settled" in err
    assert err.endswith("There is nothing to write.\n")


@pytest.mark.parametrize(
    ("words", "explained", "is_said"),
    [("", 1, True), ("", 0, False), ("-o text", 1, False), ("-o markdown:plan.md", 1, False)],
)
def test_an_empty_patch_says_why_nothing_was_ported(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], words: str, explained: int, *, is_said: bool
) -> None:
    notes = ("A.run is not ported: nothing on NPU calls it",)
    sync.report = replace(PLAN, units=(), reviews=(), changes=(), notes=notes, summary={"explained": explained})
    sync.lock = None
    assert cli.run(["upgrade", "--diff", "--only", "A.run", *words.split()]) == 0
    err = capsys.readouterr().err
    assert ("note: A.run is not ported: nothing on NPU calls it\n" in err) == is_said
    assert ("Nothing was ported; the notes say why.\n" in err) == is_said or words
    assert ("There is nothing to bring into step." in err) == (not explained)


@pytest.mark.parametrize(
    ("words", "ids", "after", "said"),
    [
        ("", ("Rx",), "a = 1\n", "1 review item is in no line of the patch: add -o text to read it.\n"),
        ("", ("Rx", "Ry"), "a = 1\n", "2 review items are in no line of the patch: add -o text to read them.\n"),
        ("", ("Rx", "Ry"), "# runner-sync: review Rx why\na = 1\n", "1 review item is in no line of the patch"),
        ("-o diff:a.patch", ("Rx",), "a = 1\n", "1 review item is in no line of the patch"),
        ("", ("Rx",), "# runner-sync: review Rx why\na = 1\n", ""),
        ("-o text", ("Rx",), "a = 1\n", ""),
        ("-o markdown:plan.md", ("Rx",), "a = 1\n", ""),
    ],
)
def test_a_patch_says_which_questions_it_does_not_show(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], words: str, ids: tuple[str, ...], after: str, said: str
) -> None:
    reviews = tuple(replace(REVIEW, id=name) for name in ids)
    sync.report = replace(PLAN, reviews=reviews, changes=(replace(CHANGE, after=after),))
    assert cli.run(["upgrade", "--diff", *words.split()]) == 1
    err = capsys.readouterr().err
    assert said in err
    assert ("in no line of the patch" in err) == bool(said)


@pytest.mark.parametrize("words", [[], ["--only", "A.run"], ["-o", "diff:a.patch"]])
def test_an_empty_patch_is_no_place_for_questions(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """They are all that the run found, and a second run to read them takes minutes."""
    sync.report = replace(PLAN, reviews=(REVIEW,), changes=())
    sync.lock = None
    assert cli.run(["upgrade", "--diff", *words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"R1 {RUNNER}:2  OmniNPUModelRunner._dummy_run\n  review: both changed it\n" in err
    assert "add -o text" not in err
    assert err.endswith("There is nothing to write.\n")


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        ("", "only listed above:"),
        ("-o json", "only listed above:"),
        ("-o text:u.txt -o json:u.json", "only listed in u.txt:"),
        ("-o json:u.json -o diff:u.patch", "only listed in u.json:"),
        ("-o html:u.html -o json", "only listed in u.html:"),
        ("-o sarif:u.sarif", "only listed in u.sarif:"),
    ],
)
def test_what_is_left_names_the_report_that_lists_a_question(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], words: str, listed: str
) -> None:
    sync.report = replace(PLAN, reviews=(REVIEW, replace(REVIEW, id="Rx")), changes=(MARKED,))
    assert cli.run(["upgrade", *words.split()]) == 1
    err = capsys.readouterr().err
    assert listed in err
    assert "Rx " not in err


def test_a_written_patch_lists_no_question_so_they_are_said(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    sync.report = replace(PLAN, reviews=(REVIEW, replace(REVIEW, id="Rx")), changes=(MARKED,))
    assert cli.run(["upgrade", "-o", "diff:u.patch"]) == 1
    err = capsys.readouterr().err
    assert err.index(f"Rx {RUNNER}:2") < err.index("(1 of them only listed above:")
    assert f"R1 {RUNNER}" not in err


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("upgrade", 2),
        ("upgrade --diff", 0),
        ("lock", 2),
        ("lock --diff", 0),
        ("lock --out x", 2),
        ("lock --out x --diff", 0),
    ],
)
def test_an_upgrade_that_could_not_be_written_does_not_begin(sync: FakeSync, line: str, code: int) -> None:
    sync.refuse = _raising(InputError("a.py has uncommitted changes."))
    assert cli.run(line.split()) == code
    assert (line.split()[0] in sync.asked) == (code == 0)


@pytest.mark.parametrize(
    ("words", "shown", "files"),
    [
        ("-o diff:a", "", {"a": "diff --git "}),
        ("-o text:a", "", {"a": "vllm-omni "}),
        ("-o text:a -o diff:b", "", {"a": "vllm-omni ", "b": "diff --git "}),
        ("-o json:a -o diff", "diff --git ", {"a": "{"}),
        ("-o text -o diff:a", "vllm-omni ", {"a": "diff --git "}),
    ],
)
def test_the_patch_goes_where_it_is_asked_for_and_nowhere_else(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: str, shown: str, files: dict[str, str]
) -> None:
    """As with every command, ``-o`` stands in place of what is shown without it."""
    assert cli.run(["upgrade", "--diff", *words.split()]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(shown)
    assert bool(out) == bool(shown)
    for name, start in files.items():
        assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert "Nothing was written" in err
    assert "apply" not in sync.asked


@pytest.mark.usefixtures("sync")
def test_reports_go_to_files_and_replace_old_ones(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "c.sarif").write_text("old")
    assert cli.run(["check", "-o", "text", "-o", "sarif:c.sarif", "-o", "junit:c.xml"]) == 0
    assert capsys.readouterr().out.strip()
    assert json.loads((tmp_path / "c.sarif").read_text("utf-8"))["version"] == "2.1.0"
    assert (tmp_path / "c.xml").read_text("utf-8").startswith("<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.sarif", "c.xml"]


@pytest.mark.usefixtures("sync")
def test_a_report_goes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    cli.run(["check", "-o", "json:link.json"])
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text("utf-8"))["findings"] == []


def test_sarif_says_what_each_rule_finds(sync: FakeSync, tmp_path: Path) -> None:
    sync.report = Report("check", findings=(replace(FINDING, code="RS203"), replace(FINDING, code="RS206")))
    cli.run(["check", "-o", "sarif:c.sarif"])
    (run,) = json.loads((tmp_path / "c.sarif").read_text("utf-8"))["runs"]
    titles = {rule["name"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert {"override-skipped", "model-sampler"} <= titles.keys()
    assert len(set(titles.values())) == len(titles)


def test_a_report_that_cannot_be_written_after_all_is_an_error(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    sync.before = folder.rmdir
    assert cli.run(["check", "-o", "json:reports/c.json"]) == 2
    assert "reports/c.json" in capsys.readouterr().err


@pytest.mark.parametrize("beside", ["html", "json", "markdown", "text"])
def test_an_output_is_the_same_whatever_stands_before_it(sync: FakeSync, tmp_path: Path, beside: str) -> None:
    sync.report = replace(PLAN, findings=(FINDING,))
    cli.run(["check", "-o", "sarif:first.sarif", "-o", f"{beside}:second"])
    cli.run(["check", "-o", f"{beside}:first", "-o", "sarif:second.sarif"])
    assert (tmp_path / "first").read_text("utf-8") == (tmp_path / "second").read_text("utf-8")
    assert (tmp_path / "first.sarif").read_text("utf-8") == (tmp_path / "second.sarif").read_text("utf-8")


@pytest.mark.parametrize(
    ("outputs", "is_said"),
    [
        pytest.param(["-o", "text:found.txt"], True, id="to a file"),
        pytest.param(["-o", "text:found.txt", "-o", "json"], False, id="one to standard output"),
        pytest.param(["-o", "text:found.txt", "--quiet"], False, id="quiet"),
    ],
)
def test_what_goes_to_files_alone_is_summed_up(
    outputs: list[str], is_said: bool, sync: FakeSync, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 and not a word looked like an error."""
    sync.report = replace(PLAN, command="check", findings=(FINDING,))
    assert cli.run(["check", *outputs]) == 1
    assert ("Found 1 error in 1 file." in capsys.readouterr().err) == is_said


@pytest.mark.usefixtures("sync")
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_a_dash_is_standard_output(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    cli.run(["check", "-o", f"json:{name}"])
    assert json.loads(capsys.readouterr().out)["findings"] == []
    assert not list(tmp_path.iterdir())


def test_github_output_also_fills_the_step_summary(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    sync.report = replace(PLAN, findings=(FINDING,))
    assert cli.run(["check", "-o", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error ")
    assert summary.read_text("utf-8").startswith("before\n")
    assert "RS301" in summary.read_text("utf-8")


@pytest.mark.parametrize("outputs", [("github",), ("github:a", "github:b"), ("github", "github:b")])
def test_the_step_summary_gets_the_report_once(
    sync: FakeSync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, outputs: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    sync.report = Report("check", findings=(FINDING,))
    cli.run(["check", *(word for output in outputs for word in ("-o", output))])
    assert (tmp_path / "summary.md").read_text("utf-8").count("Found 1 error") == 1


@pytest.mark.usefixtures("sync")
def test_other_outputs_leave_the_step_summary_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert cli.run(["check"]) == 0
    assert not (tmp_path / "summary.md").exists()


def test_bad_input_is_one_sentence(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    sync.before = _raising(InputError("there is no such tree: name another."))
    assert cli.run(["check"]) == 2
    assert capsys.readouterr() == ("", "error: there is no such tree: name another.\n")


def test_a_mistake_of_our_own_is_one_sentence_with_a_hint(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    sync.before = _raising(KeyError("a\nb"))
    assert cli.run(["upgrade"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "KeyError" in err
    assert "nothing was written" in err
    assert "--traceback" in err


@pytest.mark.parametrize("line", ["--traceback upgrade", "upgrade --traceback"])
def test_traceback_shows_where(sync: FakeSync, capsys: pytest.CaptureFixture[str], line: str) -> None:
    sync.before = _raising(KeyError("a"))
    assert cli.run(line.split()) == 2
    assert capsys.readouterr().err.startswith("Traceback (most recent call last)")


def test_an_interrupt_says_that_nothing_was_written(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    sync.during_apply = _raising(KeyboardInterrupt())
    assert cli.run(["upgrade"]) == 130
    assert capsys.readouterr() == ("", "interrupted; nothing was written\n")


def test_an_interrupt_while_the_program_is_imported_says_so_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "runner_sync.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "runner_sync.cli")
    monkeypatch.delattr(runner_sync, "cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == 130
    assert capsys.readouterr() == ("", "interrupted; nothing was written\n")


@pytest.mark.usefixtures("sync")
def test_an_interrupt_after_writing_says_what_was_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner_sync.terminal.delivery.Delivery.finish", _raising(KeyboardInterrupt()))
    assert cli.run(["upgrade"]) == 130
    assert capsys.readouterr().err == "interrupted; 2 files had been written\n"


def test_a_cancelled_job_unwinds_as_an_interrupt_does(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    sync.during_apply = lambda: os.kill(os.getpid(), signal.SIGTERM)
    assert cli.run(["upgrade"]) == 143
    assert capsys.readouterr().err == "interrupted; nothing was written\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_job_cancelled_when_all_is_in_place_says_what_was_written(
    sync: FakeSync, capsys: pytest.CaptureFixture[str]
) -> None:
    sync.behind_apply = lambda: os.kill(os.getpid(), signal.SIGTERM)
    assert cli.run(["upgrade"]) == 143
    assert capsys.readouterr().err == "interrupted; 2 files had been written\n"


def _raising(error: BaseException) -> Callable[..., None]:
    def fail(*_args: Any, **_options: Any) -> None:
        raise error

    return fail


@pytest.mark.usefixtures("sync")
@pytest.mark.parametrize("line", ["--quiet upgrade", "upgrade --quiet", "upgrade -q --diff", "lock -q"])
def test_quiet_leaves_standard_error_empty(capsys: pytest.CaptureFixture[str], line: str) -> None:
    assert cli.run(line.split()) == 0
    out, err = capsys.readouterr()
    assert out
    assert err == ""


@pytest.mark.parametrize(
    ("line", "environment", "colored"),
    [
        ("check", {}, False),
        ("check --color always", {}, True),
        ("check --color=always", {"NO_COLOR": "1"}, True),
        ("check", {"FORCE_COLOR": "1"}, True),
        ("check", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("check", {"FORCE_COLOR": "0"}, False),
        ("check", {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        ("check --color never", {"FORCE_COLOR": "1"}, False),
        ("upgrade --diff --color always", {}, True),
        ("check -o json --color always", {}, False),
        ("check --help", {"FORCE_COLOR": "1"}, True),
        ("check --help --color never", {"FORCE_COLOR": "1"}, False),
        ("--color=never --help", {"FORCE_COLOR": "1"}, False),
        ("check --help --color always", {}, True),
        ("check --help", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("check --help", {"FORCE_COLOR": "0"}, False),
        ("check --help", {"GITHUB_ACTIONS": "true"}, False),
        ("check", {"GITHUB_ACTIONS": "true"}, False),
        ("--help", {"FORCE_COLOR": "1"}, True),
        ("--help", {}, False),
    ],
)
def test_colours(
    sync: FakeSync,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    environment: dict[str, str],
    colored: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    sync.report = replace(PLAN, findings=(FINDING,))
    cli.run(line.split())
    out = capsys.readouterr().out
    assert ("\x1b[" in out) is colored


@pytest.mark.usefixtures("sync")
@pytest.mark.parametrize("format", ["diff", "text"])
def test_files_are_never_coloured(tmp_path: Path, format: str) -> None:
    cli.run(["upgrade", "--color", "always", "-o", f"{format}:out"])
    assert "\x1b" not in (tmp_path / "out").read_text("utf-8")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"runner-sync {__version__}\n"


def test_without_a_command_help_is_shown_and_nothing_is_green(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 2
    out, err = capsys.readouterr()
    assert all(f" {command} " in out for command in COMMANDS)
    assert err == "error: no command is given: name one of those above.\n"


def test_a_run_makes_the_options_of_its_own_command_only(sync: FakeSync, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str | None] = []
    make = typer.main.get_command_from_info

    def watched(command_info: Any, **rest: Any) -> Any:
        made.append(command_info.name)
        return make(command_info, **rest)

    monkeypatch.setattr(typer.main, "get_command_from_info", watched)
    assert cli.run(["-q", "check"]) == 0
    assert made == [*sync.asked] == ["check"]


def test_help_in_front_of_a_command_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help", "check"]) == 0
    out = capsys.readouterr().out
    assert all(f" {command} " in out for command in COMMANDS)


@pytest.mark.parametrize(("command", "formats"), FORMATS_OF.items())
def test_help_names_the_formats_that_the_command_has(
    capsys: pytest.CaptureFixture[str], command: str, formats: tuple[str, ...]
) -> None:
    assert cli.run([command, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f" {', '.join(formats)}; to FILE" in out


def test_a_sentence_of_a_help_text_is_not_broken_in_the_middle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal wraps the text where its width ends, not where the line of the source did; paragraphs stay."""
    monkeypatch.setenv("COLUMNS", "300")
    assert cli.run(["verify", "--help"]) == 0
    out = capsys.readouterr().out
    assert "else the one that the omni tree is for. Nothing of them is installed or run." in out
    assert "all that does not fit. Some rules" not in out


@pytest.mark.parametrize("line", ["--help", "check --help"])
def test_help_shows_no_value_where_none_is_taken(capsys: pytest.CaptureFixture[str], line: str) -> None:
    cli.run(line.split())
    assert "<bool>" not in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_ends_with_examples(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, option: str
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.run([command, option]) == 0
    out = capsys.readouterr().out
    assert 2 <= len(EXAMPLES[command]) <= 4
    assert all(f"$ {line}" in out for _, line in EXAMPLES[command])


def test_there_are_examples_for_every_command() -> None:
    assert set(EXAMPLES) == set(COMMANDS)


@pytest.mark.usefixtures("sync")
@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for _, line in lines])
def test_examples_run(tmp_path: Path, line: str) -> None:
    (tmp_path / "docs").mkdir()
    program, *words = shlex.split(line)
    assert program == "runner-sync"
    assert cli.run(words) == 0


def test_main_leaves_with_the_exit_code(sync: FakeSync) -> None:
    sync.report = replace(PLAN, reviews=(REVIEW,))
    with pytest.raises(SystemExit) as end:
        cli.main(["upgrade", "--diff"])
    assert end.value.code == 1


@pytest.mark.usefixtures("sync")
def test_leaving_looks_for_no_garbage() -> None:
    gc.unfreeze()
    with pytest.raises(SystemExit):
        cli.main(["check"])
    assert gc.get_freeze_count() > 0
    gc.unfreeze()


def test_no_garbage_is_looked_for_before_leaving_either(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(cli, "main", lambda: seen.append(gc.isenabled()))
    try:
        program.main()
    finally:
        gc.enable()
    assert seen == [False]


def test_warnings_about_the_sources_stay_away(sync: FakeSync, capsys: pytest.CaptureFixture[str]) -> None:
    def warn() -> None:
        compile(r"'\d'", "runner.py", "exec")

    sync.before = warn
    assert cli.run(["check", "-q"]) == 0
    assert capsys.readouterr().err == ""


def _run(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
        **options,
    )


def test_help_and_version_load_no_engine() -> None:
    done = _run(
        "import sys\nfrom runner_sync import cli\ncli.run(['--version']); cli.run(['upgrade', '--help'])\n"
        "heavy = {'libcst', 'git', 'requests', 'msgspec', 'pydantic', 'runner_sync.model'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    assert done.stderr == "[]\n"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    program = (
        "from runner_sync.terminal.screen import Screen\n"
        "screen = Screen()\n"
        "for _ in range(3): screen.show('x' * 200_000); screen.show_exact('y' * 200_000)\n"
        "raise SystemExit(7)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 7


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rule RS40", {"RS401", "RS402", "RS403", "RS404", "RS405", "RS406", "RS407", "RS408", "RS409"}),
        ("rule over", {"override-skipped", "override-signature"}),
        ("check --select RS49", {"RS490", "RS491", "RS492"}),
        ("check --select RS2,RS49", {"RS2,RS490", "RS2,RS491", "RS2,RS492"}),
        ("check --select over", set()),
        ("upgrade --only NPUAR", {"NPUARModelRunner.execute_model"}),
        ("upgrade --only exec", {"execute_model"}),
        ("check -o h", {"html"}),
        ("check -o d", set()),
        ("lock -o d", {"diff"}),
        ("hoist exec", {"execute_model"}),
        ("upgrade --only other", set()),
        ("replay --case P", {"P1", "P2", "P3", "P4"}),
        ("upgrade --ascend-version 0.1", {"0.17.0", "0.18.0rc1"}),
        ("verify --ascend-base 0.17", {"0.17.0"}),
        ("verify --ascend-version l", {"latest"}),
        ("verify --ascend-base l", set()),
        ("check --vllm-version 0.1", set()),
        ("check --omni-version 0.1", set()),
        ("check --changed-since v", {"v1"}),
        ("check --changed-since m", {"main"}),
    ],
)
def test_words_are_completed(line: str, expected: set[str], filled: Path) -> None:
    assert completed(line, filled) == expected


@pytest.mark.parametrize("line", ["upgrade --only NPUAR", "check --changed-since m", "upgrade --ascend-version 0"])
def test_nothing_is_completed_where_there_is_nothing(line: str, tmp_path: Path) -> None:
    """No lock, no repository, a setting of pip and a cache that cannot be read."""
    assert completed(line, tmp_path, PIP_CONFIG_FILE=str(tmp_path), RUNNER_SYNC_CACHE="~nobody/x") == set()


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a lock and a tag, and a cache with two releases of an index that nobody asks."""
    isolate_index(monkeypatch, "http://127.0.0.1:9/simple/", tmp_path / "cache")
    digest = hashlib.sha256(b"http://127.0.0.1:9/simple/").hexdigest()[:12]
    for version in ("0.18.0rc1", "0.17.0"):
        cache.store("release", f"vllm-ascend/{version}/{digest}", b"")
    entry = Entry("vllm_omni/npu.py", "NPUARModelRunner.execute_model")
    (tmp_path / "runner-sync.lock").write_text(dump(Lock((entry,))), "utf-8")
    commit(tmp_path)
    subprocess.run(["git", "-C", str(tmp_path), "tag", "v1"], check=True)
    return tmp_path


def completed(line: str, folder: Path, **variables: str) -> set[str]:
    """What bash offers behind ``line`` in ``folder``."""
    words = {"_RUNNER_SYNC_COMPLETE": "complete_bash", "COMP_WORDS": f"runner-sync {line}"}
    words["COMP_CWORD"] = str(len(line.split()))
    # The program must have its own name: the shell's variable is made of it.
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'runner-sync'; from runner_sync.cli import main; main()",
    ]
    environment = {**os.environ, **words, **variables}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "line",
    [
        "check --omni-base=",
        "check --ascend-base=",
        "upgrade --omni-base=",
        "verify --vllm-base=",
        "check --changed-since=",
    ],
)
def test_an_empty_base_is_refused(sync: FakeSync, capsys: pytest.CaptureFixture[str], line: str) -> None:
    """A variable that is not set must not make a run green."""
    assert cli.run(line.split()) == 2
    option = line.split()[1].rstrip("=")
    assert f"{option} is empty: name a revision or version, or leave it out." in " ".join(
        capsys.readouterr().err.split()
    )
    assert sync.asked == {}


@pytest.mark.parametrize("command", ["check", "verify"])
@pytest.mark.parametrize(
    ("words", "selected"),
    [
        (["--select", ""], None),
        (["--select", " , "], None),
        (["--select", "rs2,", "--select", ""], ("RS2",)),
        (["--ignore", ""], ()),
        ([], ()),
    ],
)
def test_what_selects_nothing_does_not_select_everything(
    sync: FakeSync, capsys: pytest.CaptureFixture[str], command: str, words: list[str], selected: tuple[str, ...] | None
) -> None:
    code = cli.run([command, *words])
    if selected is None:
        assert code == 2
        assert "--select is empty: write rule codes, ALL for every rule" in " ".join(capsys.readouterr().err.split())
        assert sync.asked == {}
    else:
        assert sync.asked[command][0].select == selected
