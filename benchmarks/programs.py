"""Find and run third-party programs, and read their versions.

Comes in: command lines. Goes out: outputs. May touch: ``PATH`` and the programs found there, scratch folders.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from runner_sync.errors import InputError

_PLAIN = {"LC_ALL": "C", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def run(
    command: Sequence[str], *, cwd: Path | None = None, data: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a program without the user's git settings; the caller checks the exit code."""
    return subprocess.run(command, cwd=cwd, input=data, capture_output=True, check=False, env=os.environ | _PLAIN)


def run_checked(command: Sequence[str], *, cwd: Path | None = None, data: bytes | None = None) -> bytes:
    """Return the standard output of a program. Raises ``InputError`` with its error output if it fails."""
    done = run(command, cwd=cwd, data=data)
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
        raise InputError(f"{' '.join(command[:3])} failed: {message}")
    return done.stdout


@cache
def describe_version(name: str, path: str) -> str:
    """Return ``name 1.2.3`` with the version that the program prints."""
    done = run([path, "--version"])
    found = re.search(rb"\d+(?:\.\d+)+", done.stdout + done.stderr)
    return f"{name} {found[0].decode()}" if found else name


@cache
def find(name: str) -> str | None:
    """Return the absolute path of a program on ``PATH``."""
    return shutil.which(name)


@cache
def mergiraf(root: Path) -> tuple[str | None, str]:
    """Return the path of mergiraf, or the reason why there is none.

    Takes a program on ``PATH``; else ``cargo install --locked`` installs one below ``root``, if cargo exists.
    """
    ready = find("mergiraf") or shutil.which("mergiraf", path=str(root / "bin"))
    if ready is not None:
        return ready, ""
    cargo = find("cargo")
    if cargo is None:
        return None, "neither mergiraf nor cargo is installed"
    done = run([cargo, "install", "--locked", "mergiraf", "--root", str(root)])
    if done.returncode:
        return None, "cargo install --locked mergiraf failed"
    return str(root / "bin" / "mergiraf"), ""


@cache
def has_merge_file_algorithms() -> bool:
    """Whether ``git merge-file`` has ``--diff-algorithm`` (since git 2.44)."""
    done = run(["git", "merge-file", "-h"])
    return b"diff-algorithm" in done.stdout + done.stderr
