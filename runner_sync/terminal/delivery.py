"""Deliver a report to every output, or to none if one of them cannot be written.

Comes in: a ``Report`` and the outputs. Goes out: text on standard output, report files. May touch: the files named, and
the file that GitHub names in ``GITHUB_STEP_SUMMARY``. An existing report is replaced, because it is no source.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from runner_sync.errors import InputError
from runner_sync.render import github_summary, render
from runner_sync.terminal.outputs import Output
from runner_sync.terminal.screen import PLAIN_WIDTH, Screen
from runner_sync.user_paths import resolved

if TYPE_CHECKING:
    from runner_sync.model import FileChange, Report


class Delivery:
    """The outputs of a run, filled in two steps: whatever else the run writes is written between them.

    ``prepare`` does all that may fail: a full disk is noticed before the tree is changed. ``finish`` puts the prepared
    files in place and prints. The end of the ``with`` statement removes what was prepared and not put in place.
    """

    def __init__(self, outputs: Sequence[Output], screen: Screen) -> None:
        self._outputs = outputs
        self._screen = screen
        self._prepared: list[tuple[Path, Path]] = []
        self._printed: list[tuple[str, str]] = []
        self._summary = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fresh, _file in self._prepared:
            with contextlib.suppress(OSError):  # an error on the way matters more
                fresh.unlink(missing_ok=True)

    def prepare(self, report: Report, *, patch: tuple[FileChange, ...] | None = None) -> None:
        """Render ``report`` for every output and write the files beside their targets.

        Pipes and devices cannot be replaced and are written now, after all files. ``patch`` holds the changes for
        ``diff`` with the files' line endings, so that the patch applies. Raises ``InputError`` for a place that cannot
        be written.
        """
        devices: list[tuple[Path, str]] = []
        for output in self._outputs:
            text = self._render(_select_shown(report, output.format, patch), output)
            if output.file is None:
                self._printed.append((output.format, text))
            elif _is_device(output.file):
                devices.append((output.file, text))
            else:
                whole = resolved(output.file)  # the target of a link is replaced, and not the link
                fresh = whole.with_name(f".{whole.name}.{uuid4().hex[:12]}")
                self._prepared.append((fresh, output.file))
                _write(fresh, text, output.file)
                _copy_mode(whole, fresh)
        for file, text in devices:
            _write(file, text, file)
        if any(output.format == "github" for output in self._outputs):
            self._summary = github_summary(report)
            _append_summary("")

    def finish(self) -> None:
        """Complete GitHub's step summary, put the prepared files in place, then print the terminal's text.

        The summary gets the report once, however many outputs are for GitHub.
        """
        if self._summary:
            _append_summary(self._summary)
        while self._prepared:
            fresh, file = self._prepared[0]
            try:
                fresh.replace(resolved(file))
            except OSError as error:
                raise _make_error(file, error) from error
            del self._prepared[0]
            self._screen.count_written((str(file),))
        for format, text in self._printed:
            # An uncoloured patch may be piped to `git apply`, so it must arrive byte for byte.
            if format == "text" or (format == "diff" and self._screen.is_colored()):
                self._screen.show(text)
            else:
                self._screen.show_exact(text)

    def _render(self, report: Report, output: Output) -> str:
        if output.file is not None:
            return render(report, output.format, width=PLAIN_WIDTH)
        if output.format in ("text", "diff"):
            return render(report, output.format, color=self._screen.is_colored(), width=self._screen.width())
        return render(report, output.format)


def deliver(report: Report, outputs: Sequence[Output], screen: Screen) -> None:
    """Deliver ``report`` in a run that writes nothing else."""
    with Delivery(outputs, screen) as delivery:
        delivery.prepare(report)
        delivery.finish()


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


def _is_device(file: Path) -> bool:
    """Whether ``file`` is a pipe or something like /dev/stderr, which cannot be replaced."""
    return Path("/dev") in file.absolute().parents or (file.exists() and not file.is_file())


def _write(place: Path, text: str, file: Path) -> None:
    """Write ``text`` to ``place``; an error names ``file``, the place that the user knows."""
    try:
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise _make_error(file, error) from error


def _make_error(file: Path, error: OSError) -> InputError:
    return InputError(f"{file}: the report cannot be written ({error.strerror}); name another file.")


def _copy_mode(old: Path, fresh: Path) -> None:
    """Give a new report the mode of the one that it replaces, which may be private."""
    with contextlib.suppress(OSError):  # there is none, or its disk has no modes
        fresh.chmod(stat.S_IMODE(old.stat().st_mode))


def _append_summary(text: str) -> None:
    """Append ``text`` to GitHub's step summary, if there is one; an empty text only shows that this is possible."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        raise InputError(
            f"{name}: the step summary cannot be written ({error.strerror}); unset GITHUB_STEP_SUMMARY."
        ) from error
