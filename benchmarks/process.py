"""Measure whole processes from outside.

Comes in: jobs (command lines). Goes out: ``Figures``: medians over interleaved rounds. May touch: the processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

_KIB = 1024 if sys.platform == "darwin" else 1
"""``ru_maxrss`` is in bytes on macOS, in KiB elsewhere."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command to be timed. ``prepare`` runs before every round, untimed; ``good`` are the exit codes of success."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[], None] | None = None
    good: tuple[int, ...] = (0, 1)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: wall and CPU seconds, peak memory in MiB (of the process and the children it waited for)."""

    seconds: float
    cpu: float
    mib: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Medians of one job, or why it could not run."""

    name: str
    seconds: float = 0.0
    cpu: float = 0.0
    mib: float = 0.0
    absent: str = ""


def measure(jobs: Sequence[Job], rounds: int, *, say: Callable[[str], None], scratch: Path) -> dict[str, Figures]:
    """Run every job once untimed, then ``rounds`` times in turn, so that a slow minute of the machine affects all
    equally."""
    absent: dict[str, str] = {}
    runs: dict[str, list[Run]] = {job.name: [] for job in jobs}
    for number in range(rounds + 1):
        for job in jobs:
            if job.name in absent:
                continue
            say(f"round {number} of {rounds}: {job.name}")
            done, why = run_once(job, scratch)
            if why:
                absent[job.name] = why
            elif number:
                runs[job.name].append(done)
    return {job.name: _summarise(job.name, runs[job.name], absent.get(job.name, "")) for job in jobs}


def run_once(job: Job, scratch: Path) -> tuple[Run, str]:
    """Run a job once; also return the reason if its exit code was not a good one."""
    if job.prepare is not None:
        job.prepare()
    errors, result = scratch / "stderr", scratch / "figures.json"
    launch = (sys.executable, "-S", str(Path(__file__).with_name("launch.py")), str(result), str(errors))
    subprocess.run((*launch, *job.command), env=_make_environment(job), check=True)
    seconds, cpu, peak, code = json.loads(result.read_text("utf-8"))
    run = Run(seconds, cpu, peak / _KIB / 1024)
    if code in job.good:
        return run, ""
    lines = [line for line in errors.read_text("utf-8", "replace").splitlines() if line.strip()]
    return run, lines[-1] if lines else f"exit code {code}"


def _make_environment(job: Job) -> dict[str, str]:
    """Return the process environment with the job's variables and with bytecode allowed.

    Without bytecode, an installed tool would be charged for compiling itself in every run.
    """
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | dict(job.environment)


def _summarise(name: str, runs: Sequence[Run], absent: str) -> Figures:
    if absent or not runs:
        return Figures(name, absent=absent or "not run")
    columns = [median(getattr(run, column) for run in runs) for column in ("seconds", "cpu", "mib")]
    return Figures(name, *columns)
