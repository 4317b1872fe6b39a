"""The two standard streams: results on standard output, everything else on standard error.

Comes in: text. Goes out: characters. May touch: the standard streams and nothing else. A reader that closes the pipe
early (``| head``) is no error, nor is a stream that is closed from the start (``>&-``): the text is dropped and the run
goes on.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

from runner_sync.render.escape import escape_workflow_message, one_line, visible

ColorChoice = Literal["auto", "always", "never"]

PLAIN_WIDTH = 100
"""Width of output that does not go to a terminal."""


@dataclass(slots=True)
class Screen:
    """How this run writes to the streams. ``annotates``: GitHub reads standard output for annotations. ``written``
    counts the files replaced so far, for the sentence about an interrupt."""

    quiet: bool = False
    color: ColorChoice = "auto"
    traceback: bool = False
    annotates: bool = False
    written: int = 0

    def count_written(self, paths: Sequence[str]) -> None:
        """Remember that these files were replaced."""
        self.written += len(paths)

    def show(self, text: str) -> None:
        """Write a result for a person to standard output."""
        _write(sys.stdout, text)

    def show_exact(self, text: str) -> None:
        """Write a result for a program to standard output: UTF-8 whatever the locale says, bytes as they are."""
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            _write(sys.stdout, text)
            return
        try:
            sys.stdout.flush()
            buffer.write(text.encode("utf-8", "surrogateescape"))
            buffer.flush()
        except BrokenPipeError:
            _drop(sys.stdout)

    def say(self, text: str) -> None:
        """Write one remark (without newline) to standard error, unless the run is quiet."""
        if not self.quiet:
            _write(sys.stderr, visible(text) + "\n")

    def complain(self, sentence: str) -> None:
        """Write one sentence about a failure to standard error, even in a quiet run; for GitHub an annotation, too.

        It is kept on one line, because a CI service takes lines of the log like ``::error`` for commands, and the
        sentence may quote one.
        """
        _write(sys.stderr, one_line(sentence) + "\n")
        if self.annotates:
            said = escape_workflow_message(one_line(sentence.removeprefix("error: ")))
            _write(sys.stdout, f"::error title=runner-sync::{said}\n")

    def show_traceback(self, text: str) -> None:
        """Write a traceback (without newline) to standard error."""
        _write(sys.stderr, visible(text) + "\n")

    def is_colored(self) -> bool:
        """Whether standard output gets colours, according to ``wants_color``."""
        return wants_color(self.color, is_terminal=is_terminal(sys.stdout), environment=os.environ)

    def width(self) -> int:
        """Columns of standard output: ``COLUMNS``, the terminal's width, or 100 for a file or pipe."""
        if not is_terminal(sys.stdout) and not os.environ.get("COLUMNS"):
            return PLAIN_WIDTH
        return max(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, 40)


def wants_color(choice: ColorChoice, *, is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour: as ``choice`` says unless it is ``auto``, else as ``NO_COLOR`` or ``FORCE_COLOR`` says
    (no-color.org), else if it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    forced = environment.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return is_terminal and environment.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal; a closed or missing stream is none."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # the descriptor was closed when Python started
        return
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            # An ASCII terminal shows escapes instead of ending the run.
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _drop(stream)


def _drop(stream: TextIO) -> None:
    """Redirect ``stream`` to the null device, or Python would fail again on it at exit (docs: library/signal)."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
