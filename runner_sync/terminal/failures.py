"""Turn every failure of a run into one sentence on standard error and an exit code.

Comes in: the work of a run. Goes out: its exit code; 2 if it could not run, 130 or 143 after an interrupt (128 plus the
number of the signal, as in shells). May touch: standard error, and the handler of SIGTERM.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from types import FrameType

from runner_sync.errors import InputError, describe_mistake
from runner_sync.terminal.screen import Screen

COULD_NOT_RUN = 2
INTERRUPTED = 130
_TERMINATED = 143


class Terminated(BaseException):
    """The run got SIGTERM, which CI services send to a cancelled job.

    This is no ``KeyboardInterrupt``, because typer catches those.
    """


def run_guarded(work: Callable[[], int], screen: Screen) -> int:
    """Return the exit code of ``work``; an exception becomes one sentence on standard error."""
    try:
        with _make_terminable():
            return work()
    except InputError as error:
        screen.complain(f"error: {error}{_add_written(screen)}")
    except (KeyboardInterrupt, Terminated) as error:
        screen.complain(f"interrupted; {_describe_written(screen)}")
        return _TERMINATED if isinstance(error, Terminated) else INTERRUPTED
    except Exception as error:
        return _fail(error, screen)
    return COULD_NOT_RUN


def _fail(error: Exception, screen: Screen) -> int:
    """Report a mistake in the command line or an unexpected error; returns the exit code."""
    # typer has its own copy of click's exceptions since 0.16, so both are recognised without their classes.
    if getattr(error, "option_name", "") == "--offline":
        screen.complain("error: No such option: --offline. Set RUNNER_SYNC_OFFLINE=1 to forbid the network.")
        return COULD_NOT_RUN
    if hasattr(error, "format_message"):
        screen.complain(f"error: {_make_sentence(error.format_message())}{_make_help_hint(error)}")
        return COULD_NOT_RUN
    if type(error).__name__ == "Abort":
        screen.complain(f"interrupted; {_describe_written(screen)}")
        return INTERRUPTED
    if screen.traceback:
        screen.show_traceback("".join(traceback.format_exception(error)).rstrip("\n"))
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: " if error.filename else "cannot read or write: "
        screen.complain(f"error: {what}{error.strerror}; {_describe_written(screen)}.")
        return COULD_NOT_RUN
    if isinstance(error, RecursionError):
        screen.complain(f"error: a source is nested too deeply to be read; {_describe_written(screen)}.")
        return COULD_NOT_RUN
    hint = "" if screen.traceback else " Run again with --traceback and report what it prints."
    screen.complain(
        f"error: this is a mistake in runner-sync ({describe_mistake(error)}); {_describe_written(screen)}.{hint}"
    )
    return COULD_NOT_RUN


def _make_sentence(message: str) -> str:
    text = " ".join(message.split()).replace("Value error, ", "")  # pydantic's words, where typer uses it
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _make_help_hint(error: Exception) -> str:
    """Return a hint to the help page or, for an option in front of its command, to the right place."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    option = getattr(error, "option_name", "")
    commands = getattr(context.command, "commands", {})
    takers = [name for name, command in commands.items() if any(option in given.opts for given in command.params)]
    if takers:
        return f" It goes behind the command: {context.command_path} {takers[0]} {option}."
    return f" See {context.command_path} --help."


def _add_written(screen: Screen) -> str:
    """Return a sentence about the files written before an ``InputError``; empty if there are none, as nearly always."""
    return f" {_describe_written(screen).capitalize()}." if screen.written else ""


def _describe_written(screen: Screen) -> str:
    if not screen.written:
        return "nothing was written"
    return f"{screen.written} files had been written" if screen.written > 1 else "1 file had been written"


@contextlib.contextmanager
def _make_terminable() -> Iterator[None]:
    """Let SIGTERM unwind the stack as Ctrl-C does, so that files that are being replaced are restored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _raise_terminated(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
