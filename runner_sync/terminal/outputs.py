"""Parse ``-o FORMAT[:FILE]``, and deliver reports to the requested places.

Comes in: the words after ``-o`` and a ``Report``. Goes out: text on standard output, report files. May touch: the files
named, and the file that GitHub names in ``GITHUB_STEP_SUMMARY``. An existing report is replaced, because it is no
source. Unwritable files are refused before the work begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from runner_sync.errors import InputError
from runner_sync.render import FORMATS, github_summary, render
from runner_sync.terminal.screen import PLAIN_WIDTH, Screen
from runner_sync.user_paths import resolved

if TYPE_CHECKING:
    from runner_sync.model import FileChange, Report

_FINDINGS = ("text", "json", "markdown", "github", "gitlab", "junit", "sarif", "html")
FORMATS_OF: dict[str, tuple[str, ...]] = {
    "upgrade": FORMATS,
    "hoist": ("text", "diff", "json", "markdown", "html"),
    "lock": ("text", "diff", "json", "markdown", "html"),
    "check": _FINDINGS,
    "verify": _FINDINGS,
    "blocks": ("text", "json", "markdown", "html"),
    "explain": ("text", "json", "markdown", "html"),
    "replay": ("text", "json", "markdown", "html"),
    "rule": ("text", "json", "markdown", "html"),
}
"""The formats of each command. Others are refused: an empty SARIF file would read as if nothing was found."""


@dataclass(frozen=True, slots=True)
class Output:
    """A format and its destination; without ``file`` standard output."""

    format: str
    file: Path | None = None

    def __str__(self) -> str:
        return f"-o {self.format}:{self.file}" if self.file else f"-o {self.format}"


def parse_outputs(
    values: Sequence[str] | None, *, command: str, default: str, kept: Callable[[], Iterable[Path]] = tuple
) -> tuple[Output, ...]:
    """Return the outputs that ``values`` (``FORMAT`` or ``FORMAT:FILE``, ``-`` for standard output) ask of ``command``.

    ``default`` is the format on standard output if ``values`` is empty. ``kept`` returns the files that the run itself
    reads. Raises ``InputError`` for an unknown format, a file that cannot be written or is in ``kept``, and two outputs
    in one place.
    """
    outputs = [_parse(value, command) for value in values or ()]
    places: dict[Path | None, Output] = {}
    for output in outputs:
        place = resolved(output.file) if output.file else None
        if place in places:
            where = f"{output.file}" if output.file else "standard output"
            raise InputError(f"{places[place]} and {output} both write to {where}: {_REMEDY}")
        places[place] = output
        if output.file:
            _check_writable(output.file)
    files = [output.file for output in outputs if output.file]
    read = {resolved(file) for file in kept()} if files else set()
    if taken := next((file for file in files if resolved(file) in read), None):
        raise InputError(f"{taken}: is read by this run; name another file for the report.")
    return tuple(outputs) or (Output(default),)


_REMEDY = "send all but one to files of their own with -o FORMAT:FILE."


def _parse(value: str, command: str) -> Output:
    format, colon, name = value.partition(":")
    allowed = FORMATS_OF[command]
    if format not in FORMATS:
        raise InputError(f"-o {value}: there is no output format {format!r}; choose one of {', '.join(allowed)}.")
    if format not in allowed:
        raise InputError(f"-o {value}: {command} has no {format} output; choose one of {', '.join(allowed)}.")
    if colon and not name:
        raise InputError(f"-o {value}: the file name is missing; write -o {format}:FILE, or -o {format} to print.")
    return Output(format, Path(name) if name not in ("", "-", "/dev/stdout") else None)


_NO_REPORTS = frozenset({".py", ".pyi", ".toml", ".lock"})
"""Suffixes of files that a report would replace only by mistake."""


def _check_writable(file: Path) -> None:
    folder = file.parent
    if file.is_dir():
        raise InputError(f"{file}: is a directory; name a file for the report.")
    if not folder.is_dir():
        raise InputError(f"{file}: there is no directory {folder}; make it or name another file for the report.")
    place = resolved(file)
    if file.suffix in _NO_REPORTS or ".git" in place.parts or any(map(_is_package, place.parents)):
        raise InputError(f"{file}: is a place of sources, locks or settings; name another file for the report.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{file}: the directory {folder} is read-only; name another file for the report.")


def _is_package(folder: Path) -> bool:
    from runner_sync.model import PACKAGES  # takes longer than everything that help needs

    return folder.name in PACKAGES.values() and (folder / "__init__.py").is_file()


def deliver(
    report: Report, outputs: Sequence[Output], screen: Screen, *, patch: tuple[FileChange, ...] | None = None
) -> None:
    """Render ``report`` for every output; files first, so that the terminal's text comes last.

    GitHub's step summary gets the report once, however many outputs are for GitHub. ``patch`` holds the changes for
    ``diff`` with the files' line endings, so that the patch applies. Raises ``InputError`` if a file turns out not to
    be writable.
    """
    for output in sorted(outputs, key=lambda output: output.file is None):
        shown = _select_shown(report, output.format, patch)
        if output.file is not None:
            _save(output.file, render(shown, output.format, width=PLAIN_WIDTH))
        elif output.format in ("text", "diff"):
            _show(shown, output.format, screen)
        else:
            screen.show_exact(render(shown, output.format))
    if any(output.format == "github" for output in outputs):
        _append_summary(report)


def _select_shown(report: Report, format: str, patch: tuple[FileChange, ...] | None) -> Report:
    """Return ``report`` with the parts that only ``format`` shows."""
    if format == "sarif":
        return _add_rules(report)
    return replace(report, changes=patch) if format == "diff" and patch is not None else report


def _add_rules(report: Report) -> Report:
    """Add the texts of the rules that found something, which SARIF viewers show as titles."""
    from runner_sync.sync.rule_texts import rules

    codes = sorted({finding.code for finding in report.findings})
    return replace(report, rules=tuple(text for code in codes for text in rules(code).rules))


def _show(report: Report, format: str, screen: Screen) -> None:
    color = screen.is_colored()
    text = render(report, format, color=color, width=screen.width())
    # An uncoloured patch may be piped to `git apply`, so it must arrive byte for byte.
    if format == "diff" and not color:
        screen.show_exact(text)
    else:
        screen.show(text)


def _save(file: Path, text: str) -> None:
    whole = resolved(file)  # the target of a link is replaced, and not the link
    fresh = whole.with_name(f".{whole.name}.{uuid4().hex[:12]}")
    try:
        if Path("/dev") in file.absolute().parents or (file.exists() and not file.is_file()):
            file.write_bytes(text.encode("utf-8", "surrogateescape"))  # a pipe or /dev/stderr cannot be replaced
            return
        fresh.write_bytes(text.encode("utf-8", "surrogateescape"))
        fresh.replace(whole)
    except OSError as error:
        raise InputError(f"{file}: the report cannot be written ({error.strerror}); name another file.") from error
    finally:
        fresh.unlink(missing_ok=True)


def _append_summary(report: Report) -> None:
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(github_summary(report))
    except OSError as error:
        raise InputError(
            f"{name}: the step summary cannot be written ({error.strerror}); unset GITHUB_STEP_SUMMARY."
        ) from error
