"""The signals that ask this program to end: Ctrl-C, a closed terminal, a kill."""

from __future__ import annotations

import signal

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last two end the desktop session


def ending_signals() -> list[int]:
    """Return those that are there on this system, and that the start did not say to ignore.

    `nohup` lets the program outlive its terminal, and `command &` in a script Ctrl-C.
    """
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
