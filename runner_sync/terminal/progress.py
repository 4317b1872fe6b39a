"""Progress of what takes long: a bar on a terminal, a line now and then elsewhere.

Comes in: ``progress(label, done, total)`` calls. Goes out: characters on standard error. rich is imported at the first
call on a terminal, because a run that fetches nothing has no time for it.
"""

from __future__ import annotations

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
    """A line about what has been under way for ten seconds, and again every ten seconds: a log is not a screen."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._since: dict[str, float] = {}

    def __call__(self, label: str, done: int, total: int | None) -> None:
        now = self._clock()
        if now - self._since.setdefault(label, now) >= _SLOW_SECONDS:
            self._since[label] = now
            self._say(f"{describe(label)} ({amount(label, done, total)})")


class Bars:
    """Bars of rich on a terminal, one per label, only as long as they move."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, label: str, done: int, total: int | None) -> None:
        progress = self._progress = self._progress or _start(color=self._screen.color != "never")
        if label not in self._tasks:
            for task in self._tasks.values():
                progress.update(task, visible=False)
            self._tasks[label] = progress.add_task(describe(label), total=total)
        said = amount(label, done, total)
        progress.update(self._tasks[label], completed=done, total=total, visible=True, amount=said)

    def close(self) -> None:
        """Take the bars off the screen."""
        if self._progress is not None:
            self._progress.stop()


def _start(*, color: bool) -> Progress:
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
    return progress


def describe(label: str) -> str:
    """What is under way: archives are fetched, other labels speak for themselves."""
    return f"fetching {label}" if label.endswith(_ARCHIVES) else label


def amount(label: str, done: int, total: int | None) -> str:
    """How far it is: megabytes of an archive, steps of anything else."""
    if label.endswith(_ARCHIVES):
        said = f"{done / 1e6:.1f}"
        return f"{said} of {total / 1e6:.1f} MB" if total else f"{said} MB"
    return f"{done} of {total}" if total else str(done)
