"""Formats the changed regions of a module with the target repository's ruff settings; unchanged code keeps its layout.

Comes in: the text before and after, and the folder whose settings count. Goes out: the text, and the reason if ruff
fails; it stays unformatted then, and if ruff would change what the code does. May touch: the ``ruff`` program, with
text on its input.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from runner_sync.compose.line_pairs import pair_lines
from runner_sync.compose.own_layout import keep_layout
from runner_sync.syntax import same_code
from runner_sync.user_paths import resolved

LINE_LENGTH = 120
"""The longest line where no settings are found: vllm-omni's own ``line-length``."""

SECONDS = 60
"""How long ruff may take; it formats a runner in a few hundredths of a second."""

REASON_LENGTH = 300
"""The longest reason of ruff's that a note repeats, in characters."""

_TEXT = re.compile(r"\s*[rRuU]?[\"']")
_EXCERPT = re.compile(r"\s*\d*\s*\|")
_PRAGMA = re.compile(r"# ?((?:yapf: ?(?:dis|en)able|fmt: ?(?:off|on|skip))\b)")
_MUTED = "runner-sync muted: "
_SETTINGS = ("ruff.toml", ".ruff.toml", "pyproject.toml")


def format_changes(before: str, after: str, *, path: str, root: Path | None) -> tuple[str, str]:
    """Return ``after`` with the lines that are not in ``before`` formatted, and why ruff failed (empty if it did not).

    Code that differs from ``before`` in layout only gets the old layout back: a statement with one changed argument
    keeps the layout of the others. Regions that a comment excludes from formatting are formatted too (``# yapf:
    disable`` near the imports reaches to the end of the file), because nobody chose the layout of a merged statement.
    """
    formatted, failure = _run_ruff(_PRAGMA.sub(rf"# {_MUTED}\1", after), path, root)
    if failure:
        return after, failure
    formatted = formatted.replace(_MUTED, "")
    text = _take_formatted_lines(before.split("\n"), after.split("\n"), formatted.split("\n"))
    kept = "\n".join(keep_layout(before.split("\n"), text.split("\n")))
    return next((made for made in (kept, text) if same_code(made, after)), after), ""


def _run_ruff(text: str, path: str, root: Path | None) -> tuple[str, str]:
    """Format ``text`` by ruff with the settings around ``root`` or the house's own; return the text and any error."""
    root = resolved(root) if root is not None else None
    # Ruff looks for settings above the working directory only when the name of the file is absolute.
    name = str(root / path) if root is not None else path
    # -P: do not run a file of the tree that happens to be called ruff.py.
    command = [sys.executable, "-P", "-m", "ruff", "format", "--quiet", "--stdin-filename", name]
    if root is None or not any((folder / name).is_file() for folder in (root, *root.parents) for name in _SETTINGS):
        command += ["--isolated", "--line-length", str(LINE_LENGTH)]
    try:
        done = subprocess.run(
            [*command, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=root,
            timeout=SECONDS,
            encoding="utf-8",
        )
    except OSError as error:
        return "", str(error.strerror or error)
    except subprocess.TimeoutExpired:
        return "", f"not finished after {SECONDS} s"
    return (done.stdout, "") if done.returncode == 0 else ("", _summarise_error(done.stderr))


def _summarise_error(output: str) -> str:
    """Return ruff's error message as one phrase, without the excerpts of files."""
    lines = [line.strip().removeprefix("Cause: ") for line in output.splitlines() if not _EXCERPT.match(line)]
    phrase = ": ".join(line for line in lines if line and line != "ruff failed")
    return textwrap.shorten(phrase, REASON_LENGTH, placeholder=" …") or "it gave no reason"


def _take_formatted_lines(before: Sequence[str], after: Sequence[str], formatted: Sequence[str]) -> str:
    """Return ``after`` with those lines of ``formatted`` that correspond to lines not in ``before``.

    Docstrings stay, because ruff changes blanks in them.
    """
    changed = _find_changed_lines(before, after)
    out: list[str] = []
    for (i1, i2), (j1, j2) in pair_lines(after, formatted):
        touches = any(k in changed for k in range(i1, max(i2, i1 + 1))) and not _TEXT.match("".join(after[i1:i2]))
        out += formatted[j1:j2] if touches else after[i1:i2]
    return "\n".join(out)


def _find_changed_lines(before: Sequence[str], after: Sequence[str]) -> set[int]:
    lines: set[int] = set()
    for tag, _, _, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            lines.update(range(j1, max(j2, j1 + 1)))
    return lines
