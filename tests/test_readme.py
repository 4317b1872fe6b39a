"""What the README shows is what its commands print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


@pytest.mark.corpus
@pytest.mark.slow
def test_the_first_command_prints_the_sample(tmp_path: Path) -> None:
    """The sample leaves out (``[…]``), but has no line that is not printed, and none in another order."""
    command = re.search(r"^pip install \. && runner-sync (.*)$", README, re.MULTILINE)
    sample = re.search(r"prints \(shortened\):\n\n```text\n(.*?)\n```", README, re.DOTALL)
    assert command is not None
    assert sample is not None
    done = run(command[1], tmp_path)
    assert done.returncode == 1
    compare(sample[1], done.stdout, done.stderr)


@pytest.mark.parametrize(
    "command",
    [
        "rule RS203",
        pytest.param("check --omni-version 0.20.0 --select RS203", marks=[pytest.mark.corpus, pytest.mark.slow]),
    ],
)
def test_a_sample_is_what_its_command_prints(tmp_path: Path, command: str) -> None:
    sample = re.search(
        rf"^```console\n\$ runner-sync {re.escape(command)}\n(.*?)\n```", README, re.DOTALL | re.MULTILINE
    )
    assert sample is not None
    done = run(command, tmp_path)
    assert done.returncode == (0 if command.startswith("rule") else 1)
    compare(sample[1], done.stdout)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder at the default width; skips the test if a release cannot be read here."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-m", "runner_sync", *shlex.split(command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode == 2 and not os.environ.get("CI"):
        pytest.skip(done.stderr)
    return done


def compare(sample: str, *printed: str) -> None:
    """Each paragraph of the sample is printed as it stands, and in this order within an output."""
    rest = [*printed]
    for part in re.split(r"\n+ *\[…\]\n*|\n\n", sample):
        found = [(number, text.find(part)) for number, text in enumerate(rest) if part in text]
        assert found, part
        number, at = found[0]
        rest[number] = rest[number][at + len(part) :]
