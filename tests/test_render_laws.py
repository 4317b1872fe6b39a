"""Laws that hold for every command in every format."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from render_samples import REPORTS, poison

from runner_sync.errors import InputError
from runner_sync.model import Report
from runner_sync.render import FORMATS, github_summary, render

# Everything but newline: colours are off here, so no escape of our own may appear either.
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SAFE_FORMATS = [name for name in FORMATS if name != "diff"]
PAIRS = [(command, name) for command in REPORTS for name in FORMATS]


def shuffle(report: Report) -> Report:
    """Return the same report as rooms that report in another order would have made it."""
    rng = random.Random(7)
    names = ("units", "reviews", "findings", "changes", "blocks", "replay", "replay_hunks", "rules")
    return replace(
        report, **{name: tuple(rng.sample(getattr(report, name), len(getattr(report, name)))) for name in names}
    )


@pytest.mark.parametrize(("command", "name"), PAIRS)
def test_order_of_parts_does_not_matter(command: str, name: str) -> None:
    assert render(shuffle(REPORTS[command]), name) == render(REPORTS[command], name)


@pytest.mark.parametrize(("command", "name"), PAIRS)
def test_text_ends_in_one_newline_or_is_no_patch(command: str, name: str) -> None:
    text = render(REPORTS[command], name)
    assert text.endswith("\n") or (name == "diff" and text == "")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("name", SAFE_FORMATS)
@pytest.mark.parametrize("command", REPORTS)
def test_hostile_sources_steer_no_terminal(command: str, name: str) -> None:
    found = STEERING.search(render(poison(REPORTS[command]), name))
    assert found is None, found


@pytest.mark.parametrize("command", REPORTS)
def test_hostile_sources_steer_no_step_summary(command: str) -> None:
    assert STEERING.search(github_summary(poison(REPORTS[command]))) is None


def test_hostile_text_in_a_coloured_patch_is_spelled_out() -> None:
    text = render(poison(REPORTS["upgrade"]), "diff", color=True)
    ours_gone = re.sub("\x1b\\[(?:1|31|32|36|0)m", "", text)
    assert "\\x1b[31mred" in ours_gone, "the attack is shown as text"
    assert STEERING.search(ours_gone) is None


@pytest.mark.parametrize("command", REPORTS)
@pytest.mark.parametrize("name", FORMATS)
def test_empty_reports_render(command: str, name: str) -> None:
    text = render(Report(command), name)
    assert text or name == "diff"


def test_unknown_format_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match=r"'xml'.*text, diff, json"):
        render(REPORTS["check"], "xml")


def test_check_loads_neither_rich_nor_jinja_nor_libcst() -> None:
    # `check` from the lock has a budget of one and a half bare `ast` parses; rich alone would take most of it.
    code = (
        "import sys; from runner_sync.model import Report; from runner_sync.render import render;"
        "[render(Report('check'), f) for f in ('text', 'json', 'github')];"
        "print([m for m in ('rich', 'jinja2', 'libcst') if m in sys.modules])"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["text", "markdown", "html", "github", "junit", "sarif"])
@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("Both changed it", "Both changed it."),
        ("Both changed it.", "Both changed it."),
        ("Did both change it?", "Did both change it?"),
    ],
)
def test_what_was_taken_is_a_sentence_of_its_own(reason: str, said: str, name: str) -> None:
    review = replace(REPORTS["upgrade"].reviews[0], reason=reason)
    text = re.sub(r"<[^>]+>|\s+|%0A", " ", render(Report("upgrade", reviews=(review,)), name))
    before = said if name in ("markdown", "html", "sarif") else reason
    assert re.search(rf"{re.escape(before)} +[Tt]ook a merge, confidence 0.62\b", text)
