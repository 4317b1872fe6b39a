"""Progress of what takes long: a bar on a terminal, a line now and then elsewhere.

Comes in: ``progress(label, done, total)`` calls. Goes out: characters on standard error. rich is imported at the first
call on a terminal, because a run that fetches nothing has no time for it.
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
def shown_progress(screen: Screen) -> Iterator[Report]:
    """A callback for the length of a run; what it drew on a terminal is gone afterwards."""
    if screen.quiet:
        yield _nothing
        return
    if not is_terminal(sys.stderr):
        yield Lines(screen.say)
        return
    bars = Bars(screen)
    try:
        yield bars
    finally:
        bars.close()


def _nothing(_label: str, _done: int, _total: int | None) -> None:
    """Progress of a quiet run."""


class Lines:
    """A line every ten seconds about what is under way: a log is not a screen, and quick runs leave it alone."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._spoke = clock()

    def __call__(self, label: str, done: int, total: int | None) -> None:
        now = self._clock()
        if now - self._spoke >= _SLOW_SECONDS:
            self._spoke = now
            said = amount(label, done, total)
            self._say(f"{describe(label)} ({said})" if said else describe(label))


class Bars:
    """One bar of rich on a terminal, for whatever is under way."""

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
        progress.update(task, completed=done, total=total, amount=amount(label, done, total))

    def close(self) -> None:
        """Take the bar off the screen."""
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
    """What is under way, short enough for a line: archives are fetched, files go by their last name."""
    return f"fetching {label}" if label.endswith(_ARCHIVES) else _FOLDERS.sub("", label)


def amount(label: str, done: int, total: int | None) -> str:
    """How far it is: how much of an archive, steps of anything else; empty when there is nothing to say yet."""
    if not label.endswith(_ARCHIVES):
        return f"{done} of {total}" if total else str(done or "")
    if total:
        return f"{done / 1e6:.1f} of {total / 1e6:.1f} MB"
    if done >= 1e5:
        return f"{done / 1e6:.1f} MB"
    return f"{done / 1e3:.0f} kB" if done >= 1e3 else ""
