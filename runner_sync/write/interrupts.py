"""Delay Ctrl-C and SIGTERM during work that must not be left half done.

Comes in: the body of a ``with`` statement. Goes out: the signals, delivered after the body. May touch: the handlers of
these signals, while the body runs.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def delay_interrupts() -> Iterator[Callable[[], None]]:
    """Delay Ctrl-C and SIGTERM until the body has ended.

    The ``as`` target is a function that raises ``KeyboardInterrupt`` if one of the signals has arrived. Another error
    of the body takes precedence over them: it may say where a text is that could not be put back.
    """
    arrived: list[int] = []

    def stop_if_asked() -> None:
        if arrived:
            raise KeyboardInterrupt

    try:
        with _record_signals(arrived):
            yield stop_if_asked
    except KeyboardInterrupt:
        _deliver(arrived)
        raise
    _deliver(arrived)


@contextlib.contextmanager
def _record_signals(arrived: list[int]) -> Iterator[None]:
    """Append Ctrl-C and SIGTERM to ``arrived`` instead of handling them, unless they are ignored anyway.

    This replaces the handlers. A signal mask would apply to one thread only: another thread, such as that of a progress
    bar, would still receive the signal for the process.
    """
    previous: dict[signal.Signals, Callable[[int, FrameType | None], object] | int] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in _INTERRUPTS:
                handler = signal.getsignal(number)
                if handler not in (signal.SIG_IGN, None):
                    previous[number] = handler
                    signal.signal(number, lambda number, _frame: arrived.append(number))
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _deliver(arrived: Sequence[int]) -> None:
    for number in arrived:
        signal.raise_signal(number)
