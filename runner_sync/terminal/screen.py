"""Write results to standard output and everything else to standard error.

Comes in: text. Goes out: characters. May touch: the standard streams and nothing else. If a reader closes the pipe
early (``| head``) or a stream is closed from the start (``>&-``), the text is dropped and the run goes on.
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
"""Width of output that goes to no terminal."""

_PLAIN_SIGNS = str.maketrans(
    {"─": "-", "│": "|", "·": ".", "–": "-", "—": "-", "…": "...", "→": "->", "↔": "<->", "×": "x"}
)
"""What a terminal shows of the signs in reports if its encoding lacks them."""


@dataclass(slots=True)
class Screen:
    """How this run writes to the streams. ``annotates``: GitHub reads annotations from standard output.

    ``written`` counts the files replaced so far, for the message about an interrupt.
    """

    quiet: bool = False
    color: ColorChoice = "auto"
    traceback: bool = False
    annotates: bool = False
    written: int = 0

    def count_written(self, paths: Sequence[str]) -> None:
        """Count these files as replaced."""
        self.written += len(paths)

    def show(self, text: str) -> None:
        """Write a result for a person to standard output."""
        if sys.stdout is None:
            self.say("standard output is closed, so the result is not shown")
        _write(sys.stdout, text)

    def show_exact(self, text: str) -> None:
        """Write a result for a program to standard output: UTF-8 whatever the locale, invalid bytes unchanged."""
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            self.show(text)
            return
        try:
            sys.stdout.flush()
            buffer.write(text.encode("utf-8", "surrogateescape"))
            buffer.flush()
        except BrokenPipeError:
            _drop(sys.stdout)

    def say(self, text: str) -> None:
        """Write a remark (without newline) to standard error, unless the run is quiet."""
        if not self.quiet:
            _write(sys.stderr, visible(text) + "\n")

    def complain(self, sentence: str) -> None:
        """Write a sentence about a failure to standard error, even in a quiet run; for GitHub also an annotation.

        The sentence is kept on one line: it may quote a line like ``::error``, which a CI service takes for a command.
        """
        _write(sys.stderr, one_line(sentence) + "\n")
        if self.annotates:
            message = escape_workflow_message(one_line(sentence.removeprefix("error: ")))
            _write(sys.stdout, f"::error title=runner-sync::{message}\n")

    def show_traceback(self, text: str) -> None:
        """Write a traceback (without newline) to standard error."""
        _write(sys.stderr, visible(text) + "\n")

    def is_colored(self) -> bool:
        """Whether standard output is coloured, according to ``wants_color``."""
        return wants_color(self.color, is_terminal=is_terminal(sys.stdout), environment=os.environ)

    def width(self) -> int:
        """Return the columns of standard output: ``COLUMNS``, the terminal's width, or 100 for a file or pipe."""
        if not is_terminal(sys.stdout) and not os.environ.get("COLUMNS"):
            return PLAIN_WIDTH
        return max(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, 40)


def wants_color(choice: ColorChoice, *, is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour: as ``choice`` says unless it is ``auto``, else as the environment or the terminal says.

    The environment decides by ``NO_COLOR`` or ``FORCE_COLOR`` (no-color.org).
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    forced = environment.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return is_terminal and environment.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal; a closed or missing stream is not."""
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
            # An ASCII terminal shows plain signs and escapes instead of ending the run.
            encoding = stream.encoding or "ascii"
            stream.write(text.translate(_PLAIN_SIGNS).encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _drop(stream)


def _drop(stream: TextIO) -> None:
    """Redirect ``stream`` to the null device; otherwise Python fails on it again at exit (docs: library/signal)."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
