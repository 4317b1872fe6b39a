"""Parse ``-o FORMAT[:FILE]``.

Comes in: the words after ``-o``. Goes out: the outputs, which ``delivery`` fills. May touch: nothing. Files that could
not be written are refused before the work begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.render import FORMATS
from runner_sync.user_paths import resolved

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
