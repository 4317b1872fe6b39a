"""Show the progress of long work: a bar on a terminal, an occasional line elsewhere.

Comes in: ``progress(label, done, total)`` calls. Goes out: characters on standard error. rich is imported at the first
call on a terminal: short runs make no call and are not slowed down by the import.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner_sync.terminal.screen import Screen, is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Report = Callable[[str, int, int | None], None]

_SLOW_SECONDS = 10.0
_FOLDERS = re.compile(r"\S*/(?=\S)")
_ARCHIVES = (".whl", ".tar.gz", ".tgz", ".zip")


@contextmanager
def show_progress(screen: Screen) -> Iterator[Report]:
    """Provide a progress callback for one run; anything drawn on a terminal is erased afterwards."""
    if screen.quiet:
        yield _show_nothing
        return
    if not is_terminal(sys.stderr):
        yield Lines(screen.say)
        return
    bars = Bars(screen)
    try:
        yield bars
    finally:
        bars.close()


def _show_nothing(_label: str, _done: int, _total: int | None) -> None:
    """Ignore progress: the callback of a quiet run."""


class Lines:
    """Names the current work in one line at most every ten seconds, so that logs stay short.

    An archive is named once, with its size: how much had come by then looks like a download that stopped there.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._spoke = clock()
        self._last = ""

    def __call__(self, label: str, done: int, total: int | None) -> None:
        now = self._clock()
        is_archive = label.endswith(_ARCHIVES)
        if now - self._spoke >= _SLOW_SECONDS and not (is_archive and label == self._last):
            self._spoke, self._last = now, label
            amount = format_amount(label, total or 0, None) if is_archive else format_amount(label, done, total)
            self._say(f"{describe(label)} ({amount})" if amount else describe(label))


class Bars:
    """Shows one rich progress bar on a terminal, for the current work."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._label = ""
        self._shown: tuple[Progress, TaskID] | None = None

    def __call__(self, label: str, done: int, total: int | None) -> None:
        if self._shown is None:
            self._shown = _start(color=self._screen.color != "never")
        progress, task = self._shown
        if label != self._label:
            self._label = label
            progress.reset(task, description=describe(label), total=total)
        progress.update(task, completed=done, total=total, amount=format_amount(label, done, total))

    def close(self) -> None:
        """Remove the bar from the screen."""
        if self._shown is not None:
            self._shown[0].stop()


def _start(*, color: bool) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True, no_color=True if not color else None)
    progress = Progress(*columns, console=console, transient=True)
    progress.start()
    return progress, progress.add_task("", total=None, amount="")


def describe(label: str) -> str:
    """Return the current work in a few words: archives are fetched, files go by their last name."""
    return f"fetching {label}" if label.endswith(_ARCHIVES) else _FOLDERS.sub("", label)


def format_amount(label: str, done: int, total: int | None) -> str:
    """Return how much is done: bytes of an archive, steps of anything else; empty before there is progress."""
    if not label.endswith(_ARCHIVES):
        return f"{done} of {total}" if total else str(done or "")
    if total:
        return f"{done / 1e6:.1f} of {total / 1e6:.1f} MB"
    if done >= 1e5:
        return f"{done / 1e6:.1f} MB"
    return f"{done / 1e3:.0f} kB" if done >= 1e3 else ""
