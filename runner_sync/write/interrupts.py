"""Ctrl-C and SIGTERM, while something must not be left half done.

Comes in: a block of code. Goes out: signals, delivered when the block has ended. May touch: the handlers of these
signals, while the block runs.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def uninterrupted() -> Iterator[Callable[[], None]]:
    """Let Ctrl-C and SIGTERM wait until the block has ended; gives a function that raises once one of them has come.

    An error of the block's own goes before them: it may say where a text is that could not be put back.
    """
    came: list[int] = []

    def stop_if_asked() -> None:
        if came:
            raise KeyboardInterrupt

    try:
        with _noted(came):
            yield stop_if_asked
    except KeyboardInterrupt:
        _deliver(came)
        raise
    _deliver(came)


@contextlib.contextmanager
def _noted(came: list[int]) -> Iterator[None]:
    """Add Ctrl-C and SIGTERM to ``came`` instead of having them handled, unless they are ignored anyway.

    By handlers, not by a mask: a mask is one thread's, and that of a progress bar would take the signal for all.
    """
    previous: dict[signal.Signals, Callable[[int, FrameType | None], object] | int] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in _INTERRUPTS:
                handler = signal.getsignal(number)
                if handler not in (signal.SIG_IGN, None):
                    previous[number] = handler
                    signal.signal(number, lambda number, _frame: came.append(number))
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _deliver(came: Sequence[int]) -> None:
    for number in came:
        signal.raise_signal(number)
