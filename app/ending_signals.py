"""The signals that ask this program to end: Ctrl-C, a closed terminal, a kill."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last two end the desktop session
STOPPED = 130  # the exit code


def ending_signals() -> list[int]:
    """Return those that are there on this system, and that the start did not say to ignore.

    `nohup` lets the program outlive its terminal, and `command &` in a script Ctrl-C.
    """
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


def end_at_once() -> None:
    """Let Ctrl-C end the program while nothing is under way: an import may swallow an error."""
    _on_interrupt(_end)


def end_in_order() -> None:
    """Let Ctrl-C be a KeyboardInterrupt from here on: what is under way ends first."""
    _on_interrupt(signal.default_int_handler)


def _on_interrupt(handle: signal._HANDLER) -> None:
    is_heard = threading.current_thread() is threading.main_thread()
    if is_heard and signal.SIGINT in ending_signals():
        signal.signal(signal.SIGINT, handle)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(STOPPED)
