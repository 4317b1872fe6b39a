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
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-m", "runner_sync", *shlex.split(command[1])],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode == 2 and not os.environ.get("CI"):
        pytest.skip(done.stderr)
    assert done.returncode == 1
    printed = [done.stdout, done.stderr]
    for part in re.split(r"\n+ *\[…\]\n*|\n\n", sample[1]):
        found = [(number, text.find(part)) for number, text in enumerate(printed) if part in text]
        assert found, part
        number, at = found[0]
        printed[number] = printed[number][at + len(part) :]
